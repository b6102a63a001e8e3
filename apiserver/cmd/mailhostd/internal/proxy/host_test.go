package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

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

// edit changes the body as a JSON value.
func (r *response) edit(change func(value any) any) {
	var value any
	dec := json.NewDecoder(strings.NewReader(r.body))
	dec.UseNumber()
	if dec.Decode(&value) == nil {
		text, _ := json.Marshal(change(value))
		r.body = string(text)
	}
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
	h.details()
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

// details sends requests that name objects in other ways, filter lists, and set each kind of value.
func (h *host) details() {
	jane := h.send("GET", "/mailboxes/jane@example.com", nil)
	h.send("GET", "/mailboxes/"+jane.Str("id"), nil)
	h.send("GET", "/mailboxes?domain=example.com&search=jane", nil)
	h.send("GET", "/mailboxes?domain="+jane.Str("domain_id")+"&status=active", nil)
	h.send("GET", "/mailboxes", nil, api.IdempotencyKeyHeader, "00000000-0000-4000-8000-00000000abcd")
	h.send("PATCH", "/mailboxes/jane@example.com", apitest.Object{"last_name": "Roe"})
	h.send("POST", "/mailboxes/bulk", apitest.Object{"domain": "example.com", "items": []any{
		apitest.Object{"local_part": "Ann", "first_name": "Ann", "last_name": "A"}, apitest.Object{"local_part": "jane", "first_name": "J", "last_name": "A"},
	}})
	h.send("POST", "/mailboxes/export", apitest.Object{"domain": "example.com"})
	h.send("GET", "/domains/EXAMPLE.com", nil)
	h.send("GET", "/domains/"+jane.Str("domain_id"), nil)
	h.send("GET", "/domains?search=example", nil)
	h.send("PATCH", "/domains/example.com", apitest.Object{"redirect_url": "https://www.example.com/", "auto_renew": true})
	h.send("PATCH", "/domains/"+jane.Str("domain_id"), apitest.Object{"redirect_url": nil})
	purchase := sample.Body(api.PurchaseDomains.Spec)
	purchase["domains"] = []any{"bought.com", "example.com", "no domain"}
	for range 2 {
		h.send("POST", "/domains/purchase", purchase, api.IdempotencyKeyHeader, "00000000-0000-4000-8000-00000000cafe")
	}
	for _, scope := range []apitest.Object{{}, {"domain": "example.com"}, {"workspace_id": jane.Str("workspace_id")}} {
		rule, credential := maps.Clone(scope), maps.Clone(scope)
		rule["target_email"], credential["name"], credential["generate"] = "Details@example.net", "details", true
		h.send("POST", "/forwarding", rule)
		h.send("POST", "/credentials", credential)
	}
	h.send("GET", "/forwarding?domain=example.com", nil)
	h.send("GET", "/credentials?scope_type=domain", nil)
	h.send("GET", "/credentials?workspace_id="+jane.Str("workspace_id"), nil)
	for _, record := range []apitest.Object{
		{"name": "www.example.com", "type": "A", "value": "192.0.2.1"}, {"name": "mx", "type": "mx", "value": "MX.example.net.", "prio": 7, "ttl": 300},
		{"name": "text", "type": "TXT", "value": "a b"},
	} {
		record["domain"] = "example.com"
		h.send("POST", "/dns-records", record)
	}
	h.send("GET", "/dns-records?domain=example.com&type=MX", nil)
	h.send("GET", "/dns-records?domain=example.com&name=www", nil)
	account := h.send("POST", "/auth/service-accounts", apitest.Object{"name": "details", "expires_at": "2090-01-01T00:00:00+01:00"})
	h.send("POST", "/auth/authorizations", apitest.Object{
		"subject_type": "service_account", "subject_id": account.Str("id"), "grant_kind": "capability", "capability_key": "mailbox.view",
		"resource_type": "domain", "resource_id": jane.Str("domain_id"),
	})
	h.send("GET", "/auth/authorizations?subject_type=service_account", nil)
	h.send("POST", "/billing/change-plan", apitest.Object{"plan_id": "smtp_per_proxy"})
	h.send("GET", "/domains/availability?name=example.com", nil)
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
