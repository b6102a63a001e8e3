package control

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/route"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/spelling"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/strictjson"
)

// endpoint is an entry of the list at GET /.
type endpoint struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	About  string `json:"about"`
	// Query lists the accepted parameters. Other parameters are refused.
	Query []string `json:"query,omitempty"`

	body any // has the type of the body; nil refuses a body
	// serve returns the response body, nil for none.
	serve func(*http.Request) (any, error)
}

// created is the body of a 201, with its Location or "".
type created struct {
	body     any
	location string
}

// server implements the handlers for a plane and its service.
type server struct {
	*Plane
	service *apiserver.Service
}

// Handler serves the plane of a service over HTTP. GET / lists the endpoints.
// Bodies are JSON; an error is {"error": "…"}.
func (p *Plane) Handler(s *apiserver.Service) http.Handler { return rejectOtherOrigins(p.routes(s)) }

func (p *Plane) routes(s *apiserver.Service) http.Handler {
	h := server{p, s}
	mux := http.NewServeMux()
	for _, e := range h.endpoints() {
		pattern := e.Method + " " + e.Path
		if e.Path == "/" {
			pattern += "{$}" // only the root
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			r = r.WithContext(apiserver.AsControlPlane(r.Context()))
			r.Body = http.MaxBytesReader(w, r.Body, maxBytes)
			body, err := any(nil), e.check(r)
			if err == nil {
				body, err = e.serve(r)
			}
			if err != nil {
				writeError(w, err)
				return
			}
			switch body := body.(type) {
			case nil:
				w.WriteHeader(http.StatusNoContent)
			case created:
				if body.location != "" {
					w.Header().Set("Location", body.location)
				}
				write(w, http.StatusCreated, body.body)
			case page:
				body.write(w)
			default:
				write(w, http.StatusOK, body)
			}
		})
	}
	mux.HandleFunc("/accounts/{account_id}/{path...}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("account_id")
		i, ok := p.find(id)
		if !ok {
			writeError(w, &httpError{http.StatusNotFound, errors.New("there is no isolated account " + id)})
			return
		}
		http.StripPrefix("/accounts/"+id, i.control).ServeHTTP(w, r)
	})
	return jsonErrors(mux)
}

// check returns an error for an unknown parameter or an unexpected body, because a test with a
// mistake could pass for the wrong reason.
func (e endpoint) check(r *http.Request) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return invalid(err)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case !slices.Contains(e.Query, name) && e.Query == nil:
			return invalid(fmt.Errorf("unknown parameter %q; the endpoint has none", name))
		case !slices.Contains(e.Query, name):
			return invalid(fmt.Errorf("unknown parameter %q; %s", name, spelling.Allowed(name, e.Query)))
		case len(query[name]) > 1:
			return invalid(fmt.Errorf("the parameter %q is given twice", name))
		case query.Get(name) == "":
			return invalid(fmt.Errorf("the parameter %q is empty; give it a value, or leave it out", name))
		}
	}
	if e.body != nil {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if text := strings.TrimSpace(string(body)); err != nil || text != "" && text != "{}" {
		return invalid(cmp.Or(err, errors.New("the endpoint takes no body")))
	}
	return nil
}

// awaits lists the parameters of awaited lists, journalFilters those of the journal.
var (
	awaits         = []string{"count", "min_count", "max_count", "wait"}
	journalFilters = []string{"operation", "status", "since", "method", "account", "path", "body", "fault", "credential"}
)

