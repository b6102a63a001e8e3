package control_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
)

const accountID = apitest.AccountID

var workspaceID = api.DefaultWorkspaceID(accountID)

// harness is a service with its control plane, and two clients of the account's owner.
type harness struct {
	*testing.T
	plane   *control.Plane
	service *apiserver.Service
	handler http.Handler // of the control plane
	// network sends requests over a socket, inProcess through the service's own client.
	network, inProcess caller
}

// caller is a client that does not check responses against the API's document, because faults
// change them.
type caller struct{ *apitest.Client }

func newHarness(t *testing.T, configure ...func(*apiserver.Options)) *harness {
	t.Helper()
	h := &harness{T: t, plane: new(control.Plane)}
	s := apitest.New(t, append([]func(*apiserver.Options){func(o *apiserver.Options) {
		o.Clock, o.Middleware = h.plane.Clock.Now, h.plane.Middleware
	}}, configure...)...)
	h.service, h.handler = s.Service, h.plane.Handler(s.Service)
	h.network = caller{s.Listen()}
	t.Cleanup(h.plane.Faults.Clear) // runs before the server waits for held requests
	h.inProcess = caller{s.As(h.network.Token)}
	h.inProcess.URL = "http://in.process"
	return h
}

// both runs a test over the network and in process, each with a new harness.
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
	// err is set if the response was not received completely.
	err error
}

func (a response) json(t *testing.T, v any) {
	t.Helper()
	err := json.Unmarshal([]byte(a.body), v)
	assert.Assert(t, err == nil, "%v in %s", err, a.body)
}

// do sends a request; headers are alternating names and values.
func (c caller) do(method, path, body string, headers ...string) response {
	var sent any
	if body != "" {
		sent = body
	}
	return received(c.Try(c.T.Context(), method, path, sent, headers...))
}

func (c caller) send(r *http.Request) response {
	r.Header.Set("Authorization", "Bearer "+c.Token)
	r.Header.Set("Content-Type", "application/json")
	return received(c.Send(r))
}

func received(r *apitest.Response, err error) response {
	if r == nil {
		return response{err: err}
	}
	return response{r.Status, r.Header, string(r.Raw), err}
}

// must is do, and fails the test unless the request succeeds.
func (c caller) must(method, path, body string, headers ...string) response {
	c.T.Helper()
	a := c.do(method, path, body, headers...)
	if a.err != nil || a.status >= 300 {
		c.T.Fatalf("%s %s: %+v", method, path, a)
	}
	return a
}

// later is do in a new goroutine.
func (c caller) later(method, path, body string, headers ...string) <-chan response {
	responses := make(chan response, 1)
	go func() { responses <- c.do(method, path, body, headers...) }()
	return responses
}

func (c caller) total(path string) int {
	c.T.Helper()
	total, _ := c.Get(path).Want(http.StatusOK).At("total").(float64)
	return int(total)
}

func mailbox(localPart string) string {
	return `{"domain":"example.com","local_part":"` + localPart + `","first_name":"F","last_name":"L"}`
}

// call sends a request to the plane's handler.
func (h *harness) call(method, path, body string, headers ...string) (status int, result map[string]any) {
	h.Helper()
	w := h.raw(method, path, body, headers...)
	if w.Body.Len() > 0 {
		assert.NilError(h, json.Unmarshal(w.Body.Bytes(), &result), "%s %s", method, path)
	}
	return w.Code, result
}

func (h *harness) advance(d time.Duration) {
	h.Helper()
	assert.NilError(h, h.plane.Clock.Advance(d))
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

// want is call, and checks the status code.
func (h *harness) want(status int, method, path, body string) map[string]any {
	h.Helper()
	got, result := h.call(method, path, body)
	assert.Assert(h, got == status, "%s %s: %d %v, want %d", method, path, got, result, status)
	return result
}
