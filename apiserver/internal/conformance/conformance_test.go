package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

const (
	account = "11111111-2222-4333-8444-555555555555"
	prefix  = "/v1/public/accounts/" + account
)

// The parts of an object that the tests combine.
const (
	id    = "11111111-2222-7333-8444-55555555555"
	times = `"created_at":"2026-01-01T00:00:00.000000Z"`
)

func workspace(n, created string) string {
	return `{"id":"` + id + n + `","name":"W` + n + `","created_at":"` + created + `","updated_at":"2026-01-02T00:00:00.000000Z"}`
}

func page(page, size, total string, items ...string) string {
	return `{"items":[` + strings.Join(items, ",") + `],"page":` + page + `,"page_size":` + size + `,"total":` + total + `}`
}

// TestCheck compares responses with the contract. The server's tests check that none of its own differs.
func TestCheck(t *testing.T) {
	const first, second = "2026-01-01T00:00:00.000000Z", "2026-01-02T00:00:00.000000Z"
	one, two := workspace("1", first), workspace("2", second)
	grant := func(kind, revoked string) string {
		return `{"id":"` + id + `1","grant_kind":"` + kind + `","subject_type":"user","subject_id":"u","capability_key":null,"resource_type":null,"resource_id":null,` + times + `,"revoked_at":` + revoked + `}`
	}
	bulk := func(created string, failed string) string {
		return `{"created":[` + created + `],"failed":[` + failed + `]}`
	}
	failed := func(index string) string { return `{"code":"invalid_name","index":` + index + `,"message":"m"}` }
	problem := func(loc, typ string) string {
		return `{"detail":[{"loc":[` + loc + `],"msg":"m","type":"` + typ + `"}]}`
	}
	for _, tt := range []struct {
		name, request, sent string
		status              int
		body                string
		headers             []string // alternating names and values
		want                string   // differences, each in one line
	}{
		{name: "a page", request: "GET /workspaces?page=1&page_size=2", status: 200, body: page("1", "2", "3", one, two)},
		{name: "the order of members", request: "GET /workspaces", status: 200, body: `{"total":0,"page_size":25,"page":1,"items":[]}`},
		{name: "the second page", request: "GET /workspaces?page=2&page_size=1", status: 200, body: page("2", "1", "2", two)},
		{name: "past the end", request: "GET /workspaces?page=9", status: 200, body: page("9", "25", "2")},
		{name: "another default", request: "GET /workspaces", status: 200, body: page("1", "10", "1", one), want: "response body /page_size: expected the requested page_size, received 10 for page_size 25"},
		{name: "another page", request: "GET /workspaces?page=2&page_size=1", status: 200, body: page("1", "1", "2", one), want: "response body /page: expected the requested page, received 1 for page 2"},
		{name: "a long page", request: "GET /workspaces?page_size=1", status: 200, body: page("1", "1", "2", one, two), want: "response body /items: expected at most page_size objects, received more"},
		{name: "total", request: "GET /workspaces", status: 200, body: page("1", "25", "1", one, two), want: "response body /total: expected the number of all objects of the list, received 1 with 2 on page 1 of size 25"},
		{name: "a short page", request: "GET /workspaces?page_size=2", status: 200, body: page("1", "2", "9", one), want: "response body /total: expected the number of all objects of the list, received 9 with 1 on page 1 of size 2"},
		{name: "an object twice", request: "GET /workspaces", status: 200, body: page("1", "25", "2", one, one), want: "response body /items/*/id: expected each object once, received an object twice on a page"},
		{name: "order", request: "GET /workspaces", status: 200, body: page("1", "25", "2", two, one), want: "response body /items: expected the order of created_at, received another order"},
		{
			name: "the order of broken times is unknown", request: "GET /workspaces", status: 200, body: page("1", "25", "2", two, workspace("1", "2026-01-01T00:00:00Z")),
			want: "response body /items/*/created_at: expected a time in UTC with microseconds, 0000-00-00T00:00:00.000000Z, received 0000-00-00T00:00:00Z",
		},
		{
			name: "a time that does not exist", request: "GET /workspaces", status: 200, body: page("1", "25", "2", two, workspace("1", "2026-02-30T00:00:00.000000Z")),
			want: "response body /items/*/created_at: expected a time in UTC with microseconds, 0000-00-00T00:00:00.000000Z, received a time that does not exist",
		},
		{name: "another envelope", request: "GET /workspaces", status: 200, body: `[` + one + `]`, want: "response body: expected object, received array"},
		{name: "a number with a huge exponent", request: "GET /workspaces", status: 200, body: page("1", "25", "1e999999999", one), want: "response body /total: expected integer, received number"},
		{name: "a filter", request: "GET /auth/authorizations?grant_kind=super_admin", status: 200, body: `[` + grant("account_owner", "null") + `]`, want: "response body /items: expected objects that match the filter grant_kind, received others too"},
		{name: "revoked grants", request: "GET /auth/authorizations", status: 200, body: `[` + grant("account_owner", `"`+first+`"`) + `]`, want: "response body /items: expected objects that match the filter include_revoked, received others too"},
		{name: "requested revoked grants", request: "GET /auth/authorizations?include_revoked=true", status: 200, body: `[` + grant("account_owner", `"`+first+`"`) + `]`},
		{name: "search", request: "GET /domains?search=exam", status: 200, body: page("1", "25", "0")},
		{name: "bulk", request: "POST /mailboxes/bulk", sent: `{"items":[{},{}]}`, status: 200, body: bulk("", failed("1")+","+failed("0"))},
		{name: "bulk twice", request: "POST /mailboxes/bulk", sent: `{"items":[{},{}]}`, status: 200, body: bulk("", failed("0")+","+failed("0")), want: "response body: expected each item of the request once, by its index, received an item twice"},
		{name: "bulk from 1", request: "POST /mailboxes/bulk", sent: `{"items":[{},{}]}`, status: 200, body: bulk("", failed("1")+","+failed("2")), want: "response body: expected each item of the request once, by its index, received an index that no item has"},
		{name: "a code", request: "POST /mailboxes/bulk", sent: `{"items":[{}]}`, status: 200, body: bulk("", strings.Replace(failed("0"), "invalid_name", "jane@example.com", 1)), want: "response body /failed/*/code: expected already_exists, invalid_local_part, invalid_name, duplicate_in_request or quota_exceeded, received other text"},
		{name: "a purchase", request: "POST /domains/purchase", sent: `{"domains":["a.com","b.com"]}`, status: 200, body: `{"results":[],"currency":null,"estimated_total":null,"failed_count":0,"successful_count":0,"payment_url":null,"purchase_batch_id":null}`, want: "response body /results: expected a result for each domain of the request, received another number of results"},
		{name: "a secret", request: "POST /credentials", sent: `{"value":"hunter2"}`, status: 201, body: `{"id":"` + id + `1","name":"n","scope_type":"account","scope_id":"` + account + `",` + times + `,"updated_at":"` + first + `","generated_secret":"hunter2"}`, want: "response body /generated_secret: expected no such member, because the request generates no secret, received a member"},
		{name: "upper case", request: "GET /workspaces/x", status: 200, body: strings.Replace(one, id+"1", "AAAAAAAA-2222-7333-8444-555555555555", 1), want: "response body /id: expected a UUID in lower case, received other text"},
		{name: "an export", request: "POST /mailboxes/export", status: 200, body: strings.Join(api.ExportColumns, ",") + "\r\n", headers: []string{"Content-Type", "text/csv; charset=utf-8", "Content-Disposition", `attachment; filename="a.csv"`}},
		{name: "an export for Unix", request: "POST /mailboxes/export", status: 200, body: strings.Join(api.ExportColumns, ",") + "\n", headers: []string{"Content-Type", "text/csv", "Content-Disposition", "inline"}, want: "header Content-Disposition: expected attachment with a filename, received another value\nresponse body: expected lines that end in CRLF (RFC 4180), received other ends of lines"},
		{name: "no more content", request: "DELETE /mailboxes/x", status: 204},
		{name: "another success", request: "DELETE /mailboxes/x", status: 200, body: "{}", want: "status: expected 204 for a success, received 200"},
		{name: "success without content", request: "GET /workspaces", status: 204, want: "status: expected 200 for a success, received 204"},
		{name: "a redirect", request: "GET /workspaces", status: 308, want: "status: expected 200 for a success, received 308"},
		{name: "an error", request: "GET /workspaces", status: 422, body: problem(`"query","page"`, "int_parsing")},
		{name: "an error without problems", request: "GET /workspaces", status: 422, body: `{"detail":[]}`, want: "response body /detail: expected at least one element, received an empty array"},
		{name: "a place", request: "GET /workspaces", status: 422, body: problem(`"page"`, "int_parsing"), want: "response body /detail/*/loc/*: expected path, query, header or body, received page"},
		{name: "a type", request: "GET /workspaces", status: 422, body: problem(`"query"`, "value_error.number"), want: "response body /detail/*/type: expected *"},
		{name: "another status", request: "GET /workspaces", status: 400, body: `{"message":"m"}`, want: "response body: expected an error with detail, an array of problems, received an object with message\nstatus: expected 200, 401, 403, 422, 429, 500 or 503, received 400"},
		{name: "a page of a proxy", request: "GET /workspaces", status: 500, body: "<html>", headers: []string{"Content-Type", "text/html"}, want: "header Content-Type: expected application/json, received text/html"},
		{name: "a page declared as JSON", request: "GET /workspaces", status: 500, body: "<html>", want: "response body: expected JSON in UTF-8, received a page"},
		{name: "problem+json", request: "GET /workspaces", status: 500, body: problem(`"header"`, "internal_error"), headers: []string{"Content-Type", "application/problem+json"}, want: "header Content-Type: expected application/json, received application/problem+json"},
		{name: "busy", request: "GET /workspaces", status: 503, body: problem(`"header"`, "unavailable"), want: "header Retry-After: expected a value, received no header"},
		{name: "a credential", request: "GET /workspaces", status: 401, body: problem(`"header"`, "invalid_token"), headers: []string{"WWW-Authenticate", "Basic realm=x"}, want: "header WWW-Authenticate: expected Bearer, received Basic"},
		{name: "a rate limit", request: "GET /workspaces", status: 200, body: page("1", "25", "0"), headers: []string{"RateLimit-Remaining", "many"}, want: "header RateLimit-Remaining: expected a whole number, received many"},
		{name: "no request id", request: "GET /workspaces", status: 200, body: page("1", "25", "0"), headers: []string{"X-Request-Id", ""}, want: "header X-Request-Id: expected a value, received no header"},
		{name: "names of the host's own", request: "GET /workspaces/x", status: 200, body: strings.Replace(one, "{", `{"a/b.c":1,"größe":1,"`+account+`":1,`, 1), want: "response body /*: expected no such member, received number\nresponse body /a~1b.c: expected no such member, received number\nresponse body /größe: expected no such member, received number"},
		{name: "a personal member", request: "GET /workspaces/x", status: 200, body: strings.Replace(one, "{", `{"jane@example.com":1,`, 1), want: "response body /*: expected no such member, received number"},
	} {
		method, path, _ := strings.Cut(tt.request, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, prefix+path, nil)
		s, ok := conformance.OperationOf(r)
		assert.Assert(t, ok, tt.name)
		e := conformance.Exchange{Request: r, RequestBody: []byte(tt.sent), Status: tt.status, Body: []byte(tt.body), Header: http.Header{
			"Content-Type": {"application/json"}, "X-Request-Id": {"r"},
		}}
		for pair := range slices.Chunk(tt.headers, 2) {
			e.Header.Set(pair[0], pair[1])
		}
		var got []string
		for _, d := range conformance.Check(s, e) {
			line := d.String()
			if strings.HasPrefix(line, "response body /detail/*/type: ") {
				line = "response body /detail/*/type: expected *"
			}
			got = append(got, line)
		}
		slices.Sort(got)
		assert.Check(t, is.Equal(strings.Join(got, "\n"), tt.want), tt.name)
	}
}

