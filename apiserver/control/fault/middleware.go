package fault

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Observer is a ResponseWriter that records each rule applied to its request, with the request's
// natural key and the number of the attempt. Both are empty without rules that leave a choice to
// chance.
type Observer interface {
	FaultApplied(ruleID, key string, attempt int)
}

// Middleware applies the rules to requests. Wrap it, in apiserver.Options.Middleware, in the
// middleware that observes requests. An Observer must wrap it directly.
func (i *Injector) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, r := i.pick(r)
		if f == nil {
			next.ServeHTTP(w, r)
			return
		}
		i.apply(f, w, r, next)
	})
}

// observe reports a rule to an Observer.
func (f *firing) observe(w http.ResponseWriter, a *activeRule) {
	if o, ok := w.(Observer); ok {
		o.FaultApplied(a.ID, f.key, f.n)
	}
}

// apply performs the actions of the rules.
func (i *Injector) apply(f *firing, w http.ResponseWriter, r *http.Request, next http.Handler) {
	for _, a := range f.acting {
		if a.Truncate == nil {
			f.observe(w, a.activeRule)
		}
		if a.delay > 0 {
			wait(r, a.activeRule, f.interrupted, time.After(a.delay))
		}
		r = a.withShortPage(r)
	}
	last := f.acting[len(f.acting)-1].activeRule
	if last.Hold == Before {
		i.hold(r, last, f.interrupted)
	}
	done := httptest.NewRecorder()
	maps.Copy(done.Header(), w.Header())
	switch {
	case last.After, last.Drop == After, last.Hold == After, last.Truncate != nil:
		next.ServeHTTP(done, r)
	case last.Status == 0 && last.Response == nil && last.Drop == "":
		next.ServeHTTP(w, r)
		return
	}
	switch {
	case last.Status != 0:
		last.writeError(w, r)
		return
	case last.Response != nil:
		last.Response.write(w)
		return
	case last.Hold == After:
		i.hold(r, last, f.interrupted)
		send(done, w)
		return
	case last.Truncate != nil:
		whole := done.Body.Len()
		if !i.truncates(last, whole) {
			send(done, w)
			return
		}
		f.observe(w, last)
		// The Content-Length counts the whole body, so that the client notices the missing part.
		done.Body.Truncate(*last.Truncate)
		done.Header().Set("Content-Length", strconv.Itoa(whole))
		send(done, w)
		_ = http.NewResponseController(w).Flush()
	case last.RST && resetConnection(r.Context(), w):
		return
	}
	panic(http.ErrAbortHandler)
}

// resetConnection makes TCP reset a connection when the request's context ends, after a journal
// recorded the request. It returns false in process and with HTTP/2, where an abort resets the
// stream anyway.
func resetConnection(ctx context.Context, w http.ResponseWriter) bool {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	if tcp, ok := conn.(interface{ SetLinger(seconds int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return true
}

// withShortPage limits the page size of a request for a list to the rule's.
func (a *activeRule) withShortPage(r *http.Request) *http.Request {
	_, isList := apiserver.RequestOf(r.Context()).Operation.Request.FieldByName("PageSize")
	query := r.URL.Query()
	n, err := strconv.Atoi(cmp.Or(query.Get("page_size"), strconv.Itoa(api.MaxPageSize)))
	if a.PageSize == 0 || !isList || err != nil || n <= a.PageSize {
		return r
	}
	query.Set("page_size", strconv.Itoa(a.PageSize))
	short := r.Clone(r.Context())
	short.URL.RawQuery = query.Encode()
	return short
}

// withBodyRead reads the request body in advance, so that a journal contains it for every action,
// and returns it. Only after this read does net/http detect a disconnected client and clear the
// deadline of the body.
func withBodyRead(r *http.Request) (*http.Request, []byte) {
	if r.Body == http.NoBody {
		return r, nil
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, api.MaxBodyBytes+1)) // the next read returns the error again
	read := *r
	read.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	return &read, body
}

// errorTypes maps status codes to the API's types of error.
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

// write sends the response.
func (p Response) write(w http.ResponseWriter) {
	body, isText := p.Body.(string)
	contentType := http.DetectContentType([]byte(body))
	if !isText && p.Body != nil {
		encoded, _ := api.EncodeJSON(p.Body) // decoded from JSON
		body, contentType = string(encoded), "application/json"
	}
	if body != "" {
		w.Header().Set("Content-Type", contentType)
	}
	for name, value := range p.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(p.Status)
	_, _ = io.WriteString(w, body)
}

func (a *activeRule) writeError(w http.ResponseWriter, r *http.Request) {
	if a.RetryAfter > 0 {
		after := strconv.Itoa(a.RetryAfter)
		if a.RetryAfterDate {
			after = apiserver.RequestOf(r.Context()).Now().Add(time.Duration(a.RetryAfter) * time.Second).UTC().Format(http.TimeFormat)
		}
		w.Header().Set("Retry-After", after)
	}
	if a.HTML {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(a.Status)
		title := strconv.Itoa(a.Status) + " " + http.StatusText(a.Status)
		_, _ = fmt.Fprintf(w, "<html>\r\n<head><title>%[1]s</title></head>\r\n<body>\r\n<center><h1>%[1]s</h1></center>\r\n<hr><center>proxy</center>\r\n</body>\r\n</html>\r\n", title)
		return
	}
	other := api.TypeValue
	if a.Status >= http.StatusInternalServerError {
		other = api.TypeInternal
	}
	e := api.NewError(a.Status, cmp.Or(errorTypes[a.Status], other), "injected by fault %s of the control plane", a.ID)
	if a.Status == http.StatusUnauthorized {
		e = e.With("WWW-Authenticate", "Bearer")
	}
	e.Write(w)
}

// send writes a recorded response.
func send(recorded *httptest.ResponseRecorder, w http.ResponseWriter) {
	maps.Copy(w.Header(), recorded.Header())
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(recorded.Body.Bytes())
}
