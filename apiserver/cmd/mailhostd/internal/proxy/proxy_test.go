package proxy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/proxy"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// host is a host of the API that may differ from the contract.
type host struct {
	*apitest.Server // the API itself
	proxy           *proxy.Proxy
	client          *apitest.Client // through the proxy
}

// response is what a host changes before it sends it.
type response struct {
	request *http.Request
	status  int
	header  http.Header
	body    string
}

// json changes the body as a JSON value.
func (r *response) json(change func(o apitest.Object)) {
	var o apitest.Object
	dec := json.NewDecoder(strings.NewReader(r.body))
	dec.UseNumber()
	if dec.Decode(&o) == nil {
		change(o)
		text, _ := json.Marshal(o)
		r.body = string(text)
	}
}

// first changes the first object of a page.
func (r *response) first(change func(o apitest.Object)) {
	r.json(func(o apitest.Object) {
		if items, _ := o["items"].([]any); len(items) > 0 {
			change(items[0].(apitest.Object))
		}
	})
}

// newHost starts the API behind changes by operation id, and a proxy in front of both.
func newHost(t *testing.T, readOnly bool, changes map[string]func(*response)) *host {
	t.Helper()
	h := &host{Server: apitest.New(t)}
	handler := h.Service.Handler()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		handler.ServeHTTP(recorded, r)
		out := &response{r, recorded.Code, recorded.Header(), recorded.Body.String()}
		if s, ok := conformance.OperationOf(r); ok && changes[s.ID] != nil {
			changes[s.ID](out)
		}
		maps.Copy(w.Header(), out.header)
		w.WriteHeader(out.status)
		_, _ = io.WriteString(w, out.body)
	}))
	t.Cleanup(upstream.Close)
	u, err := url.Parse(upstream.URL)
	assert.NilError(t, err)
	h.proxy = proxy.New(u, readOnly)
	front := httptest.NewServer(h.proxy)
	t.Cleanup(front.Close)
	token, err := h.Service.IssueOwnerToken(t.Context(), apitest.AccountID, "owner")
	assert.NilError(t, err)
	h.client = &apitest.Client{T: t, HTTP: front.Client(), URL: front.URL, Account: apitest.AccountID, Token: token}
	return h
}

// send sends a request through the proxy. It does not check the response: the proxy does.
func (h *host) send(method, path string, body any, headers ...string) *apitest.Response {
	h.T.Helper()
	r, err := h.client.Try(h.T.Context(), method, path, body, headers...)
	assert.Assert(h.T, r != nil, "%s %s: %v", method, path, err) // the body may be no JSON
	return r
}

// tour calls each operation, the lists page by page, and then some operations with requests that are refused.
func (h *host) tour(t *testing.T) map[string]int {
	statuses := map[string]int{}
	h.Domain("example.com")
	h.Mailbox("example.com", "jane")
	h.Mailbox("example.com", "john")
	h.Workspace("Sales")
	for i, s := range slices.SortedStableFunc(slices.Values(api.Specs()), func(a, b api.Spec) int { return late(a) - late(b) }) {
		domain := fmt.Sprintf("d%d.com", i)
		h.Domain(domain)
		path := strings.TrimPrefix(s.Path, api.Prefix)
		for _, parameter := range s.PathParameters()[1:] {
			path = strings.Replace(path, "{"+parameter+"}", h.object(parameter, domain), 1)
		}
		var body any
		if s.Body() != nil {
			body = sample.Body(s)
			if s.ID == api.GrantAuthorization.ID {
				body = sample.Of(s.Kind).New("", domain)
			}
		}
		if _, paged := s.Request.FieldByName("PageSize"); paged {
			for page := 1; page <= 3; page++ {
				h.send(s.Method, fmt.Sprintf("%s?page=%d&page_size=2", path, page), nil)
			}
		}
		if s.ID == api.CheckDomainAvailability.ID {
			path += "?name=free.com"
		}
		headers := []string{"X-Test", "1"}
		if s.Keyed() {
			headers = []string{api.IdempotencyKeyHeader, fmt.Sprintf("00000000-0000-4000-8000-%012d", i)}
		}
		statuses[s.ID] = h.send(s.Method, path, body, headers...).Status
		if s.Keyed() && s.Method == http.MethodPost {
			h.send(s.Method, path, body, headers...) // again
		}
		if s.Body() != nil {
			h.send(s.Method, path, apitest.Object{})
			h.send(s.Method, path, "[")
		}
		if len(s.PathParameters()) > 1 {
			for _, parameter := range s.PathParameters()[1:] {
				path = strings.Replace(strings.TrimPrefix(s.Path, api.Prefix), "{"+parameter+"}", apitest.UnknownID, 1)
			}
			h.send(s.Method, path, body)
		}
		h.send(s.Method, path, body, "Authorization", "")
	}
	return statuses
}