// TestNoOperation compares a response to a request that is for no operation with the form of an error.
func TestNoOperation(t *testing.T) {
	for status, want := range map[int]int{404: 1, 200: 1} {
		e := conformance.Exchange{Request: httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), Status: status, Body: []byte(`{}`), Header: http.Header{
			"Content-Type": {"application/json"}, "X-Request-Id": {"r"},
		}}
		assert.Check(t, is.Len(conformance.CheckError(e), want))
	}
}

// TestReceivedValues checks that no difference contains a value of the host, except for a word.
func TestReceivedValues(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), "GET", prefix+"/mailboxes", nil)
	s, _ := conformance.OperationOf(r)
	const secret = "mhsa_secret_jane@example.com"
	body := page("1", "25", "1", `{"id":"`+secret+`","domain_id":7,"status":"`+secret+`","created_at":"`+secret+`","`+secret+`":"`+secret+`"}`)
	e := conformance.Exchange{Request: r, Status: 200, Body: []byte(body), Header: http.Header{
		"Content-Type": {secret}, "X-Request-Id": {"r"}, "Retry-After": {secret}, "Idempotency-Replayed": {secret},
	}}
	differences := conformance.Check(s, e)
	assert.Check(t, len(differences) > 10)
	for _, d := range differences {
		assert.Check(t, !strings.Contains(d.String(), "secret") && !strings.Contains(d.String(), "jane"), d)
	}
}

// FuzzCheck compares any response to any operation: a hostile host must not stop the proxy.
func FuzzCheck(f *testing.F) {
	specs := api.Specs()
	for i, body := range []string{page("1", "25", "1", workspace("1", "")), `[{"id":[],"tags":[1]}]`, `{"results":[1,{}],"created":[{"index":0,"mailbox":1}],"failed":null}`, "\ufeff{\"a\":1,\"a\":1e9}"} {
		f.Add(uint8(i), `{"domain":"example.com","items":[1],"domains":[{}],"prio":1e3,"name":null}`, body)
	}
	f.Fuzz(func(t *testing.T, operation uint8, sent, body string) {
		s := specs[int(operation)%len(specs)]
		path := strings.NewReplacer("{account_id}", account, "{", "", "}", "").Replace(s.Path)
		e := conformance.Exchange{
			Request:     httptest.NewRequestWithContext(t.Context(), s.Method, path+"?domain=example.com&search=a&name=b&tag=c&workspace_id="+account, nil),
			RequestBody: []byte(sent), Status: s.Status, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body),
		}
		for _, d := range conformance.Check(s, e) {
			assert.Check(t, d.Place != "" && d.Expected != "" && d.Received != "" && len(d.String()) < 600, d)
		}
	})
}
