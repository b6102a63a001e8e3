package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"path"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/route"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// requestIDHeader identifies a request in the response, in the log and in error messages.
const requestIDHeader = "X-Request-Id"

var saneRequestID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// looksLikeToken reports whether a request id, which is logged, may be a token or a JWT by
// mistake.
func looksLikeToken(id string) bool {
	return strings.Contains(id, api.TokenPrefix+"_") || strings.HasPrefix(id, "eyJ") // {" in base64
}

// Request describes a request before it is handled.
type Request struct {
	// ID is in the response's X-Request-Id, in the log and in the audit log.
	ID string
	// Operation has no ID for a page, a health check, and a path that does not exist.
	Operation api.Spec
	// Route is the request's pattern, such as "GET /healthz/live"; empty without one.
	Route string
	// Subject is who sent the request, once an operation has identified them.
	Subject store.AuditSubject
	// InProcess reports that the request is a Client's, and not from the network. Trusted reports
	// that it is also an OwnerClient's and needs no credential.
	InProcess, Trusted bool
	// Draining is closed when the service drains: nothing may wait any longer.
	Draining <-chan struct{}
	// Now is the service's clock.
	Now func() time.Time
}

// Name returns an operation's id, "verification", "payment", "health" or "other", for metrics.
func (r Request) Name() string {
	_, path, _ := strings.Cut(r.Route, " ")
	switch {
	case r.Operation.ID != "":
		return r.Operation.ID
	case strings.HasPrefix(path, mail.VerificationPath):
		return "verification"
	case strings.HasPrefix(path, account.PaymentPath):
		return "payment"
	case strings.HasPrefix(path, HealthPath):
		return "health"
	}
	return "other"
}

// RequestOf returns the request of a context, for an Options.Middleware.
func RequestOf(ctx context.Context) Request { return progressOf(ctx).Request }

// progress is the state of a request in the pipeline. One goroutine at a time uses it.
type progress struct {
	Request
	// allow lists the methods of the path if there is no route for the request's method.
	allow string
	// identified returns the result of identify: the caller, or the authentication error. It is set
	// from the beginning for a trusted caller.
	identified func() (auth.Caller, error)
	// caller is who may use the operation; the zero Caller before that is known.
	caller auth.Caller
	// decoded is the request to the operation, and remoteAddress the host that it came from.
	decoded       any
	remoteAddress string
	// bodyMemory is what the body takes of Handler.bodies.
	bodyMemory int64
	// arrival is the time of everything that an operation does.
	arrival time.Time
}

// requestKey is the key of a request's *progress in its context. The pipeline sets it. Whoever works
// for the request reads it: the handlers behind Options.Middleware, which pass an http.Request and
// nothing else, and the audit log, to which the store passes a context. AsControlPlane sets it too.
type requestKey struct{}

func progressOf(ctx context.Context) *progress {
	if p, ok := ctx.Value(requestKey{}).(*progress); ok {
		return p
	}
	return &progress{}
}

func requestID(ctx context.Context) string { return progressOf(ctx).ID }

// begin gives a request its id and finds its route.
func (h *Handler) begin(r *http.Request) *progress {
	p := &progress{Request: Request{ID: r.Header.Get(requestIDHeader)}, remoteAddress: remoteHost(r.RemoteAddr)}
	// An Idempotency-Key encrypts the stored response, and must not be stored beside it in any spelling,
	// nor as a part of the id.
	digits := func(id string) string { return strings.ReplaceAll(strings.ToLower(id), "-", "") }
	key := digits(api.CanonicalID(strings.TrimSpace(r.Header.Get(api.IdempotencyKeyHeader))))
	if !saneRequestID.MatchString(p.ID) || looksLikeToken(p.ID) || key != "" && strings.Contains(digits(p.ID), key) {
		p.ID = h.Rules.Random.ID()
	}
	if escaped := r.URL.EscapedPath(); path.Clean(escaped) == escaped { // an escaped slash does not end a segment
		p.Route, p.allow = route.Of(h.mux, r)
	}
	p.Operation = h.operations[p.Route]
	p.Draining, p.Now = h.drained, h.Clock
	return p
}

// remoteHost returns the remote address of a connection without the port, or "" in
// process.
func remoteHost(remoteAddr string) string {
	peer, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return ""
	}
	return peer.Addr().Unmap().String()
}

// AsControlPlane is apiserver.AsControlPlane.
func AsControlPlane(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, &progress{Request: Request{Subject: audit.ControlPlane}})
}

// Origin returns the origin of a context's changes for the audit log.
func Origin(ctx context.Context) audit.Origin {
	p := progressOf(ctx)
	return audit.Origin{
		Operation: p.Operation.ID, Subject: p.Subject, RequestID: p.ID, RemoteAddress: p.remoteAddress, Arrival: p.arrival, Fields: fieldsSet(p.decoded),
	}
}

func subjectOf(who auth.Caller) store.AuditSubject {
	if who.IsOperator() {
		return audit.Operator(who.Name)
	}
	return store.AuditSubject{Type: who.Subjects[0].Type, ID: who.Subjects[0].ID, Name: cmp.Or(who.Email, who.Name)}
}

// fieldsSet returns the names of the fields that a request's body sets.
func fieldsSet(request any) (names []string) {
	if request == nil {
		return nil
	}
	body := reflect.Indirect(reflect.ValueOf(request)).FieldByName("Body")
	if !body.IsValid() {
		return nil
	}
	for _, f := range api.FieldsOf(body.Type()) {
		if f.Required || !body.FieldByIndex(f.Index).IsZero() {
			names = append(names, f.Name)
		}
	}
	return names
}