// late sorts the operation after which nothing may be changed last.
func late(s api.Spec) int {
	if s.ID == api.CancelPlan.ID {
		return 1
	}
	return 0
}

func (h *host) object(parameter, domain string) string {
	switch parameter {
	case "domain":
		return domain
	case "workspace_id":
		return h.Workspace(domain)
	}
	return h.Sample(parameter, domain)
}

// lines returns the findings, each in one line without the count.
func lines(r proxy.Report) (lines []string) {
	for _, f := range r.Findings {
		lines = append(lines, f.Operation+" | "+f.Place+" | "+f.Expected+" | "+f.Received)
	}
	return lines
}

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

// TestDifferences checks that the proxy names each difference of a host, and nothing else.
func TestDifferences(t *testing.T) {
	t.Parallel()
	const times = "a time in UTC with microseconds, 0000-00-00T00:00:00.000000Z"
	var first apitest.Object // the first page of a list that repeats it
	differences := []struct {
		operation string
		change    func(*response)
		want      []string
	}{
		{"create-mailbox", func(r *response) {
			if r.status == 201 {
				r.status = 200
			}
		}, []string{"status | 201, 401, 403, 409, 413, 415, 422, 429, 500 or 503 | 200"}},
		{"get-mailbox", func(r *response) {
			r.json(func(o apitest.Object) { setIf(o, "status", "suspended") })
		}, []string{"response body /status | provisioning, active, paused or deleting | suspended"}},
		{"list-mailboxes", func(r *response) {
			r.first(func(o apitest.Object) { o["quota"].(apitest.Object)["used"] = "0" })
		}, []string{"response body /items/*/quota/used | integer | string"}},
		{"update-mailbox", func(r *response) {
			r.json(func(o apitest.Object) {
				for _, optional := range []string{"aliases", "workspace_id", "workspace_name"} {
					delete(o, optional)
				}
				delete(o, "domain_name")
			})
		}, []string{"response body /domain_name | a member | none"}},
		{"create-mailboxes", func(r *response) {
			r.json(func(o apitest.Object) { setIf(o, "failed", []any{}); setIf(o, "created", []any{}) })
		}, []string{"response body | each item of the request once, by its index | an item is missing"}},
		{"export-mailboxes", func(r *response) { r.body = strings.Replace(r.body, "id,primary_email", "id,email", 1) }, []string{
			"response body, first line | " + strings.Join(api.ExportColumns, ",") + " | other columns",
		}},
		{"delete-mailbox", func(r *response) {
			if r.status == 404 {
				r.body = "<html>not found</html>"
				r.header.Set("Content-Type", "text/html")
			}
		}, []string{"header Content-Type | application/json | text/html"}},
		{"list-domains", func(r *response) {
			r.first(func(o apitest.Object) { o["created_at"] = "2026-11-29T10:00:00Z" })
		}, []string{"response body /items/*/created_at | " + times + " | 0000-00-00T00:00:00Z"}},
		{"get-domain", func(r *response) {
			r.json(func(o apitest.Object) { setIf(o, "updated_at", "2026-11-29T10:00:00.000000+01:00") })
		}, []string{"response body /updated_at | " + times + " | 0000-00-00T00:00:00.000000+00:00"}},
		{"update-domain", func(r *response) {
			if r.status == 422 {
				r.status = 400
			}
		}, []string{"status | 200, 401, 403, 404, 409, 413, 415, 422, 429, 500 or 503 | 400"}},
		{"purchase-domains", func(r *response) {
			r.json(func(o apitest.Object) { setIf(o, "successful_count", 7) })
		}, []string{"response body /successful_count | the number of such results | 7 of 1"}},
		{"check-domain-availability", func(r *response) {
			r.json(func(o apitest.Object) { setIf(o, "price", 12.5) })
		}, []string{"response body /price | string or null | number"}},
		{"list-forwarding", func(r *response) {
			r.json(func(o apitest.Object) {
				if n, ok := o["total"].(json.Number); ok {
					total, _ := n.Int64()
					o["total"] = total + 1
				}
			})
		}, []string{"response body /total | the number of all objects of the list | *"}},
		{"create-forwarding", func(r *response) {
			r.json(func(o apitest.Object) {
				if o["id"] != nil {
					o["owner"] = apitest.Object{"jane@example.com": 1}
				}
			})
		}, []string{"response body /owner | no such member | object"}},
		{"get-forwarding", func(r *response) { r.header.Set("Content-Type", "text/plain; charset=utf-8") }, []string{
			"header Content-Type | application/json | text/plain",
		}},
		{"list-master-passwords", func(r *response) {
			r.first(func(o apitest.Object) { o["id"] = "jane" })
		}, []string{"response body /items/*/id | a UUID in lower case | other text"}},
		{"get-master-password", func(r *response) {
			r.json(func(o apitest.Object) { setIf(o, "name", nil) })
		}, []string{"response body /name | string | null"}},
		{"list-workspaces", func(r *response) {
			if r.request.URL.Query().Get("page_size") == "2" {
				r.json(func(o apitest.Object) {
					o["page_size"] = 1
					if items := o["items"].([]any); len(items) > 1 {
						o["items"] = items[:1]
					}
				})
			}
		}, []string{"response body /page_size | the requested page_size | 1 for page_size 2"}},
		{"get-workspace", func(r *response) {
			if r.status == 404 {
				r.body = `{"detail":[{"loc":["path"],"type":"not_found"}]}`
			}
		}, []string{"response body /detail/*/msg | a member | none"}},
		{"create-workspace", func(r *response) { r.header.Del(api.IdempotencyReplayedHeader) }, []string{
			"header Idempotency-Replayed | true, because the same request has succeeded before | no header",
		}},
		{"list-dns-records", func(r *response) {
			if r.request.URL.Query().Get("page") == "2" {
				r.json(func(o apitest.Object) { o["items"] = first["items"] })
			} else {
				r.json(func(o apitest.Object) { first = o })
			}
		}, []string{"response body /items/*/id | each object once | an object of an earlier page"}},
		{"create-dns-record", func(r *response) {
			r.json(func(o apitest.Object) {
				if id, ok := o["id"].(json.Number); ok {
					o["id"] = id.String()
				}
			})
		}, []string{"response body /id | integer | string"}},
		{"delete-dns-record", func(r *response) {
			if r.status == 204 {
				r.status, r.body = 200, "{}"
			}
		}, []string{"status | 204, 401, 403, 404, 409, 422, 429, 500 or 503 | 200"}},
		{"list-service-accounts", func(r *response) {
			r.json(func(o apitest.Object) { setIf(o, "items", nil) })
		}, []string{"response body /items | array | null"}},
		{"get-account", func(r *response) {
			if r.status == 401 {
				r.header.Del("WWW-Authenticate")
			}
		}, []string{"header WWW-Authenticate | a value | no header"}},
		{"get-service-account", func(r *response) { r.header.Del("X-Request-Id") }, []string{"header X-Request-Id | a value | no header"}},
		{"list-dedicated-ips", func(r *response) {
			r.first(func(o apitest.Object) { o["ip_addresses"] = "198.51.100.1" })
		}, []string{"response body /items/*/ip_addresses | array | string"}},
		{"claim-dedicated-ip", func(r *response) {
			if r.status == 422 {
				r.status, r.body = 503, `{"detail":[{"loc":["body"],"msg":"m","type":"unavailable"}]}`
				r.header.Set("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")
			}
		}, []string{"header Retry-After | a whole number | other text"}},
		{"submit-feedback", func(r *response) {
			r.json(func(o apitest.Object) { setIf(o, "submitter_email", "nobody") })
		}, []string{"response body /submitter_email | an email address | other text"}},
		{"change-plan", func(r *response) { r.status, r.body = 404, "<html>" }, nil}, // absent, and published
		{"get-caller", func(r *response) { r.status, r.body = 501, "" }, nil},        // absent
		{"get-dns-record", func(r *response) {
			r.status, r.body = 404, `{"detail":[{"loc":["path"],"msg":"m","type":"not_found"}]}`
			r.header.Set("Content-Type", "application/json")
		}, nil}, // absent, although the host shows the record
	}
	changes, want := map[string]func(*response){}, []string{}
	for _, d := range differences {
		changes[d.operation] = d.change
		for _, line := range d.want {
			want = append(want, d.operation+" | "+line)
		}
	}
	h := newHost(t, false, changes)
	h.tour(t)
	// The host shows a record that it does not find.
	h.send("GET", "/dns-records", nil)
	record := h.send("GET", "/dns-records", nil).At("items.0.id").(float64)
	h.send("GET", "/dns-records/"+strconv.Itoa(int(record)), nil)
	r := h.proxy.Report()
	got := lines(r)
	for i, line := range got {
		if strings.Contains(line, "| the number of all objects of the list |") {
			got[i] = line[:strings.LastIndex(line, "|")] + "| *"
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	assert.Check(t, is.DeepEqual(got, want))
	assert.Check(t, r.Differs && len(want) >= 20)
	states := map[string]string{}
	for _, op := range r.Operations {
		states[op.ID] = op.State
	}
	for operation, state := range map[string]string{
		"change-plan": proxy.Absent, "get-caller": proxy.Absent, "get-dns-record": proxy.Absent, "list-mailboxes": proxy.Differs, "cancel-plan": proxy.Agrees,
	} {
		assert.Check(t, is.Equal(states[operation], state), operation)
	}
	text, err := json.Marshal(r)
	assert.NilError(t, err)
	for _, secret := range []string{h.client.Token, "jane", "example.com", apitest.AccountID, "198.51"} {
		assert.Check(t, !bytes.Contains(text, []byte(secret)), "the report contains %q", secret)
	}
}

func setIf(o apitest.Object, name string, value any) {
	if _, ok := o[name]; ok {
		o[name] = value
	}
}

// TestReadOnly checks that only requests that change nothing reach the host.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	h := newHost(t, true, nil)
	h.Domain("example.com")
	h.Mailbox("example.com", "jane")
	before := apitest.Content(t, h.Service)
	for _, s := range api.Specs() {
		path := strings.TrimPrefix(s.Path, api.Prefix)
		for _, parameter := range s.PathParameters()[1:] {
			path = strings.Replace(path, "{"+parameter+"}", apitest.UnknownID, 1)
		}
		var body any
		if s.Body() != nil {
			body = sample.Body(s)
		}
		r := h.send(s.Method, path, body)
		if !s.Changes() {
			assert.Check(t, r.Status != http.StatusForbidden, "%s: %s", s.ID, r)
			continue
		}
		r.Refused(http.StatusForbidden, "path permission_denied").Says("mailhostd proxy --read-only", s.ID, "nothing has changed")
	}
	h.send("PUT", "/mailboxes/jane@example.com", nil).Refused(http.StatusForbidden, "path permission_denied").Says("a PUT")
	assert.Check(t, is.Equal(apitest.Content(t, h.Service), before))
	for i, op := range h.proxy.Report().Operations {
		changes := api.Specs()[i].Changes()
		assert.Check(t, changes == (op.Blocked == 1) && changes == (op.State == proxy.NotSeen) && changes == (op.Requests == 0), "%+v", op)
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
			_, _ = io.WriteString(w, strings.Repeat("x", 100)+"\r\n")
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
