package control_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

const accountID = "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"

var workspaceID = api.DefaultWorkspaceID(accountID)

// harness is a service with its plane, one account and two clients.
type harness struct {
	*testing.T
	plane   *control.Plane
	service *apiserver.Service
	handler http.Handler // of the plane
	// network uses a socket, inProcess the service's own client.
	network, inProcess caller
}

// caller sends requests to a service as the account's owner.
type caller struct {
	*testing.T
	http       *http.Client
	url, token string
}

func newHarness(t *testing.T, configure ...func(*apiserver.Options)) *harness {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{T: t, plane: new(control.Plane)}
	o := apiserver.Options{Store: db, Clock: h.plane.Clock.Now, Middleware: h.plane.Middleware}
	for _, fn := range configure {
		fn(&o)
	}
	if h.service, err = apiserver.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.service.Close(); err != nil {
			t.Error(err)
		}
	})
	h.handler = h.plane.Handler(h.service)
	_, token, err := h.service.InitAccount(t.Context(), accountID, "owner")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(h.service.Handler())
	server.Config.ErrorLog = nil
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(h.plane.Faults.Clear) // before the server waits for its requests
	// net/http retries a GET whose reused connection was dropped.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	h.network = caller{t, client, server.URL, token}
	h.inProcess = caller{t, h.service.Client(), "http://in.process", token}
	return h
}

// both runs a test over the network and in process, each with its own harness.
func both(t *testing.T, test func(h *harness, c caller)) {
	t.Helper()
	for name, way := range map[string]func(*harness) caller{
		"network":    func(h *harness) caller { return h.network },
		"in process": func(h *harness) caller { return h.inProcess },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			test(h, way(h))
		})
	}
}

// response is a response as a caller received it.
type response struct {
	status int
	header http.Header
	body   string
	// err is set if the response was not received, or not completely.
	err error
}

func (a response) json(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
}

// do sends a request; headers alternates names and values.
func (c caller) do(method, path, body string, headers ...string) (a response) {
	r, err := http.NewRequestWithContext(c.Context(), method, c.url+strings.Replace(api.Prefix, "{account_id}", accountID, 1)+path, strings.NewReader(body))
	if err != nil {
		return response{err: err}
	}
	return c.send(r, headers...)
}

func (c caller) send(r *http.Request, headers ...string) (a response) {
	r.Header.Set("Authorization", "Bearer "+c.token)
	if r.Method != http.MethodGet {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return response{err: err}
	}
	defer resp.Body.Close()
	var text bytes.Buffer
	_, err = io.Copy(&text, resp.Body)
	return response{resp.StatusCode, resp.Header, text.String(), err}
}

// must is do for a request that has to succeed.
func (c caller) must(method, path, body string, headers ...string) response {
	c.Helper()
	a := c.do(method, path, body, headers...)
	if a.err != nil || a.status >= 300 {
		c.Fatalf("%s %s: %+v", method, path, a)
	}
	return a
}

// later is do in the background.
func (c caller) later(method, path, body string, headers ...string) <-chan response {
	responses := make(chan response, 1)
	go func() { responses <- c.do(method, path, body, headers...) }()
	return responses
}

func (c caller) total(path string) int {
	c.Helper()
	var page struct{ Total int }
	c.must(http.MethodGet, path, "").json(c.T, &page)
	return page.Total
}

// domain buys a domain.
func (c caller) domain(name string) {
	c.Helper()
	c.must(http.MethodPost, "/domains/purchase", `{"domains":["`+name+`"],"workspace_id":"`+workspaceID+`","contact_info":`+contact+`}`)
}

const contact = `{"address_1":"1 Way","city":"X","country":"DE","email":"registrant@example.com","first_name":"A","last_name":"B",
	"organization":"O","phone":"+4930123456","state":"S","zip":"1"}`

func mailbox(localPart string) string {
	return `{"domain":"example.com","local_part":"` + localPart + `","first_name":"F","last_name":"L"}`
}

// call sends a request to the plane's handler.
func (h *harness) call(method, path, body string, headers ...string) (status int, result map[string]any) {
	h.Helper()
	w := h.raw(method, path, body, headers...)
	if w.Body.Len() > 0 {
		if err := json.Unmarshal(w.Body.Bytes(), &result); err != nil {
			h.Fatalf("%s %s: %v", method, path, err)
		}
	}
	return w.Code, result
}

func (h *harness) advance(d time.Duration) {
	h.Helper()
	if err := h.plane.Clock.Advance(d); err != nil {
		h.Fatal(err)
	}
}

func (h *harness) raw(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(h.Context(), method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w
}

// want is call with a check of the status code.
func (h *harness) want(status int, method, path, body string) map[string]any {
	h.Helper()
	got, result := h.call(method, path, body)
	if got != status {
		h.Fatalf("%s %s: %d %v, want %d", method, path, got, result, status)
	}
	return result
}
