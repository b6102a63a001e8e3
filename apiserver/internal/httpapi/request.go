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

// mayBeLogged reports whether a request id is well-formed and contains no secret by mistake: no token, no JWT, and
// neither the credential, an Idempotency-Key nor a cookie, nor a large part of one. An Idempotency-Key encrypts the
// stored response, so that it must not be stored beside the response in any spelling.
func mayBeLogged(id string, header http.Header) bool {
	if !saneRequestID.MatchString(id) || strings.Contains(id, api.TokenPrefix+"_") || strings.Contains(id, "eyJ") { // a JWT begins with {" in base64
		return false
	}
	id = lettersAndDigits(id)
	for name, values := range header {
		if name != "Authorization" && name != "Cookie" && !strings.HasPrefix(name, "Idempotency-") {
			continue
		}
		for _, value := range values {
			value = strings.TrimSpace(value)
			value = value[strings.LastIndexByte(value, ' ')+1:] // without a scheme, such as Bearer
			whole := lettersAndDigits(api.CanonicalID(value))
			if whole != "" && strings.Contains(id, whole) || len(id) >= largePart && strings.Contains(whole, id) {
				return false
			}
			for part := range strings.FieldsFuncSeq(value, func(c rune) bool { return lettersAndDigits(string(c)) == "" }) {
				if len(part) >= largePart && strings.Contains(id, lettersAndDigits(part)) {
					return false
				}
			}
		}
	}
	return true
}

// largePart is the length from which a part of a secret is no coincidence in a request id.
const largePart = 12

// lettersAndDigits returns the letters, in lower case, and the digits of a text.
func lettersAndDigits(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, strings.ToLower(text))
}

// Request describes a request before it is handled.
type Request struct {
	// ID is also in the response's X-Request-Id, the log and the audit log.
	ID string
	// Operation is zero for a page, a health check, and an unknown path.
	Operation api.Spec
	// Route is the pattern of the matched route, such as "GET /healthz/live", or empty.
	Route string
	// Subject is the sender, set once an operation has identified the caller.
	Subject store.AuditSubject
	// InProcess reports that a Client sent the request, not the network. Trusted reports that an
	// OwnerClient sent it, so that it requires no credential.
	InProcess, Trusted bool
	// Draining is closed when the service drains. Nothing may wait from then on.
	Draining <-chan struct{}
	// Now is the service's clock.
	Now func() time.Time
	// NameOf returns the name of the account's object with an id, such as an address, or "" without
	// such an object. Unlike ids, names are the same in every run.
	NameOf func(id string) string
}

// Name returns the operation's id, "verification", "payment", "health" or "other", for metrics.
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

// RequestOf returns the request in a context, for an Options.Middleware.
func RequestOf(ctx context.Context) Request { return progressOf(ctx).Request }

// progress is the state of a request in the pipeline. Only one goroutine uses it at a time.
type progress struct {
	Request
	// allow lists the methods of the path if no route matches the request's method.
	allow string
	// identified returns the result of identify: the caller, or the authentication error. For a
	// trusted caller it is set from the beginning.
	identified func() (auth.Caller, error)
	// subjectDetails describe the job of a workload that calls.
	subjectDetails map[string]string
	// caller is the authenticated caller, zero until then.
	caller auth.Caller
	// decoded is the decoded request of the operation; remoteAddress is the host that sent it.
	decoded       any
	remoteAddress string
	// bodyMemory is the memory reserved in Handler.bodies for the bodies of the request and its response.
	bodyMemory int64
	// arrival is the time of all changes of the operation.
	arrival time.Time
}

// requestKey is the key of a request's *progress in its context. The pipeline and AsControlPlane
// set it. The handlers behind Options.Middleware read it, because only an http.Request reaches
// them, and the audit log, because the store passes it only a context.
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
	if !mayBeLogged(p.ID, r.Header) {
		p.ID = h.Rules.Random.ID()
	}
	if escaped := r.URL.EscapedPath(); path.Clean(escaped) == escaped { // an escaped slash does not end a segment
		p.Route, p.allow = route.Of(h.mux, r)
	}
	p.Operation = h.operations[p.Route]
	p.Draining, p.Now = h.drained, h.Clock
	p.NameOf = func(id string) string {
		return h.Rules.NameOf(r.Context(), api.CanonicalID(p.Operation.PathValues(r.URL)["account_id"]), api.CanonicalID(id))
	}
	return p
}

// remoteHost returns the remote address of a connection without the port, or "" in process.
func remoteHost(remoteAddr string) string {
	peer, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return ""
	}
	return peer.Addr().Unmap().String()
}

// AsControlPlane implements apiserver.AsControlPlane.
func AsControlPlane(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, &progress{Request: Request{Subject: audit.ControlPlane}})
}

// Origin returns the origin of the changes in a context, for the audit log.
func Origin(ctx context.Context) audit.Origin {
	p := progressOf(ctx)
	return audit.Origin{
		Operation: p.Operation.ID, Subject: p.Subject, SubjectDetails: p.subjectDetails, RequestID: p.ID, RemoteAddress: p.remoteAddress, Arrival: p.arrival, Fields: fieldsSet(p.decoded),
	}
}

func subjectOf(who auth.Caller) store.AuditSubject {
	if who.IsOperator() {
		return audit.Operator(who.Name)
	}
	return store.AuditSubject{Type: who.Subjects[0].Type, ID: who.Subjects[0].ID, Name: cmp.Or(who.Email, who.Name)}
}

// fieldsSet returns the names of the fields set in a request body.
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
