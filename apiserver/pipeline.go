package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"path"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// requestIDHeader names a request in the answer, in the log and in error
// messages.
const requestIDHeader = "X-Request-Id"

var saneRequestID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

type requestIDKey struct{}

// newHandler builds the way of a request: request id, log line, health and
// draining, then the routes.
func (s *Service) newHandler() http.Handler {
	mux := http.NewServeMux()
	s.routes(mux)
	s.verificationPages(mux)
	mux.HandleFunc("GET /healthz/live", func(w http.ResponseWriter, _ *http.Request) { writeHealth(w, http.StatusOK, "live") })
	mux.HandleFunc("GET /healthz/ready", s.ready)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestIDHeader)
		if !saneRequestID.MatchString(id) {
			id = s.newID()
		}
		w.Header().Set(requestIDHeader, id)
		var d delivery
		ctx := context.WithValue(r.Context(), requestIDKey{}, id)
		r = r.WithContext(context.WithValue(ctx, deliveryKey{}, &d))
		rec := &statusRecorder{ResponseWriter: w}
		begun := s.clock()
		defer s.conclude(rec, r, begun)
		s.route(mux, rec, r)
		if d.key != nil && rec.status < http.StatusMultipleChoices {
			s.delivered.add(d.key)
		}
	})
}

// conclude turns a panic into a 500 and writes the request's log line.
func (s *Service) conclude(rec *statusRecorder, r *http.Request, begun time.Time) {
	cause := recover()
	if cause == http.ErrAbortHandler { //nolint:errorlint // the sentinel is compared as net/http does
		panic(cause)
	}
	if cause != nil {
		s.log.Error("panic", "request_id", requestID(r.Context()), "cause", cause, "stack", string(debug.Stack()))
		if rec.status == 0 {
			writeError(rec, internalError())
		}
	}
	s.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("request_id", requestID(r.Context())), slog.String("method", r.Method),
		slog.String("route", rec.route), slog.Int("status", rec.status), slog.Duration("duration", s.clock().Sub(begun)))
}

// route passes the request on to mux, which would answer in text, and redirect
// where a path is not clean.
func (s *Service) route(mux *http.ServeMux, w *statusRecorder, r *http.Request) {
	p := r.URL.EscapedPath() // an escaped slash does not end a segment
	if p == "" || path.Clean(p) != p {
		writeError(w, noRoute())
		return
	}
	handler, pattern := mux.Handler(r)
	w.route = pattern
	if pattern == "" {
		answer := discardedAnswer{header: http.Header{}}
		handler.ServeHTTP(&answer, r)
		if allow := answer.header.Get("Allow"); allow != "" {
			writeError(w, api.NewError(http.StatusMethodNotAllowed, api.TypeMethodNotAllowed, "this path has no %s; see the Allow header", r.Method).At("path").With("Allow", allow))
			return
		}
		writeError(w, noRoute())
		return
	}
	if s.draining.Load() && path.Dir(p) != "/healthz" {
		writeError(w, unavailable("the service is shutting down; try again"))
		return
	}
	mux.ServeHTTP(w, r)
}

func (s *Service) ready(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.draining.Load():
		writeHealth(w, http.StatusServiceUnavailable, "draining")
	case s.store.Ping(r.Context()) != nil:
		writeHealth(w, http.StatusServiceUnavailable, "the database does not answer")
	default:
		writeHealth(w, http.StatusOK, "ready")
	}
}

func writeHealth(w http.ResponseWriter, status int, state string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
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
			writeError(w, api.UnsupportedMediaType())
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
		return unavailable("the request was cancelled before it was done")
	}
	s.log.Error("operation failed", "request_id", requestID(c.ctx), "operation", c.spec.ID, "error", err)
	return s.fault(err)
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

func noRoute() *api.Error {
	return api.NewError(http.StatusNotFound, api.TypeNotFound, "the API has no such path").At("path")
}

// fault is the answer to what failed inside.
func (s *Service) fault(cause error) *api.Error {
	if s.tellFaults {
		return api.NewError(http.StatusInternalServerError, api.TypeInternal, "the embedded account failed: %s", cause)
	}
	return internalError()
}

func internalError() *api.Error {
	return api.NewError(http.StatusInternalServerError, api.TypeInternal, "something failed inside the service; try again, and quote the request id if it happens again")
}

func unavailable(msg string) *api.Error {
	return api.NewError(http.StatusServiceUnavailable, api.TypeUnavailable, "%s", msg).RetryAfter(1)
}

// writeError writes an error answer outside of huma.
func writeError(w http.ResponseWriter, e *api.Error) {
	maps.Copy(w.Header(), e.GetHeaders())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.GetStatus())
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e)
}

// statusRecorder notes what was answered, for the log.
type statusRecorder struct {
	http.ResponseWriter
	status int
	route  string
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
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// discardedAnswer takes the headers of an answer that nobody reads.
type discardedAnswer struct{ header http.Header }

func (d *discardedAnswer) Header() http.Header         { return d.header }
func (d *discardedAnswer) Write(b []byte) (int, error) { return len(b), nil }
func (d *discardedAnswer) WriteHeader(int)             {}
