package fault

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Middleware is for apiserver.Options.Middleware; it belongs inside of what
// watches requests.
func (i *Injector) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := i.pick(r)
		if a == nil {
			next.ServeHTTP(w, r)
			return
		}
		note(r.Context(), a.ID)
		if a.Delay > 0 || a.Hold == Before {
			r = arrived(r)
		}
		a.pause(r.Context())
		i.act(a, w, r, next)
	})
}

// act does what the rule says in place of next.
func (i *Injector) act(a *active, w http.ResponseWriter, r *http.Request, next http.Handler) {
	switch {
	case a.Status != 0:
		if a.After {
			next.ServeHTTP(discard{http.Header{}}, r)
		}
		a.answer(w)
	case a.Drop != "":
		if a.Drop == After {
			next.ServeHTTP(discard{http.Header{}}, r)
		}
		panic(http.ErrAbortHandler)
	case a.Hold == Before:
		i.wait(r.Context(), a)
		next.ServeHTTP(w, r)
	case a.Hold == After:
		held := &heldAnswer{ResponseWriter: w, wait: func() { i.wait(r.Context(), a) }}
		next.ServeHTTP(held, r)
		held.begin()
	case a.Truncate != nil:
		cut := &cutAnswer{header: w.Header().Clone(), limit: *a.Truncate}
		next.ServeHTTP(cut, r)
		cut.send(w)
	default:
		next.ServeHTTP(w, r)
	}
}

// arrived returns a request whose body has been read: net/http notices that the
// client has hung up, and takes the deadline for the body off, only then.
func arrived(r *http.Request) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, api.MaxBodyBytes+1))
	rest := io.Reader(r.Body)
	if err != nil {
		rest = failing{err}
	}
	read := *r
	read.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), rest), r.Body}
	return &read
}

// failing is a reader that fails.
type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// pause waits for the rule's delay, or until nothing may wait any longer.
func (a *active) pause(ctx context.Context) {
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

// wait holds a request.
func (i *Injector) wait(ctx context.Context, a *active) {
	released := i.hold(a)
	if released == nil {
		return
	}
	defer i.giveUp(a, released)
	select {
	case <-released:
	case <-ctx.Done():
	case <-apiserver.RequestOf(ctx).Draining:
	}
}

// errorTypes are the types that the API's own errors have.
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

// answer answers with the rule's error.
func (a *active) answer(w http.ResponseWriter) {
	typ, known := errorTypes[a.Status]
	if !known {
		if typ = api.TypeValue; a.Status >= http.StatusInternalServerError {
			typ = api.TypeInternal
		}
	}
	e := api.NewError(a.Status, typ, "the control plane's fault %s made this answer", a.ID)
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
