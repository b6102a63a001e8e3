// Package httpapi serves the operations of package account over HTTP and in process.
//
// A request passes pipeline.go (request id, log line, middleware of the options, rate limit) and
// the router. operation.go runs the steps of a request to an operation: authenticate.go, input.go,
// which reads the body (body.go, json.go) and validates it by the fields of package api, and the
// function of package account. Only the OpenAPI document comes from huma, because a 422 must use
// the messages of Pydantic, and also lists the violated rules that a schema can't express. pages.go
// serves the pages that links in messages and responses lead to.
package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/idempotency"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/ratelimit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// defaultBodyMemory allows one account half as much.
const defaultBodyMemory = 192 << 20

// Options configures a Handler; see apiserver.Options. Limiter and Middleware are optional.
type Options struct {
	Rules *account.Rules
	// Clock measures durations; Rules.Now is the same clock, truncated to microseconds.
	Clock      func() time.Time
	Limiter    *ratelimit.Limiter
	BodyMemory int

	ExposeFaults, PublishedOnly, Strict bool

	Middleware func(http.Handler) http.Handler
}

// Handler serves the API, the pages and the health checks. It is safe for concurrent use.
type Handler struct {
	Options
	Idempotency idempotency.Records

	next   http.Handler // route, wrapped in Middleware
	bodies *bodyMemory
	// issuerFailures counts the failed calls of CallIssuer, issuerTurns the calls that wait for their turn, and
	// issuerCalls those in flight.
	issuerFailures, issuerTurns *ratelimit.Limiter
	issuerCalls                 *semaphore.Weighted
	mux                         *http.ServeMux
	// operations maps the patterns of routes to the operations.
	operations         map[string]api.Spec
	retiring, draining atomic.Bool
	drained            chan struct{} // closed by Drain
}

// New returns a Handler.
func New(o Options) *Handler {
	h := &Handler{
		Options: o, bodies: newBodyMemory(int64(cmp.Or(o.BodyMemory, defaultBodyMemory))), drained: make(chan struct{}),
		mux: http.NewServeMux(), operations: map[string]api.Spec{}, issuerFailures: o.Limiter, issuerTurns: ratelimit.New(issuerPace),
	}
	if h.issuerFailures == nil {
		h.issuerFailures = ratelimit.New(defaultIssuerFailures)
	}
	h.issuerCalls = semaphore.NewWeighted(int64(min(maxIssuerCalls, h.issuerFailures.Requests)))
	for _, op := range account.Operations() {
		if !o.PublishedOnly || !op.Lifecycle() {
			pattern := op.Method + " " + op.Path
			h.operations[pattern] = op.Spec
			h.mux.Handle(pattern, &operation{h, op})
		}
	}
	h.verificationPages()
	h.paymentPages()
	h.health()
	h.next = http.HandlerFunc(h.route)
	if h.Middleware != nil {
		h.next = h.Middleware(h.next)
	}
	return h
}

// Offers implements apiserver.Service.Offers.
func (h *Handler) Offers(operationID string) bool {
	for _, s := range h.operations {
		if s.ID == operationID {
			return true
		}
	}
	return false
}

// Ready implements apiserver.Service.Ready.
func (h *Handler) Ready(ctx context.Context) error {
	if h.retiring.Load() || h.draining.Load() {
		return errors.New("draining")
	}
	err := h.Rules.Store.Ping(ctx)
	if err == nil {
		return nil
	}
	if lost, ok := errors.AsType[*store.LostError](err); ok {
		return errors.New("the database file " + lost.Reason)
	}
	if schema, ok := errors.AsType[*store.SchemaError](err); ok {
		return schema
	}
	return errors.New("the database does not respond")
}

// Retire implements apiserver.Service.Retire.
func (h *Handler) Retire() { h.retiring.Store(true) }

// Drain implements apiserver.Service.Drain.
func (h *Handler) Drain() {
	if !h.draining.Swap(true) {
		close(h.drained)
	}
}

// Draining returns the channel that Drain closes.
func (h *Handler) Draining() <-chan struct{} { return h.drained }

// HealthPath is the path prefix of the health checks.
const HealthPath = "/healthz/"

// health serves the health checks.
func (h *Handler) health() {
	h.mux.HandleFunc("GET "+HealthPath+"live", func(w http.ResponseWriter, _ *http.Request) { writeHealth(w, http.StatusOK, "live") })
	h.mux.HandleFunc("GET "+HealthPath+"ready", func(w http.ResponseWriter, r *http.Request) {
		if err := h.Ready(r.Context()); err != nil {
			w.Header().Set("Retry-After", "1")
			writeHealth(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		writeHealth(w, http.StatusOK, "ready")
	})
}

func writeHealth(w http.ResponseWriter, status int, state string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": state})
}
