package apiserver

import (
	"context"
	"net/http"
	"net/netip"
	"regexp"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/idempotency"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
)

// requestIDHeader names a request in the answer, in the log and in error
// messages.
const requestIDHeader = "X-Request-Id"

var saneRequestID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// looksLikeToken reports whether a caller may have put a credential where the
// request's name belongs, which is logged and kept: a service account's token, or
// a JWT.
func looksLikeToken(id string) bool {
	return strings.Contains(id, api.TokenPrefix+"_") || strings.HasPrefix(id, "eyJ") // {" in base64
}

// Request is what is known of a request before it is answered.
type Request struct {
	// ID is in the answer's X-Request-Id, in the log and in the audit log.
	ID string
	// Operation is where the request leads to; its ID is empty for a page, a
	// health check, and a path that does not exist.
	Operation api.Spec
	// Route is the pattern of http.ServeMux that the request matches, such as
	// "GET /healthz/live"; empty for a path that does not exist.
	Route string
	// Trusted says that the request is an OwnerClient's and needs no credential.
	Trusted bool
	// Draining is closed when the service drains: nothing may wait any longer.
	Draining <-chan struct{}
}

// Name says what is asked for out of a small fixed set, as metrics need it: an
// operation's id, "verification", "payment", "health" or "other".
func (r Request) Name() string {
	_, path, _ := strings.Cut(r.Route, " ")
	switch {
	case r.Operation.ID != "":
		return r.Operation.ID
	case strings.HasPrefix(path, mail.VerificationPath):
		return "verification"
	case strings.HasPrefix(path, paymentPath):
		return "payment"
	case strings.HasPrefix(path, HealthPath):
		return "health"
	}
	return "other"
}

// RequestOf returns the request that a context belongs to, for an
// Options.Middleware.
func RequestOf(ctx context.Context) Request { return progressOf(ctx).Request }

// progress is what the steps on the way of a request tell each other. One
// goroutine at a time uses it.
type progress struct {
	Request
	// allow is what other methods the path has where there is no route.
	allow string
	// idempotency is nil until the operation begins.
	idempotency *idempotency.Request
	// lookup is the Idempotency-Key of a create whose outcome a GET request looks up.
	lookup string
	// credential is the caller that the request's credential names, once identified.
	credential *credential
	// body is the request body once it has been received.
	body []byte
	// input is the decoded request, and remoteAddress the host that it came from.
	input         any
	remoteAddress string
}

type progressKey struct{}

func progressOf(ctx context.Context) *progress {
	if p, ok := ctx.Value(progressKey{}).(*progress); ok {
		return p
	}
	return &progress{}
}

func requestID(ctx context.Context) string { return progressOf(ctx).ID }

// begin names a request and finds out where it leads to.
func (s *Service) begin(r *http.Request) *progress {
	p := &progress{Request: Request{ID: r.Header.Get(requestIDHeader)}, remoteAddress: remoteHost(r.RemoteAddr)}
	if !saneRequestID.MatchString(p.ID) || looksLikeToken(p.ID) {
		p.ID = s.random.ID()
	}
	p.Route, p.allow = s.mux.match(r)
	p.Operation = s.mux.operations[p.Route]
	_, p.Trusted = auth.Trusted(r.Context())
	p.Draining = s.drained
	if r.Method == http.MethodGet {
		p.lookup = r.Header.Get(api.IdempotencyLookupHeader)
	}
	return p
}

// remoteHost returns the address that a connection comes from, without the
// port; nothing in process.
func remoteHost(remoteAddr string) string {
	peer, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return ""
	}
	return peer.Addr().Unmap().String()
}
