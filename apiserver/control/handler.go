package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/route"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/strictjson"
)

// endpoint is one entry of the list that GET / returns.
type endpoint struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	About  string `json:"about"`

	serve func(http.ResponseWriter, *http.Request) error
}

// server has the handlers for a plane and its service.
type server struct {
	*Plane
	service *apiserver.Service
}

// Handler serves the plane of a service over HTTP. GET / lists the endpoints.
// Bodies are JSON; an error is {"error": "…"}.
func (p *Plane) Handler(s *apiserver.Service) http.Handler {
	h := server{p, s}
	mux := http.NewServeMux()
	for _, e := range h.endpoints() {
		pattern := e.Method + " " + e.Path
		if e.Path == "/" {
			pattern += "{$}" // not everything below it
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := e.serve(w, r.WithContext(apiserver.AsControlPlane(r.Context()))); err != nil {
				writeError(w, err)
			}
		})
	}
	return rejectOtherOrigins(jsonErrors(mux))
}

func (h server) endpoints() []endpoint {
	return []endpoint{
		{http.MethodGet, "/", "lists the endpoints", h.listEndpoints},
		{http.MethodGet, "/healthz", "reports that the service runs", h.health},
		{http.MethodGet, "/faults", "lists the faults with their counters", h.listFaults},
		{http.MethodPost, "/faults", `adds a fault, such as {"operation": "create-mailbox", "nth": 2, "drop": "after"}`, h.addFault},
		{http.MethodDelete, "/faults", "removes all faults", h.clearFaults},
		{http.MethodGet, "/faults/{id}", "returns a fault; with ?held=1 it waits until the fault holds a request, up to ?timeout=10s", h.showFault},
		{http.MethodDelete, "/faults/{id}", "removes a fault and releases the requests that it holds", h.removeFault},
		{http.MethodPost, "/faults/{id}/release", "releases the requests that a fault holds now", h.releaseFault},
		{http.MethodGet, "/journal", "lists the newest requests; filter with ?operation=, ?status= and ?since= (a seq)", h.showJournal},
		{http.MethodDelete, "/journal", "clears the journal", h.clearJournal},
		{http.MethodGet, "/outbox", "lists the newest messages, oldest first", h.outbox},
		{http.MethodGet, "/clock", "returns the service's time", h.showClock},
		{http.MethodPost, "/clock", `moves the clock: {"advance": "72h"} or {"set": "2030-01-01T00:00:00Z"}`, h.moveClock},
		{http.MethodGet, "/fixture", "returns all accounts and the registrar's rules as a fixture, without secrets", h.dumpFixture},
		{http.MethodPost, "/fixture", "creates the accounts of a fixture that do not exist, and applies its rules", h.loadFixture},
		{http.MethodPost, "/accounts", `creates an account, {"account_id": …} or {}, and returns its token`, h.initAccount},
		{http.MethodPost, "/payments/{purchase_batch_id}", "settles the payment of a purchase", h.settlePayment},
		{http.MethodPost, "/reset", "deletes everything and loads the fixture that the service was started with", h.reset},
	}
}

func (h server) listEndpoints(w http.ResponseWriter, _ *http.Request) error {
	return write(w, http.StatusOK, map[string]any{"routes": h.endpoints()})
}

func (h server) health(w http.ResponseWriter, _ *http.Request) error {
	return write(w, http.StatusOK, map[string]string{"status": "live"})
}

// jsonErrors responds in JSON to requests for which mux has no route.
func jsonErrors(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pattern, allow := route.Of(mux, r)
		switch {
		case pattern != "":
			mux.ServeHTTP(w, r)
		case allow != "":
			w.Header().Set("Allow", allow)
			writeError(w, &httpError{http.StatusMethodNotAllowed, errors.New("this path has no " + r.Method + "; see the Allow header")})
		default:
			writeError(w, &httpError{http.StatusNotFound, errors.New("there is no such path; GET / lists the endpoints")})
		}
	})
}

// rejectOtherOrigins protects against web pages in a browser on this machine: pages
// of another origin, and pages whose host name was changed to resolve to this machine
// (DNS rebinding). A listener that other machines can reach accepts any host name.
func rejectOtherOrigins(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, &httpError{http.StatusForbidden, errors.New("web pages of another origin can't use the control plane")})
	}))
	next = protection.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if onLoopback(r) && !namesLoopback(r.Host) {
			writeError(w, &httpError{http.StatusForbidden, errors.New("on a loopback address the control plane accepts only an IP address or localhost as the host")})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// onLoopback reports whether a request arrived at a loopback address.
func onLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	address, err := netip.ParseAddrPort(local.String())
	return err == nil && address.Addr().Unmap().IsLoopback()
}

// namesLoopback reports whether a Host header is an IP address or localhost.
func namesLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	_, err = netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || strings.EqualFold(host, "localhost")
}

// The limits of request bodies. A fixture may contain tens of thousands of mailboxes.
const (
	maxFixtureBytes = 64 << 20
	maxBytes        = 16 << 10
)

// readBody returns a body other than a fixture.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
	if err != nil {
		return nil, invalid(err)
	}
	return body, nil
}

// decode decodes a JSON object strictly. An empty body counts as {}.
func decode(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := readBody(w, r)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	if err := strictjson.Unmarshal(body, v); err != nil {
		return invalid(err)
	}
	return nil
}

// httpError is an error with a status code.
type httpError struct {
	status int
	error
}

// Unwrap is for package errors.
func (e *httpError) Unwrap() error { return e.error }

// invalid returns an error with status 422.
func invalid(err error) error { return &httpError{http.StatusUnprocessableEntity, err} }

func writeError(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var withStatus *httpError
	var tooLarge *http.MaxBytesError
	var inUse *apiserver.AccountInUseError
	var busy *BusyError
	switch {
	case errors.As(err, &tooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.As(err, &withStatus):
		status = withStatus.status
	case errors.Is(err, fault.ErrNotFound), errors.Is(err, apiserver.ErrNoPurchase):
		status = http.StatusNotFound
	case errors.As(err, &inUse), errors.As(err, &busy):
		status = http.StatusConflict
	}
	_ = write(w, status, map[string]string{"error": err.Error()})
}

// write responds with JSON. It ignores that the client may have disconnected.
func write(w http.ResponseWriter, status int, body any) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body)
	return nil
}

func noContent(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}
