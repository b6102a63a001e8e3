package fault

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Middleware applies the rules to requests. It is for apiserver.Options.Middleware,
// inside middleware that observes requests.
func (i *Injector) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := i.pick(r)
		if a == nil {
			next.ServeHTTP(w, r)
			return
		}
		if applied, ok := r.Context().Value(trackKey{}).(*string); ok {
			*applied = a.ID
		}
		if a.Delay > 0 || a.Hold == Before {
			r = withBodyRead(r)
		}
		a.delay(r.Context())
		i.apply(a, w, r, next)
	})
}

type trackKey struct{}

// Track returns a context for a request and a function that returns the id of the
// rule that was applied to it, or "". Call the function after the request.
func Track(ctx context.Context) (context.Context, func() string) {
	applied := new(string)
	return context.WithValue(ctx, trackKey{}, applied), func() string { return *applied }
}

// apply performs the rule's action on a request.
func (i *Injector) apply(a *activeRule, w http.ResponseWriter, r *http.Request, next http.Handler) {
	switch {
	case a.Status != 0:
		if a.After {
			next.ServeHTTP(discardedResponse{http.Header{}}, r)
		}
		a.writeError(w)
	case a.Drop != "":
		if a.Drop == After {
			next.ServeHTTP(discardedResponse{http.Header{}}, r)
		}
		panic(http.ErrAbortHandler)
	case a.Hold == Before:
		i.hold(r.Context(), a)
		next.ServeHTTP(w, r)
	case a.Hold == After:
		held := &heldResponse{ResponseWriter: w, hold: func() { i.hold(r.Context(), a) }}
		next.ServeHTTP(held, r)
		held.begin()
	case a.Truncate != nil:
		truncated := &truncatedResponse{header: w.Header().Clone(), limit: *a.Truncate}
		next.ServeHTTP(truncated, r)
		truncated.send(w)
	default:
		next.ServeHTTP(w, r)
	}
}

// withBodyRead reads the body of a request in advance. Only then does net/http
// detect that the client has disconnected and clear the deadline for the body.
func withBodyRead(r *http.Request) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, api.MaxBodyBytes+1))
	rest := io.Reader(r.Body)
	if err != nil {
		rest = errorReader{err}
	}
	read := *r
	read.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), rest), r.Body}
	return &read
}

type errorReader struct{ error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.error }

// delay waits for the rule's delay, until the rule is removed, the client
// disconnects or the service drains.
func (a *activeRule) delay(ctx context.Context) {
	if a.Delay <= 0 {
		return
	}
	timer := time.NewTimer(time.Duration(a.Delay))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a.removed:
	case <-ctx.Done():
	case <-apiserver.RequestOf(ctx).Draining:
	}
}

// hold waits until the request is released, the client disconnects or the service
// drains.
func (i *Injector) hold(ctx context.Context, a *activeRule) {
	released := i.beginHold(a)
	if released == nil {
		return
	}
	defer i.endHold(a, released)
	select {
	case <-released:
	case <-ctx.Done():
	case <-apiserver.RequestOf(ctx).Draining:
	}
}

// errorTypes are the types of the API's own errors by status code.
var errorTypes = map[int]string{
	http.StatusUnauthorized:          api.TypeNotAuthenticated,
	http.StatusForbidden:             api.TypePermissionDenied,
	http.StatusNotFound:              api.TypeNotFound,
	http.StatusMethodNotAllowed:      api.TypeMethodNotAllowed,
	http.StatusRequestTimeout:        api.TypeRequestTimeout,
	http.StatusConflict:              api.TypeConflict,
	http.StatusRequestEntityTooLarge: api.TypePayloadTooLarge,
	http.StatusUnsupportedMediaType:  api.TypeUnsupportedMedia,
	http.StatusTooManyRequests:       api.TypeRateLimited,
	http.StatusServiceUnavailable:    api.TypeUnavailable,
}

// writeError responds with the rule's error.
func (a *activeRule) writeError(w http.ResponseWriter) {
	typ, known := errorTypes[a.Status]
	if !known {
		if typ = api.TypeValue; a.Status >= http.StatusInternalServerError {
			typ = api.TypeInternal
		}
	}
	e := api.NewError(a.Status, typ, "injected by fault %s of the control plane", a.ID)
	if a.RetryAfter > 0 {
		e = e.RetryAfter(a.RetryAfter)
	}
	if a.Status == http.StatusUnauthorized {
		e = e.With("WWW-Authenticate", "Bearer")
	}
	maps.Copy(w.Header(), e.GetHeaders())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	_ = json.NewEncoder(w).Encode(e)
}

// discardedResponse is a response that is never sent.
type discardedResponse struct{ header http.Header }

func (d discardedResponse) Header() http.Header       { return d.header }
func (discardedResponse) Write(b []byte) (int, error) { return len(b), nil }
func (discardedResponse) WriteHeader(int)             {}

// heldResponse calls hold before the first byte is sent. By then the operation is
// done and durable.
type heldResponse struct {
	http.ResponseWriter
	hold  func()
	begun bool
}

func (h *heldResponse) begin() {
	if !h.begun {
		h.begun = true
		h.hold()
	}
}

// WriteHeader implements http.ResponseWriter.
func (h *heldResponse) WriteHeader(status int) {
	h.begin()
	h.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (h *heldResponse) Write(b []byte) (int, error) {
	h.begin()
	return h.ResponseWriter.Write(b)
}

// FlushError is called by http.ResponseController.
func (h *heldResponse) FlushError() error {
	h.begin()
	return http.NewResponseController(h.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (h *heldResponse) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// truncatedResponse buffers the beginning of a response and counts the rest.
type truncatedResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
	limit  int // bytes of body to send
	total  int
}

// Header implements http.ResponseWriter.
func (t *truncatedResponse) Header() http.Header { return t.header }

// WriteHeader implements http.ResponseWriter.
func (t *truncatedResponse) WriteHeader(status int) {
	if t.status == 0 {
		t.status = status
	}
}

// Write implements http.ResponseWriter.
func (t *truncatedResponse) Write(b []byte) (int, error) {
	t.WriteHeader(http.StatusOK)
	t.total += len(b)
	t.body.Write(b[:min(t.limit-t.body.Len(), len(b))])
	return len(b), nil
}

// send sends the beginning with the Content-Length of the whole body, and closes
// the connection.
func (t *truncatedResponse) send(w http.ResponseWriter) {
	if t.total > 0 {
		maps.Copy(w.Header(), t.header)
		w.Header().Set("Content-Length", strconv.Itoa(max(t.total, t.body.Len()+1)))
		w.WriteHeader(t.status)
		_, _ = w.Write(t.body.Bytes())
		_ = http.NewResponseController(w).Flush()
	}
	panic(http.ErrAbortHandler)
}
