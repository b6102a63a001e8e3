package control

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/route"
)

// entry is one of the handler's table, which GET / tells.
type entry struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	About  string `json:"about"`

	serve func(http.ResponseWriter, *http.Request) error
}

// server answers the requests to a plane.
type server struct {
	*Plane
	service *apiserver.Service
}

// Handler serves the plane of a service over HTTP. GET / lists what there is.
// Bodies are JSON; an error is {"error": "…"}.
func (p *Plane) Handler(s *apiserver.Service) http.Handler {
	h := server{p, s}
	mux := http.NewServeMux()
	for _, r := range h.routes() {
		pattern := r.Method + " " + r.Path
		if r.Path == "/" {
			pattern += "{$}" // it alone, not all that is below
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) {
			if err := r.serve(w, req.WithContext(apiserver.AsControlPlane(req.Context()))); err != nil {
				refuse(w, err)
			}
		})
	}
	return ownOrigin(routed(mux))
}

func (h server) routes() []entry {
	return []entry{
		{http.MethodGet, "/", "this list", h.list},
		{http.MethodGet, "/healthz", "answers once the service runs", h.health},
		{http.MethodGet, "/faults", "the faults, with what they have done", h.listFaults},
		{http.MethodPost, "/faults", `adds a fault, such as {"operation": "create-mailbox", "nth": 2, "drop": "after"}`, h.addFault},
		{http.MethodDelete, "/faults", "removes all faults", h.clearFaults},
		{http.MethodGet, "/faults/{id}", "one fault; with ?held=1 once it holds a request, or after ?timeout=10s", h.showFault},
		{http.MethodDelete, "/faults/{id}", "removes a fault and lets go what it holds", h.removeFault},
		{http.MethodPost, "/faults/{id}/release", "lets go what a fault holds right now", h.releaseFault},
		{http.MethodGet, "/journal", "the newest requests; ?operation=, ?status= and ?since= (a seq) select", h.showJournal},
		{http.MethodDelete, "/journal", "forgets them", h.clearJournal},
		{http.MethodGet, "/outbox", "the newest messages, oldest first", h.outbox},
		{http.MethodGet, "/clock", "the service's time", h.showClock},
		{http.MethodPost, "/clock", `moves it: {"advance": "72h"} or {"set": "2030-01-01T00:00:00Z"}`, h.moveClock},
		{http.MethodGet, "/fixture", "all accounts and rules as a fixture, but for what is secret", h.dumpFixture},
		{http.MethodPost, "/fixture", "makes the accounts of a fixture that do not exist, and lets its rules hold", h.loadFixture},
		{http.MethodPost, "/accounts", `makes an account, {"account_id": …} or {}, and tells its token`, h.initAccount},
		{http.MethodPost, "/payments/{purchase_batch_id}", "settles the payment of a purchase", h.settlePayment},
		{http.MethodPost, "/reset", "deletes everything and loads the fixture that the service was started with", h.reset},
	}
}

func (h server) list(w http.ResponseWriter, _ *http.Request) error {
	return write(w, http.StatusOK, map[string]any{"routes": h.routes()})
}

func (h server) health(w http.ResponseWriter, _ *http.Request) error {
	return write(w, http.StatusOK, map[string]string{"status": "live"})
}

// routed answers for a mux in JSON where that has no route.
func routed(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pattern, allow := route.Of(mux, r)
		switch {
		case pattern != "":
			mux.ServeHTTP(w, r)
		case allow != "":
			w.Header().Set("Allow", allow)
			refuse(w, &httpError{http.StatusMethodNotAllowed, errors.New("this path has no " + r.Method + "; see the Allow header")})
		default:
			refuse(w, &httpError{http.StatusNotFound, errors.New("there is no such path; GET / lists those that there are")})
		}
	})
}

// httpError is an error with the status to tell it with.
type httpError struct {
	status int
	error
}

// Unwrap lets errors.As see the cause.
func (e *httpError) Unwrap() error { return e.error }

// invalid says that an error is about the request.
func invalid(err error) error { return &httpError{http.StatusUnprocessableEntity, err} }

// refuse answers with an error.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var told *httpError
	var tooLarge *http.MaxBytesError
	var inUse *apiserver.AccountInUseError
	var busy *BusyError
	switch {
	case errors.As(err, &tooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.As(err, &told):
		status = told.status
	case errors.Is(err, fault.ErrNotFound), errors.Is(err, apiserver.ErrNoPurchase):
		status = http.StatusNotFound
	case errors.As(err, &inUse), errors.As(err, &busy):
		status = http.StatusConflict
	}
	_ = write(w, status, map[string]string{"error": err.Error()})
}

// write answers with JSON. That it can't be sent any more is no matter.
func write(w http.ResponseWriter, status int, body any) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body)
	return nil
}