func (h server) endpoints() []endpoint {
	return []endpoint{
		{http.MethodGet, "/", "lists the endpoints", nil, nil, h.listEndpoints},
		{http.MethodGet, "/openapi.json", "describes the control plane in OpenAPI", nil, nil, h.openAPI},
		{http.MethodGet, "/healthz", "reports that the service runs", nil, nil, h.health},
		{http.MethodGet, "/faults", "lists the faults with their counters", nil, nil, h.listFaults},
		{http.MethodPost, "/faults", `adds a fault, such as {"operation": "create-mailbox", "nth": 2, "drop": "after"}`, nil, fault.Rule{}, h.addFault},
		{http.MethodDelete, "/faults", "removes all faults", nil, nil, clearing(h.Faults.Clear)},
		{http.MethodGet, "/faults/{id}", "returns a fault; with ?held=1 it waits until the fault holds a request, up to ?timeout=10s", []string{"held", "timeout"}, nil, h.showFault},
		{http.MethodDelete, "/faults/{id}", "removes a fault and releases the requests that it holds", nil, nil, h.removeFault},
		{http.MethodPost, "/faults/{id}/release", "releases the requests that a fault holds now", nil, nil, h.releaseFault},
		{http.MethodGet, "/journal", "lists the newest requests; ?count=1, or ?min_count=1 and ?max_count=2, is an error unless as many match, and ?wait=10s waits for them", slices.Concat(journalFilters, awaits), nil, h.showJournal},
		{http.MethodDelete, "/journal", "clears the journal", nil, nil, clearing(h.Journal.Clear)},
		{http.MethodGet, "/outbox", "lists the newest messages, oldest first, to a browser as a page; ?count= and ?wait= as for the journal", slices.Concat([]string{"to", "forwarding_id"}, awaits), nil, h.outbox},
		{http.MethodGet, "/outbox/{id}", "returns the HTML of a message", nil, nil, h.messageHTML},
		{http.MethodDelete, "/outbox", "removes all messages", nil, nil, clearing(h.service.ClearOutbox)},
		{http.MethodGet, "/clock", "returns the service's time", nil, nil, h.showClock},
		{http.MethodPost, "/clock", `moves the clock: {"advance": "72h"} or {"set": "2030-01-01T00:00:00Z"}`, nil, clockChange{}, h.moveClock},
		{http.MethodGet, "/fixture", "returns all accounts and the registrar's rules as a fixture, without secrets", nil, nil, h.dumpFixture},
		{http.MethodPost, "/fixture", "creates the accounts of a fixture that do not exist, applies its rules, and says which objects were created, existing, different or missing", nil, fixture.Fixture{}, h.loadFixture},
		{http.MethodGet, "/fixture/schema", "returns the JSON schema of a fixture", nil, nil, h.fixtureSchema},
		{http.MethodGet, "/accounts", "lists the accounts", nil, nil, h.listAccounts},
		{http.MethodPost, "/accounts", `creates an account, {"isolated": true, …} or {}, and returns its token; an isolated one has a control plane at its control_url`, nil, AccountOptions{}, h.initAccount},
		{http.MethodDelete, "/accounts/{account_id}", "deletes an account with all that is in it", nil, nil, h.deleteAccount},
		{http.MethodPost, "/payments/{purchase_batch_id}", "settles the payment of a purchase", nil, nil, h.settlePayment},
		{http.MethodGet, "/snapshots", "lists the snapshots", nil, nil, h.listSnapshots},
		{http.MethodPut, "/snapshots/{name}", "saves all data, tokens included, the outbox and the clock under a name", nil, nil, h.saveSnapshot},
		{http.MethodPost, "/snapshots/{name}/load", "restores the data, the outbox and the clock of a snapshot; faults and journal stay, and requests that a fault holds are released", nil, nil, h.loadSnapshot},
		{http.MethodPost, "/reset", "deletes everything, loads the fixture that the service was started with, and creates the accounts with a chosen token again", nil, nil, h.reset},
	}
}

// clearing adapts a function that clears something to an endpoint.
func clearing(do func()) func(*http.Request) (any, error) {
	return func(*http.Request) (any, error) {
		do()
		return nil, nil
	}
}

func (h server) listEndpoints(*http.Request) (any, error) {
	return map[string]any{"routes": h.endpoints()}, nil
}

func (h server) health(*http.Request) (any, error) {
	return map[string]string{"status": "live"}, nil
}

// jsonErrors responds in JSON to requests without a route.
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

// rejectOtherOrigins protects against web pages in a browser on this machine: pages of another
// origin, and pages whose host name now resolves to this machine (DNS rebinding). A listener that
// other machines can reach accepts any host name.
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
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.IP.IsLoopback()
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

// maxBytes limits request bodies. A fixture may contain tens of thousands of mailboxes.
const maxBytes = 64 << 20

// decode decodes a JSON object strictly, and refuses empty texts. An empty body counts as {}.
func decode(r *http.Request, v any) error {
	body, err := io.ReadAll(r.Body)
	if err == nil && len(bytes.TrimSpace(body)) > 0 {
		err = strictjson.Unmarshal(body, v)
	}
	if err != nil {
		return invalid(err)
	}
	var members map[string]any
	_ = json.Unmarshal(body, &members) // decoded before
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if members[name] == "" {
			return invalid(fmt.Errorf("%s: is empty; give it a value, or leave it out", name))
		}
	}
	return nil
}

type httpError struct {
	status int
	error
}

func (e *httpError) Unwrap() error { return e.error }

// invalid returns an error with status code 422.
func invalid(err error) error { return &httpError{http.StatusUnprocessableEntity, err} }

func writeError(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var withStatus *httpError
	var tooLarge *http.MaxBytesError
	var inUse *apiserver.AccountInUseError
	switch {
	case errors.As(err, &tooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.As(err, &withStatus):
		status = withStatus.status
	case errors.Is(err, fault.ErrNotFound), errors.Is(err, apiserver.ErrNoPurchase):
		status = http.StatusNotFound
	case errors.As(err, &inUse):
		status = http.StatusConflict
	}
	write(w, status, map[string]string{"error": err.Error()})
}

// write responds with JSON. It ignores errors, because the client may have disconnected.
func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body)
}
