package control_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

const accountID = "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"

var workspaceID = api.DefaultWorkspaceID(accountID)

// harness is a service with its plane, an account, and two ways to it.
type harness struct {
	*testing.T
	plane   *control.Plane
	service *apiserver.Service
	handler http.Handler // of the plane
	// network and inProcess call the service as the account's owner.
	network, inProcess caller
}

// caller calls a service.
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
	// net/http sends a GET again whose connection was dropped, unless the
	// connection is a new one.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	h.network = caller{t, client, server.URL, token}
	h.inProcess = caller{t, h.service.Client(), "http://in.process", token}
	return h
}

// both runs a test over a network and in process, each with a harness of its own.
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

// answer is what a caller got.
type answer struct {
	status int
	header http.Header
	body   string
	// err is why it could not be read to its end, or at all.
	err error
}

func (a answer) json(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
}

// do sends a request; headers are names and values in turn.
func (c caller) do(method, path, body string, headers ...string) (a answer) {
	r, err := http.NewRequestWithContext(c.Context(), method, c.url+strings.Replace(api.Prefix, "{account_id}", accountID, 1)+path, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	return c.send(r, headers...)
}

func (c caller) send(r *http.Request, headers ...string) (a answer) {
	r.Header.Set("Authorization", "Bearer "+c.token)
	if r.Method != http.MethodGet {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	var text bytes.Buffer
	_, err = io.Copy(&text, resp.Body)
	return answer{resp.StatusCode, resp.Header, text.String(), err}
}

// must is do for a request that succeeds.
func (c caller) must(method, path, body string, headers ...string) answer {
	c.Helper()
	a := c.do(method, path, body, headers...)
	if a.err != nil || a.status >= 300 {
		c.Fatalf("%s %s: %+v", method, path, a)
	}
	return a
}

// later sends a request in the background.
func (c caller) later(method, path, body string, headers ...string) <-chan answer {
	answers := make(chan answer, 1)
	go func() { answers <- c.do(method, path, body, headers...) }()
	return answers
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

// ask sends a request to the plane.
func (h *harness) ask(method, path, body string, headers ...string) (status int, answer map[string]any) {
	h.Helper()
	w := h.raw(method, path, body, headers...)
	if w.Body.Len() > 0 {
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			h.Fatalf("%s %s: %v", method, path, err)
		}
	}
	return w.Code, answer
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

// wants checks what the plane answers, and returns it.
func (h *harness) wants(status int, method, path, body string) map[string]any {
	h.Helper()
	got, answer := h.ask(method, path, body)
	if got != status {
		h.Fatalf("%s %s: %d %v, want %d", method, path, got, answer, status)
	}
	return answer
}
