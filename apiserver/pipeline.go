package apiserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// newHandler builds the way of a request: its name and its log line, what the
// options put in between, then the routes.
func (s *Service) newHandler(middleware func(http.Handler) http.Handler) http.Handler {
	s.mux = newRouter()
	s.routes(s.mux.ServeMux)
	s.pages(s.mux.ServeMux)
	s.mux.HandleFunc("GET "+HealthPath+"live", func(w http.ResponseWriter, _ *http.Request) { writeHealth(w, http.StatusOK, "live") })
	s.mux.HandleFunc("GET "+HealthPath+"ready", s.ready)
	var next http.Handler = http.HandlerFunc(s.answer)
	if middleware != nil {
		next = middleware(next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := s.begin(r)
		w.Header().Set(requestIDHeader, p.ID)
		w.Header().Set("Cache-Control", "no-store") // an answer may hold a secret, and is nobody else's
		w.Header().Set("X-Content-Type-Options", "nosniff")
		rec := &statusRecorder{ResponseWriter: w}
		begun := s.clock()
		defer func() {
			s.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
				slog.String("request_id", p.ID), slog.String("method", r.Method),
				slog.String("route", p.Route), slog.Int("status", rec.status), slog.Duration("duration", s.clock().Sub(begun)))
		}()
		returned := false
		defer func() { s.endRequest(r.Context(), p, rec, returned) }() // also if the handler is aborted
		next.ServeHTTP(rec, r.WithContext(context.WithValue(r.Context(), progressKey{}, p)))
		returned = true
	})
}

// endRequest ends a request's use of its Idempotency-Key.
func (s *Service) endRequest(ctx context.Context, p *progress, rec *statusRecorder, returned bool) {
	if p.idempotency == nil {
		return
	}
	succeeded := rec.status >= http.StatusOK && rec.status < http.StatusMultipleChoices
	if err := p.idempotency.End(ctx, returned && succeeded && rec.failed == nil && ctx.Err() == nil); err != nil {
		s.log.Error("can't record whether a response was delivered", "request_id", p.ID, "error", err)
	}
}

// answer answers a request, and turns a panic into a 500.
func (s *Service) answer(w http.ResponseWriter, r *http.Request) {
	rec := &statusRecorder{ResponseWriter: w}
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if cause == http.ErrAbortHandler { //nolint:errorlint // the sentinel is compared as net/http does
			panic(cause)
		}
		s.log.Error("panic", "request_id", requestID(r.Context()), "cause", cause, "stack", string(debug.Stack()))
		if rec.status == 0 {
			internalError().Write(rec)
		}
	}()
	refusal := s.limited(rec, r)
	if refusal == nil {
		refusal = s.refusal(progressOf(r.Context()), r)
	}
	if refusal != nil {
		refusal.Write(rec)
		return
	}
	s.mux.ServeHTTP(rec, r)
}

// refusal is the answer to a request that is not even routed; nil for the others.
func (s *Service) refusal(p *progress, r *http.Request) *api.Error {
	switch {
	case p.allow != "":
		return api.MethodNotAllowed(r.Method, p.allow)
	case p.Route == "":
		return api.NewError(http.StatusNotFound, api.TypeNotFound, "the API has no such path").At("path")
	case !expectsContinue(r.Header):
		return api.ExpectationFailed()
	case s.draining.Load() && !strings.HasPrefix(r.URL.Path, HealthPath):
		return api.Unavailable("the service is shutting down; try again")
	}
	return nil
}

// expectsContinue reports whether a request has no expectation but 100-continue.
// Over HTTP/1.1 net/http refuses the others before a handler is called.
func expectsContinue(h http.Header) bool {
	for _, expectation := range h.Values("Expect") {
		if !strings.EqualFold(expectation, "100-continue") {
			return false
		}
	}
	return true
}

func (s *Service) ready(w http.ResponseWriter, r *http.Request) {
	if err := s.Ready(r.Context()); err != nil {
		w.Header().Set("Retry-After", "1")
		writeHealth(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	writeHealth(w, http.StatusOK, "ready")
}

func writeHealth(w http.ResponseWriter, status int, state string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": state})
}

// requireJSON refuses a body that does not say that it is JSON. huma looks for
// the media type in the header's text and does not parse it, so it gets that
// alone.
func (s *Service) requireJSON(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if _, takesBody := api.SpecOf(ctx).Request.FieldByName("Body"); takesBody && r.ContentLength != 0 {
		mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || mediaType != "application/json" {
			api.UnsupportedMediaType().Write(w)
			return
		}
		if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
			api.UnsupportedContentCoding().Write(w)
			return
		}
		r.Header.Set("Content-Type", mediaType)
	}
	next(ctx)
}

// answerable turns what a handler returned into what the caller is told. What
// failed inside is logged and stays inside.
func (s *Service) answerable(c *call, err error) error {
	if answer, ok := errors.AsType[*api.Error](err); ok {
		return answer
	}
	if c.ctx.Err() != nil {
		return api.Cancelled()
	}
	if errors.Is(err, store.ErrUnavailable) {
		s.outage.noticed(s.log, err)
		return s.fault(err)
	}
	s.log.Error("operation failed", "request_id", requestID(c.ctx), "operation", c.spec.ID, "error", err)
	return s.fault(err)
}

// fault is the answer to what failed inside.
func (s *Service) fault(cause error) *api.Error {
	if s.tellFaults {
		return api.NewError(http.StatusInternalServerError, api.TypeInternal, "the embedded account failed: %s", cause)
	}
	if errors.Is(cause, store.ErrUnavailable) {
		return api.Unavailable("the service can't keep changes at the moment; try again")
	}
	return internalError()
}

// outage is a time in which the store is unavailable. It is logged when it begins
// and when it ends, and not for each request meanwhile.
type outage struct{ on atomic.Bool }

func (o *outage) noticed(log *slog.Logger, err error) {
	if !o.on.Swap(true) {
		log.Error("the database is unavailable; requests that need it get a 503 until it can be used again", "error", err)
	}
}

// over is called after an update that was kept.
func (o *outage) over(log *slog.Logger) {
	if o.on.Load() && o.on.Swap(false) {
		log.Info("the database is available again")
	}
}

func internalError() *api.Error {
	return api.NewError(http.StatusInternalServerError, api.TypeInternal, "something failed inside the service; try again, and quote the request id if it happens again")
}

// statusRecorder records a response's status, and the first error of writing its
// body.
type statusRecorder struct {
	http.ResponseWriter
	status int
	failed error
}

func (w *statusRecorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusRecorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.failed = cmp.Or(w.failed, err)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
