package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"mime"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// pipeline returns the handler of every request: request id and log line, the
// middleware of the options, then the routes.
func (h *Handler) pipeline(middleware func(http.Handler) http.Handler) http.Handler {
	var next http.Handler = http.HandlerFunc(h.route)
	if middleware != nil {
		next = middleware(next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := h.begin(r)
		w.Header().Set(requestIDHeader, p.ID)
		w.Header().Set("Cache-Control", "no-store") // a response may hold a secret, and is for one caller
		w.Header().Set("X-Content-Type-Options", "nosniff")
		rec := &statusRecorder{ResponseWriter: w}
		begun := h.clock()
		defer func() {
			h.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
				slog.String("request_id", p.ID), slog.String("method", r.Method),
				slog.String("route", p.Route), slog.Int("status", rec.status), slog.Duration("duration", h.clock().Sub(begun)))
		}()
		returned := false
		defer func() { h.endRequest(r.Context(), p, rec, returned) }() // also if the handler is aborted
		next.ServeHTTP(rec, r.WithContext(context.WithValue(r.Context(), progressKey{}, p)))
		returned = true
	})
}

// endRequest ends a request's use of its Idempotency-Key.
func (h *Handler) endRequest(ctx context.Context, p *progress, rec *statusRecorder, returned bool) {
	if p.idempotency == nil {
		return
	}
	succeeded := rec.status >= http.StatusOK && rec.status < http.StatusMultipleChoices
	if err := p.idempotency.End(ctx, returned && succeeded && rec.failed == nil && ctx.Err() == nil); err != nil {
		h.log.Error("can't record whether a response was delivered", "request_id", p.ID, "error", err)
	}
}

// route serves a request by its route, and turns a panic into a 500.
func (h *Handler) route(w http.ResponseWriter, r *http.Request) {
	rec := &statusRecorder{ResponseWriter: w}
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if cause == http.ErrAbortHandler { //nolint:errorlint // the sentinel is compared as net/http does
			panic(cause)
		}
		h.log.Error("panic", "request_id", requestID(r.Context()), "cause", cause, "stack", string(debug.Stack()))
		if rec.status == 0 {
			internalError().Write(rec)
		}
	}()
	refusal := h.limit(rec, r)
	if refusal == nil {
		refusal = h.refuse(progressOf(r.Context()), r)
	}
	if refusal != nil {
		refusal.Write(rec)
		return
	}
	h.router.ServeHTTP(rec, r)
}

// refuse returns the response to a request that is not routed, or nil.
func (h *Handler) refuse(p *progress, r *http.Request) *api.Error {
	switch {
	case p.allow != "":
		return api.MethodNotAllowed(r.Method, p.allow)
	case p.Route == "":
		return api.NewError(http.StatusNotFound, api.TypeNotFound, "the API has no such path").At("path")
	case !expectsContinue(r.Header):
		return api.ExpectationFailed()
	case h.draining.Load() && !strings.HasPrefix(r.URL.Path, HealthPath):
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

// requireJSON refuses a body whose media type is not JSON. huma searches the text of the
// header and does not parse it, so it gets the media type alone.
func (h *Handler) requireJSON(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if _, takesBody := specOf(ctx).Request.FieldByName("Body"); takesBody && r.ContentLength != 0 {
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
