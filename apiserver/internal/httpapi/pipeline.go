package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/ratelimit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// ServeHTTP implements http.Handler for requests from the network.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.serve(w, r, h.begin(r)) }

// serve runs the pipeline: request id, log line, Middleware, route.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, p *progress) {
	w.Header().Set(requestIDHeader, p.ID)
	w.Header().Set("Cache-Control", "no-store") // a response may contain a secret, and is for one caller
	w.Header().Set("X-Content-Type-Options", "nosniff")
	rec := &statusRecorder{ResponseWriter: w, clock: h.Clock}
	begun := h.Clock()
	defer func() {
		level := slog.LevelInfo
		if strings.HasPrefix(r.URL.Path, HealthPath) && rec.status < http.StatusBadRequest {
			level = slog.LevelDebug // a load balancer asks every second
		}
		h.Rules.Log.LogAttrs(r.Context(), level, "request",
			slog.String("request_id", p.ID), slog.String("method", r.Method),
			slog.String("route", p.Route), slog.Int("status", rec.status), slog.Duration("duration", h.Clock().Sub(begun)))
	}()
	h.next.ServeHTTP(rec, r.WithContext(context.WithValue(r.Context(), requestKey{}, p)))
}

// route routes a request, and turns a panic into a 500. If the response has begun, it aborts the
// response, so that the client does not take it for complete.
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
		h.Rules.Log.Error("panic", "request_id", requestID(r.Context()), "cause", cause, "stack", string(debug.Stack()))
		if rec.status != 0 {
			panic(http.ErrAbortHandler)
		}
		internalError().Write(rec)
	}()
	err := h.limit(rec, r)
	if err == nil {
		err = h.unrouted(progressOf(r.Context()), r)
	}
	if err != nil {
		err.Write(rec)
		return
	}
	h.mux.ServeHTTP(rec, r)
}

// unrouted returns the error of a request without a route or during shutdown, or nil.
func (h *Handler) unrouted(p *progress, r *http.Request) *api.Error {
	switch {
	case p.allow != "":
		return api.MethodNotAllowed(r.Method, p.allow)
	case p.Route == "":
		return api.NewError(http.StatusNotFound, api.TypeNotFound, "the API has no such path").At("path")
	case h.draining.Load() && !strings.HasPrefix(r.URL.Path, HealthPath):
		return api.Unavailable("the service is shutting down; try again")
	}
	return nil
}

// responseTo returns the response for an error. It logs an internal error under msg.
func (h *Handler) responseTo(ctx context.Context, err error, msg string, attrs ...any) *api.Error {
	if response, ok := errors.AsType[*api.Error](err); ok {
		return response
	}
	if ctx.Err() != nil { // the client is gone
		return api.Cancelled()
	}
	if !errors.Is(err, store.ErrUnavailable) { // the store logs an outage once
		h.Rules.Log.Error(msg, append([]any{"request_id", requestID(ctx), "error", err}, attrs...)...)
	}
	switch {
	case h.ExposeFaults:
		return api.NewError(http.StatusInternalServerError, api.TypeInternal, "the embedded account failed: %s", err)
	case errors.Is(err, store.ErrUnavailable):
		return api.Unavailable("the service can't keep changes at the moment; try again")
	}
	return internalError()
}

func internalError() *api.Error {
	return api.NewError(http.StatusInternalServerError, api.TypeInternal, "something failed inside the service; try again, and quote the request id if it happens again")
}

// The headers of every response if there is a limit, in the form that most APIs use and in the form
// of draft-ietf-httpapi-ratelimit-headers.
const (
	rateLimitHeader          = "RateLimit-Limit"
	rateLimitRemainingHeader = "RateLimit-Remaining"
	rateLimitResetHeader     = "RateLimit-Reset"
	rateLimitPolicyHeader    = "RateLimit-Policy"
	rateLimitStateHeader     = "RateLimit"
)

// limit takes a request from the bucket of its credential, or else of its remote address, and
// returns a 429 if the bucket is empty. Health checks and pages are not limited, because all
// clients behind a proxy share an address.
func (h *Handler) limit(w http.ResponseWriter, r *http.Request) *api.Error {
	if p := progressOf(r.Context()); h.Limiter == nil || p.Operation.ID == "" && p.Route != "" {
		return nil
	}
	key := "address " + network(r.RemoteAddr)
	if who, err := h.identify(r); err == nil {
		key = who.Credential()
	}
	u := h.Limiter.Take(key, h.Rules.Now())
	header := w.Header()
	header.Set(rateLimitHeader, strconv.Itoa(h.Limiter.Requests))
	header.Set(rateLimitRemainingHeader, strconv.Itoa(u.Remaining))
	header.Set(rateLimitResetHeader, strconv.Itoa(u.Reset))
	header.Set(rateLimitPolicyHeader, fmt.Sprintf(`"default";q=%d;w=%.0f`, h.Limiter.Requests, math.Ceil(h.Limiter.Per.Seconds())))
	header.Set(rateLimitStateHeader, fmt.Sprintf(`"default";r=%d;t=%d`, u.Remaining, u.Reset))
	if u.Allowed {
		return nil
	}
	return h.rateLimited(u)
}

func (h *Handler) rateLimited(u ratelimit.Usage) *api.Error {
	return api.NewError(http.StatusTooManyRequests, api.TypeRateLimited,
		"more than %d requests in %s; try again in %d s", h.Limiter.Requests, h.Limiter.Per, u.Wait).RetryAfter(u.Wait)
}

// network returns an IPv4 address, or the /64 prefix of an IPv6 address (RFC 6177).
func network(remoteAddr string) string {
	a, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return remoteAddr
	}
	address := a.Addr().Unmap()
	if address.Is6() {
		p, _ := address.WithZone("").Prefix(64) // valid for every IPv6 address
		return p.String()
	}
	return address.String()
}

// statusRecorder records the response status. With a clock, it sets the Date header, because
// net/http would send the machine's time, which may differ from the rules' clock.
type statusRecorder struct {
	http.ResponseWriter
	clock  func() time.Time
	status int
}

func (w *statusRecorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		if w.clock != nil {
			w.Header().Set("Date", w.clock().UTC().Format(http.TimeFormat))
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusRecorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController access to the connection.
func (w *statusRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
