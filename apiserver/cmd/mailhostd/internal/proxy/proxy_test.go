package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/proxy"
)

// TestTheAPIAgrees checks that the proxy finds nothing in the API's own responses to all operations.
func TestTheAPIAgrees(t *testing.T) {
	t.Parallel()
	h := newHost(t, false, nil)
	statuses := h.tour(t)
	r := h.proxy.Report()
	assert.Check(t, is.DeepEqual(lines(r), []string(nil)))
	assert.Check(t, !r.Differs && r.Outside == 0 && r.Unreachable == 0 && r.Unfinished == 0, "%+v", r)
	for i, op := range r.Operations {
		s := api.Specs()[i]
		assert.Check(t, op.ID == s.ID && op.Number == s.Number && op.State == proxy.Agrees && op.Requests > 1 && op.Blocked == 0, "%+v", op)
		assert.Check(t, is.Equal(statuses[s.ID], s.Status), "%s", s.ID)
	}
}

// TestOtherRequests checks requests that are for no operation, or get no response, and an interrupted one.
func TestOtherRequests(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Check(t, r.Header.Get("Authorization") == "Bearer t" && r.Header.Get("Accept-Encoding") == "" && r.Header.Get("X-Forwarded-For") == "", "%v", r.Header)
		if strings.HasSuffix(r.URL.Path, "/domains") {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
			return
		}
		_, _ = io.WriteString(w, r.URL.String())
	}))
	defer upstream.Close()
	u, err := url.Parse(upstream.URL + "/mail")
	assert.NilError(t, err)
	p := proxy.New(u, false)
	front := httptest.NewServer(p)
	defer front.Close()
	send := func(method, path string) string {
		r, err := http.NewRequestWithContext(t.Context(), method, front.URL+path, nil)
		assert.NilError(t, err)
		r.Header.Set("Authorization", "Bearer t")
		response, err := front.Client().Do(r)
		assert.NilError(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return fmt.Sprintf("%d %s %v", response.StatusCode, body, err)
	}
	const account = "/v1/public/accounts/" + apitest.AccountID
	assert.Check(t, is.Equal(send("GET", "/healthz/live?a=1;b=%zz"), "200 /mail/healthz/live?a=1;b=%zz <nil>"))
	assert.Check(t, is.Equal(send("PUT", account+"/mailboxes/a%2Fb@example.com"), "200 /mail"+account+"/mailboxes/a%2Fb@example.com <nil>"))
	assert.Check(t, is.Equal(send("HEAD", account), "200  <nil>"))
	assert.Check(t, strings.HasPrefix(send("GET", account+"/domains"), "200 { unexpected EOF"))
	upstream.Close()
	assert.Check(t, strings.HasPrefix(send("GET", account+"/mailboxes"), `502 {"detail":[{"loc":["header"],"msg":"mailhostd proxy has got no response from 127.0.0.1:`))
	r := p.Report()
	assert.Check(t, r.Outside == 3 && r.Unreachable == 1 && r.Unfinished == 1 && len(r.Findings) == 0 && r.Requests() == 2 && !r.Differs, "%+v", r)
}

// TestStream checks that an export reaches the client row by row, and that a host may respond before it has
// read the request.
func TestStream(t *testing.T) {
	t.Parallel()
	more := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "r")
		if strings.HasSuffix(r.URL.Path, "/bulk") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			_, _ = io.WriteString(w, `{"detail":[{"loc":["body"],"msg":"m","type":"payload_too_large"}]}`)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		w.Header().Set("Content-Disposition", `attachment; filename="a.csv"`)
		_, _ = io.WriteString(w, strings.Join(api.ExportColumns, ",")+"\r\n")
		_ = http.NewResponseController(w).Flush()
		<-more
		for range 1000 {
			_, _ = io.WriteString(w, apitest.UnknownID+",a@example.com,"+strings.Repeat("A", 40)+",B,example.com,active,1,0,Default,2026-01-01T00:00:00.000000Z\r\n")
		}
	}))
	defer upstream.Close()
	u, err := url.Parse(upstream.URL)
	assert.NilError(t, err)
	p := proxy.New(u, true)
	front := httptest.NewServer(p)
	defer front.Close()
	post := func(path string, body io.Reader) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), "POST", front.URL+"/v1/public/accounts/"+apitest.AccountID+path, body)
		assert.NilError(t, err)
		r.Header.Set("Authorization", "Bearer t")
		response, err := front.Client().Do(r)
		assert.NilError(t, err)
		return response
	}
	response := post("/mailboxes/export", strings.NewReader("{}"))
	line, err := bufio.NewReaderSize(response.Body, 16).ReadString(',')
	assert.Check(t, line == "id," && err == nil, "%q, %v", line, err)
	close(more)
	rest, err := io.ReadAll(response.Body)
	assert.Check(t, len(rest) > 100_000 && err == nil, "%d, %v", len(rest), err)
	assert.NilError(t, response.Body.Close())
	assert.Check(t, is.DeepEqual(lines(p.Report()), []string(nil)))
	assert.Check(t, is.Equal(p.Report().Unfinished, 0))

	writable := proxy.New(u, false)
	front.Config.Handler = writable
	response = post("/mailboxes/bulk", bytes.NewReader(make([]byte, 8<<20)))
	_, _ = io.Copy(io.Discard, response.Body)
	assert.Check(t, response.StatusCode == http.StatusRequestEntityTooLarge)
	assert.NilError(t, response.Body.Close())
	assert.Check(t, is.DeepEqual(lines(writable.Report()), []string(nil)))
}

// TestConcurrentClients checks that the proxy finds nothing while clients create, list and delete at the same time.
func TestConcurrentClients(t *testing.T) {
	t.Parallel()
	h := newHost(t, false, nil)
	h.Domain("example.com")
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for n := range 6 {
				address := fmt.Sprintf("u%d-%d", i, n)
				for _, request := range []struct {
					method, path string
					body         any
				}{
					{"GET", "/mailboxes/" + address + "@example.com", nil},
					{"POST", "/mailboxes", apitest.Object{"domain": "example.com", "local_part": address, "first_name": "A", "last_name": "B"}},
					{"GET", "/mailboxes?page=1&page_size=3", nil},
					{"GET", "/mailboxes?page=2&page_size=3", nil},
					{"GET", "/mailboxes/" + address + "@example.com", nil},
					{"DELETE", "/mailboxes/" + address + "@example.com", nil},
					{"DELETE", "/mailboxes/" + address + "@example.com", nil},
				} {
					_, err := h.client.Try(t.Context(), request.method, request.path, request.body)
					assert.Check(t, err)
					h.proxy.Report()
				}
			}
		})
	}
	clients.Wait()
	r := h.proxy.Report()
	assert.Check(t, is.DeepEqual(lines(r), []string(nil)))
	assert.Check(t, !r.Differs && r.Requests() == 8*6*7, "%+v", r)
}
