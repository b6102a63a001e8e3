package proxy_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/proxy"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// difference is one way in which a host differs, and the only line that the report may contain for it.
type difference struct {
	operation string
	change    func(*response)
	want      string
	alone     bool // a response with it shows no other difference for sure
}

const (
	aTime  = "a time in UTC with microseconds, 0000-00-00T00:00:00.000000Z"
	aUUID  = "a UUID in lower case"
	lookup = "header Idempotency-Replayed | false, because the request has an Idempotency-Key | no header"
)

// differences lists single differences. A host that has one of them at another operation differs in the same way.
var differences = []difference{
	// Status codes and headers.
	{"create-mailbox", status(201, 200), "status | 201 for a success | 200", true},
	{"cancel-plan", status(200, 202), "status | 200 for a success | 202", true},
	{"update-domain", status(422, 400), "status | 200, 401, 403, 404, 409, 413, 415, 422, 429, 500 or 503 | 400", false},
	{"get-mailbox", status(404, 410), "status | 200, 401, 403, 404, 422, 429, 500 or 503 | 410", false},
	{"delete-mailbox", when(204, func(r *response) { r.status, r.body = 200, "{}" }), "status | 204 for a success | 200", false},
	{"get-service-account", status(401, 403), "status | 401, because of the type not_authenticated | 403", false},
	{"get-workspace", status(404, 403), "status | 404, because of the type not_found | 403", true},
	{"list-mailboxes", header(200, "X-Request-Id", ""), "header X-Request-Id | a value | no header", false},
	{"get-account", header(401, "WWW-Authenticate", ""), "header WWW-Authenticate | a value | no header", false},
	{"get-caller", header(401, "WWW-Authenticate", "Basic realm=mail"), "header WWW-Authenticate | Bearer | Basic", false},
	{"list-domains", header(200, "RateLimit-Remaining", "many"), "header RateLimit-Remaining | a whole number | many", false},
	{"create-workspace", header(201, api.IdempotencyReplayedHeader, ""), "header Idempotency-Replayed | true, because the same request has succeeded before | no header", false},
	{"purchase-domains", header(200, api.IdempotencyReplayedHeader, ""), "header Idempotency-Replayed | true, because the same request has succeeded before | no header", false},
	{"create-mailboxes", header(200, api.IdempotencyReplayedHeader, ""), "header Idempotency-Replayed | true, because the same request has succeeded before | no header", false},
	{"create-forwarding", replayed("yes"), "header Idempotency-Replayed | true or false | yes", false},
	{"list-mailboxes", header(200, api.IdempotencyReplayedHeader, ""), lookup, false},
	{"claim-dedicated-ip", when(422, func(r *response) {
		r.status, r.body = 503, `{"detail":[{"loc":["body"],"msg":"m","type":"unavailable"}]}`
		r.header.Set("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")
	}), "header Retry-After | a whole number | other text", true},
	{"change-plan", when(422, func(r *response) {
		r.status, r.body = 429, `{"detail":[{"loc":["body"],"msg":"m","type":"rate_limited"}]}`
	}), "header Retry-After | a value | no header", true},
	{"export-mailboxes", header(200, "Content-Disposition", "inline"), "header Content-Disposition | attachment with a filename | another value", false},
	{"create-service-account", when(201, func(r *response) {
		if replays(r) {
			r.edit(func(v any) any { v.(apitest.Object)["id"] = apitest.UnknownID; return v })
		}
	}), "response body /id | the object of the same request before | another object", true},

	// Media types and texts.
	{"get-forwarding", header(200, "Content-Type", "text/plain; charset=utf-8"), "header Content-Type | application/json | text/plain", false},
	{"list-forwarding", header(200, "Content-Type", "application/json; charset=iso-8859-1"), "header Content-Type | application/json in UTF-8 | another charset", false},
	{"export-mailboxes", header(200, "Content-Type", "application/csv"), "header Content-Type | text/csv | application/csv", false},
	{"get-workspace", compress("gzip"), "header Content-Encoding | no header, because the request accepts no compression | gzip", false},
	{"get-dedicated-ip", compress("br"), "header Content-Encoding | no header, because the request accepts no compression | br", true},
	{"delete-mailbox", page(404, "text/html"), "header Content-Type | application/json | text/html", true},
	{"update-mailbox", page(422, "application/json"), "response body | JSON in UTF-8 | a page", true},
	{"get-domain", body(200, "{", "\ufeff{"), "response body | JSON without a byte order mark | a byte order mark", true},
	{"list-service-accounts", body(200, "}", "}}"), "response body | JSON in UTF-8 | broken JSON", true},
	{"get-mailbox", body(200, `"quota":`, `"quota":{"allowed":1,"used":0},"quota":`), "response body /quota | a member once | a member twice", true},
	{"rename-master-password", body(200, `"name":"`, `"name":"`+"\xff"), "response body | JSON in UTF-8 | broken JSON", true},

	// The form of bodies.
	{"list-authorizations", edit(200, func(v any) any { return apitest.Object{"items": v} }), "response body | array | object", true},
	{"get-account", edit(200, func(v any) any { return apitest.Object{"data": v} }),
		"response body | * | an object with data", true},
	{"list-workspaces", edit(200, func(v any) any { return v.(apitest.Object)["items"] }), "response body | object | array", true},
	{"list-creations", edit(200, func(any) any { return nil }), "response body | array | null", true},
	{"list-service-accounts", set("items", nil), "response body /items | array | null", true},
	{"submit-feedback", add("comment", "c"), "response body /comment | no such member | string", false},
	{"update-forwarding", add("@context", 1), "response body /@context | no such member | number", false},
	{"update-forwarding", add("first name", true), "response body /first name | no such member | boolean", false},
	{"create-forwarding", add("owner", apitest.Object{"jane@example.com": 1}), "response body /owner | no such member | object", false},
	{"create-forwarding", add("jane@localhost", 1), "response body /* | no such member | number", false},
	{"update-mailbox", del("domain_name"), "response body /domain_name | a member | none", true},
	{"list-domains", del("items.*.status"), "response body /items/*/status | a member | none", true},
	{"get-master-password", set("name", nil), "response body /name | string | null", false},
	{"create-dns-record", set("id", "1"), "response body /id | integer | string", false},
	{"create-dns-record", set("is_system_managed", "false"), "response body /is_system_managed | boolean | string", false},
	{"create-dns-record", set("ttl", json.Number("3600.0")), "response body /ttl | integer | number", true},
	{"check-domain-availability", set("price", 12.5), "response body /price | string or null | number", false},
	{"list-dedicated-ips", set("items.*.ip_addresses", "198.51.100.1"), "response body /items/*/ip_addresses | array | string", false},
	{"get-account", set("status", "ACTIVE"), "response body /status | active, pending_cancellation or cancelled | ACTIVE", false},
	{"get-account", set("plan_id", "small plan 2"), "response body /plan_id | smtp_per_mailbox or smtp_per_proxy | small plan 2", false},
	{"get-account", set("default_workspace_id", "A0000000-0000-4000-8000-000000000000"), "response body /default_workspace_id | " + aUUID + " | other text", false},
	{"get-account", set("created_at", "2026-11-29T10:00:00Z"), "response body /created_at | " + aTime + " | 0000-00-00T00:00:00Z", false},
	{"get-account", set("updated_at", 1790000000), "response body /updated_at | string | number", false},
	{"list-domains", set("items.*.created_at", "2026-02-30T10:00:00.000000Z"), "response body /items/*/created_at | " + aTime + " | a time that does not exist", true},
	{"update-dns-record", inErrors(422, "detail", "invalid"), "response body /detail | array | string", true},
	{"get-mailbox", when(404, func(r *response) {
		r.body = `{"type":"about:blank","title":"Not Found","status":404,"detail":"no such mailbox"}`
		r.header.Set("Content-Type", "application/problem+json")
	}), "response body | an error with detail, an array of problems | an object with detail, status, title, type", true},
	{"create-workspace", edit(422, func(any) any { return apitest.Object{"error": apitest.Object{"code": 7}} }),
		"response body | an error with detail, an array of problems | an object with error", true},
	{"get-workspace", inErrors(404, "detail.*.msg", nil), "response body /detail/*/msg | string | null", false},
	{"create-master-password", inErrors(422, "detail.*.type", "value_error.missing"), "response body /detail/*/type | * | value_error.missing", false},
	{"create-master-password", inErrors(422, "detail.*.loc", []any{}), "response body /detail/*/loc | at least one element | an empty array", false},
	{"delete-domain", inErrors(404, "detail.*.loc", []any{"domain"}), "response body /detail/*/loc/* | path, query, header or body | domain", false},

	// Pages.
	{"list-forwarding", set("page", 0), "response body /page | the requested page | *", true},
	{"list-mailboxes", set("page_size", 500), "response body /page_size | the requested page_size | *", true},
	{"list-master-passwords", set("total", json.Number("18446744073709551616")), "response body /total | at most 9223372036854775807 | a larger number", true},
	{"list-dedicated-ips", set("total", -1), "response body /total | at least 0 | a smaller number", true},
	{"list-dns-records", set("total", 1000), "response body /total | the number of all objects of the list | *", true},
	{"list-service-accounts", set("total", "2"), "response body /total | integer | string", false},
	{"list-domains", edit(200, func(v any) any {
		if items, _ := v.(apitest.Object)["items"].([]any); len(items) > 1 {
			slices.Reverse(items)
		}
		return v
	}), "response body /items | the order of created_at | another order", true},
	{"list-workspaces", edit(200, func(v any) any {
		if items, _ := v.(apitest.Object)["items"].([]any); len(items) > 1 {
			items[1] = items[0]
		}
		return v
	}), "response body /items/*/id | each object once | an object twice on a page", true},

	// Values that contradict the request or each other.
	{"list-service-accounts", set("items.*.account_id", apitest.UnknownID), "response body /items/*/account_id | the account in the path | another one", false},
	{"get-service-account", set("id", apitest.UnknownID), "response body /id | the id in the path | another one", false},
	{"get-dns-record", set("id", 7), "response body /id | the id in the path | another one", false},
	{"get-domain", set("name", "example.com."), "response body /name | ASCII in lower case without a final dot | other text", true},
	{"get-domain", set("name", "other.com"), "response body /name | the name in the path | another one", false},
	{"get-mailbox", set("primary_email", "other@example.com"), "response body /primary_email | local_part@domain_name | another address", false},
	{"list-mailboxes", set("items.*.primary_email", "other@example.com"), "response body /items/*/primary_email | local_part@domain_name | another address", false},
	{"create-mailbox", set("local_part", "other"), "response body /local_part | the value of the request | another value", true},
	{"create-mailboxes", set("created.*.mailbox.first_name", "Other"), "response body /created/*/mailbox/first_name | the value of the request | another value", false},
	{"create-mailboxes", set("created.*.mailbox.domain_name", "other.com"), "response body /created/*/mailbox/domain_name | the domain of the request | another one", false},
	{"update-mailbox", set("last_name", "ROE"), "response body /last_name | the value of the request | another value", false},
	{"rename-master-password", set("name", "Other"), "response body /name | the value of the request | another value", false},
	{"create-forwarding", set("target_email", "other@example.com"), "response body /target_email | the value of the request | another value", false},
	{"create-forwarding", set("scope_id", apitest.UnknownID), "response body /scope_id | the scope of the request | another one", false},
	{"get-forwarding", set("verification_required", false), "response body /verification_required | true, because of verification_state | false", false},
	{"create-master-password", set("scope_type", "workspace"), "response body /scope_type | the scope of the request | another one", true},
	{"update-domain", set("redirect_url", "https://other.example/"), "response body /redirect_url | the value of the request | another value", false},
	{"update-domain", set("auto_renew", false), "response body /auto_renew | the value of the request | another value", false},
	{"submit-feedback", set("category", "bug_report"), "response body /category | * | another value", false},
	{"submit-feedback", set("attributes", apitest.Object{}), "response body /attributes | the value of the request | another value", false},
	{"update-dns-record", set("ttl", 3601), "response body /ttl | the value of the request | another value", false},
	{"create-dns-record", set("name", "other"), "response body /name | the value of the request | another value", false},
	{"create-dns-record", onSuccess("value", func(o apitest.Object, _ string) {
		if o["type"] == "MX" {
			o["value"] = o["value"].(string) + "."
		}
	}), "response body /value | the contract's form of the type MX | a name with a final dot", true},
	{"list-dns-records", set("items.*.name", "www.example.com."), "response body /items/*/name | a name relative to the domain | an absolute name", false},
	{"get-dns-record", set("priority", nil), "response body /priority | a value, because of type | null", false},
	{"grant-authorization", set("subject_id", "other"), "response body /subject_id | the value of the request | another value", false},
	{"list-authorizations", set("*.capability_key", "mailbox.view"), "response body /*/capability_key | null, because of grant_kind | a value", false},
	{"list-authorizations", set("*.subject_type", "user"), "response body /items | objects that match the filter subject_type | others too", true},
	{"change-plan", set("target_plan_id", "smtp_per_mailbox"), "response body /target_plan_id | the value of the request | another value", true},
	{"set-forwarding-active", set("active", true), "response body /active | the value of the request | another value", false},
	{"check-domain-availability", set("domain_name", "other.com"), "response body /domain_name | the name in the query | another one", false},
	{"check-domain-availability", set("error_code", nil), "response body /error_code | a value, because of available | null", true},

	{"get-account", set("default_workspace_id", apitest.UnknownID), "response body /default_workspace_id | the id that follows from the account's | another one", false},

	// Limits.
	{"get-domain", set("inbound_tenant_name", ""), "response body /inbound_tenant_name | a text that is not empty | an empty string", false},
	{"get-master-password", set("name", ""), "response body /name | a text that is not empty | an empty string", true},
	{"list-master-passwords", set("items.*.name", strings.Repeat("a", 101)), "response body /items/*/name | at most 100 characters | another length", false},
	{"get-mailbox", set("quota.used", -1), "response body /quota/used | at least 0 | a smaller number", false},
	{"list-dedicated-ips", set("items.*.country_code", "Germany"), "response body /items/*/country_code | two letters in upper case | other text", false},
	{"list-dedicated-ips", set("items.*.asn", 4294967296), "response body /items/*/asn | at most 4294967295 | a larger number", false},
	{"claim-dedicated-ip", set("ip_addresses.*.ip", "198.51.100.256"), "response body /ip_addresses/*/ip | an IP address | other text", false},
	{"create-service-account", set("token", ""), "response body /token | a text that is not empty | an empty string", false},
	{"create-service-account", set("token_last4", "0000"), "response body /token_last4 | the end of the token | another one", false},
	{"create-master-password", set("generated_secret", ""), "response body /generated_secret | a text that is not empty | an empty string", false},
	{"create-master-password", del("generated_secret"), "response body /generated_secret | a member, because the request generates a secret | none", false},
	{"submit-feedback", set("submitter_email", "nobody"), "response body /submitter_email | an email address | other text", false},

	// Bulk requests, purchases and exports.
	{"create-mailboxes", edit(200, func(v any) any { v.(apitest.Object)["failed"] = []any{}; return v }), "response body | each item of the request once, by its index | an item is missing", true},
	{"create-mailboxes", edit(200, func(v any) any {
		for _, list := range []string{"created", "failed"} {
			for _, item := range v.(apitest.Object)[list].([]any) {
				i, _ := item.(apitest.Object)["index"].(json.Number).Int64()
				item.(apitest.Object)["index"] = i + 1
			}
		}
		return v
	}), "response body | each item of the request once, by its index | an index that no item has", true},
	{"create-mailboxes", set("failed.*.index", 0), "response body | each item of the request once, by its index | an item twice", true},
	{"create-mailboxes", set("failed.*.code", "exists"), "response body /failed/*/code | already_exists, invalid_local_part, invalid_name, duplicate_in_request or quota_exceeded | exists", false},
	{"purchase-domains", set("successful_count", 7), "response body /successful_count | the number of such results | *", true},
	{"purchase-domains", edit(200, func(v any) any {
		for _, result := range v.(apitest.Object)["results"].([]any) {
			if o := result.(apitest.Object); o["status"] != "failed" {
				o["id"] = nil
			}
		}
		return v
	}), "response body /results/*/id | the id of the domain | null", true},
	{"purchase-domains", edit(200, func(v any) any {
		for _, result := range v.(apitest.Object)["results"].([]any) {
			result.(apitest.Object)["error_code"] = nil
		}
		return v
	}), "response body /results/*/error_code | a value, because of status | null", true},
	{"purchase-domains", set("results.*.domain_name", "other.com"), "response body /results/*/domain_name | each domain of the request | another one", false},
	{"purchase-domains", set("results", []any{}), "response body /results | a result for each domain of the request | another number of results", true},
	{"export-mailboxes", body(200, "id,primary_email", "id,email"), "response body, first line | " + strings.Join(api.ExportColumns, ",") + " | other columns", true},
	{"export-mailboxes", body(200, ",", ";"), "response body, first line | " + strings.Join(api.ExportColumns, ",") + " | semicolons between the columns", true},
	{"export-mailboxes", body(200, "\r\n", "\n"), "response body | lines that end in CRLF (RFC 4180) | other ends of lines", false},
	{"export-mailboxes", body(200, ",active,", ",suspended,"), "response body /status | provisioning, active, paused or deleting | suspended", false},
	{"export-mailboxes", body(200, ",active,", ",active,1,"), "response body | a cell for each column | another number of cells", true},

	// Absent operations.
	{"list-dedicated-ip-options", func(r *response) { r.status, r.body = 404, "<html>" }, "", true},
	{"revoke-authorization", func(r *response) { r.status, r.body = 501, "" }, "", true},
	{"release-dedicated-ip", func(r *response) { r.status, r.body = 405, "" }, "", true},
}

// when changes the responses with a status code.
func when(status int, change func(*response)) func(*response) {
	return func(r *response) {
		if r.status == status {
			change(r)
		}
	}
}

func status(from, to int) func(*response) { return when(from, func(r *response) { r.status = to }) }

// header sets a header, or removes it. A header that says whether a response is a replayed one is removed only where
// the contract requires it.
func header(status int, name, value string) func(*response) {
	return when(status, func(r *response) {
		if r.header.Set(name, value); value == "" {
			r.header.Del(name)
		}
	})
}

func replays(r *response) bool { return r.header.Get(api.IdempotencyReplayedHeader) == "true" }

func replayed(value string) func(*response) {
	return func(r *response) {
		if replays(r) {
			r.header.Set(api.IdempotencyReplayedHeader, value)
		}
	}
}

// body replaces the first occurrence of a text in a body, or each one of a CSV file.
func body(status int, from, to string) func(*response) {
	return when(status, func(r *response) {
		n := 1
		if strings.HasPrefix(r.body, "id,") {
			n = -1
		}
		r.body = strings.Replace(r.body, from, to, n)
	})
}

func page(status int, mediaType string) func(*response) {
	return when(status, func(r *response) {
		r.body = "<html>mail</html>"
		r.header.Set("Content-Type", mediaType)
	})
}

func compress(coding string) func(*response) {
	return when(200, func(r *response) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, r.body)
		_ = w.Close()
		r.body = b.String()
		r.header.Set("Content-Encoding", coding)
	})
}

func edit(status int, change func(any) any) func(*response) {
	return when(status, func(r *response) { r.edit(change) })
}

// at calls change with each object that contains the member at a place, such as items.*.id.
func at(value any, place string, change func(o apitest.Object, member string)) {
	step, rest, nested := strings.Cut(place, ".")
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			at(element, rest, change)
		}
	case apitest.Object:
		if nested {
			at(v[step], rest, change)
		} else {
			change(v, step)
		}
	}
}

// onSuccess changes the objects of successful responses.
func onSuccess(place string, change func(o apitest.Object, member string)) func(*response) {
	return func(r *response) {
		if r.status < 300 {
			r.edit(func(v any) any { at(v, place, change); return v })
		}
	}
}

func set(place string, value any) func(*response) {
	return onSuccess(place, func(o apitest.Object, member string) {
		if _, ok := o[member]; ok {
			o[member] = value
		}
	})
}

func add(place string, value any) func(*response) {
	return onSuccess(place, func(o apitest.Object, member string) { o[member] = value })
}

func del(place string) func(*response) {
	return onSuccess(place, func(o apitest.Object, member string) { delete(o, member) })
}

// inErrors sets a member of the errors with a status code.
func inErrors(status int, place string, value any) func(*response) {
	return edit(status, func(v any) any {
		at(v, place, func(o apitest.Object, member string) { o[member] = value })
		return v
	})
}

// exchange is a request of the tour with the API's response.
type exchange struct {
	operation string
	request   *http.Request
	sent      string
	response  response
}

// recordTour returns the exchanges of a tour.
func recordTour(t *testing.T) (tour []exchange) {
	h := newHost(t, false, nil)
	transport := h.client.HTTP.Transport
	h.client.HTTP.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		x := exchange{request: r}
		if r.Body != nil {
			sent, err := io.ReadAll(r.Body)
			assert.NilError(t, err)
			x.sent = string(sent)
			r.Body = io.NopCloser(strings.NewReader(x.sent))
		}
		got, err := transport.RoundTrip(r)
		assert.NilError(t, err)
		received, err := io.ReadAll(got.Body)
		assert.NilError(t, err)
		got.Body = io.NopCloser(bytes.NewReader(received))
		if s, ok := conformance.OperationOf(r); ok {
			x.operation = s.ID
		}
		x.response = response{r, got.StatusCode, got.Header, string(received)}
		tour = append(tour, x)
		return got, nil
	})
	h.tour(t)
	assert.Check(t, is.DeepEqual(lines(h.proxy.Report()), []string(nil)))
	return tour
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// judge repeats exchanges with a host that differs, and returns the report.
func judge(t *testing.T, tour []exchange, host ...difference) proxy.Report {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i, _ := strconv.Atoi(r.Header.Get("X-Exchange"))
		out := tour[i].response
		out.header = out.header.Clone()
		for _, d := range host {
			if d.operation == tour[i].operation {
				d.change(&out)
			}
		}
		out.header.Del("Content-Length")
		maps.Copy(w.Header(), out.header)
		w.WriteHeader(out.status)
		_, _ = io.WriteString(w, out.body)
	}))
	defer upstream.Close()
	u, err := url.Parse(upstream.URL)
	assert.NilError(t, err)
	p := proxy.New(u, false)
	for i, x := range tour {
		r := httptest.NewRequestWithContext(t.Context(), x.request.Method, x.request.URL.RequestURI(), strings.NewReader(x.sent))
		r.Header = x.request.Header.Clone()
		r.Header.Set("X-Exchange", strconv.Itoa(i))
		p.ServeHTTP(httptest.NewRecorder(), r)
	}
	return p.Report()
}

// matches reports whether a line has the form of a difference, in which * stands for any text.
func matches(line, want string) bool {
	parts := strings.Split(want, "*")
	rest, ok := strings.CutPrefix(line, parts[0])
	for _, part := range parts[1:] {
		var found bool
		_, rest, found = strings.Cut(rest, part)
		ok = ok && found
	}
	return ok && (rest == "" || strings.HasSuffix(want, "*"))
}

// check checks that a report contains the lines of the differences, and nothing else.
func check(t *testing.T, r proxy.Report, host ...difference) {
	t.Helper()
	further := lines(r)
	for _, d := range host {
		if d.want == "" {
			i := slices.IndexFunc(r.Operations, func(op proxy.Operation) bool { return op.ID == d.operation })
			assert.Check(t, is.Equal(r.Operations[i].State, proxy.Absent), d.operation)
			continue
		}
		i := slices.IndexFunc(further, func(line string) bool { return matches(line, d.operation+" | "+d.want) })
		if assert.Check(t, i >= 0, "not found: %s | %s", d.operation, d.want) {
			further = slices.Delete(further, i, i+1)
		}
	}
	assert.Check(t, is.Len(further, 0))
}

// conflict reports whether a host can't show both differences, or whether they are one.
func conflict(a, b difference) bool {
	placeA, _, _ := strings.Cut(a.want, " | ")
	placeB, _, _ := strings.Cut(b.want, " | ")
	return a.operation == b.operation && (a.alone || b.alone || strings.HasPrefix(placeA, placeB) || strings.HasPrefix(placeB, placeA))
}

// TestDifferences checks that the proxy names each difference of a host, and nothing else: each difference alone, and
// twenty of them together.
func TestDifferences(t *testing.T) {
	t.Parallel()
	tour := recordTour(t)
	check(t, judge(t, tour))
	for _, d := range differences {
		t.Run(d.operation+" "+d.want, func(t *testing.T) {
			var of []exchange
			for _, x := range tour {
				if x.operation == d.operation {
					of = append(of, x)
				}
			}
			check(t, judge(t, of, d), d)
		})
	}
	rounds := 8
	if testing.Short() {
		rounds = 5
	}
	for seed := range uint64(rounds) {
		var host []difference
		for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(differences)) {
			d := differences[i]
			if len(host) < 20 && !slices.ContainsFunc(host, func(other difference) bool { return conflict(d, other) }) {
				host = append(host, d)
			}
		}
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			r := judge(t, tour, host...)
			check(t, r, host...)
			text, err := json.Marshal(r)
			assert.NilError(t, err)
			for _, value := range []string{"mhsa_", "jane", "Jane", "example.com", apitest.AccountID, "198.51"} {
				assert.Check(t, !bytes.Contains(text, []byte(value)), "the report contains %q", value)
			}
		})
	}
}

// TestEveryMember checks that the proxy names the place of each member of each response, and nothing else, if a host
// omits the member, sends another type, or adds a member beside it.
func TestEveryMember(t *testing.T) {
	t.Parallel()
	byOperation := map[string][]exchange{}
	for _, x := range recordTour(t) {
		byOperation[x.operation] = append(byOperation[x.operation], x)
	}
	for operation, tour := range byOperation {
		wrong := map[string]any{} // by place
		for _, x := range tour {
			if x.response.status < 300 {
				x.response.edit(func(v any) any { wrongTypes(v, "", wrong); return v })
			}
		}
		for i, place := range slices.Sorted(maps.Keys(wrong)) {
			if testing.Short() && i%8 != 0 {
				continue
			}
			value := wrong[place]
			pointer := "response body /" + strings.ReplaceAll(place, ".", "/")
			parent, member := pointer[:strings.LastIndexByte(pointer, '/')], pointer[strings.LastIndexByte(pointer, '/')+1:]
			hosts := []difference{
				{operation, set(place, value), pointer + " | * | *", true},
				{operation, onSuccess(place, func(o apitest.Object, _ string) { o["also"] = 1 }), parent + "/also | no such member | number", true},
				{operation, del(place), pointer + " | a member* | none", true},
			}
			if slices.Contains([]string{"aliases", "workspace_id", "workspace_name"}, member) && strings.Contains(operation, "mailbox") {
				hosts = hosts[:2] // a host may omit it
			}
			for _, host := range hosts {
				r := judge(t, tour, host)
				if got := lines(r); len(got) != 1 || !matches(got[0], operation+" | "+host.want) {
					t.Errorf("%s | %s: %s", operation, host.want, strings.Join(got, "\n"))
				}
			}
		}
	}
}

// wrongTypes finds a value of another type for each member of a value. A free-form object has no such members.
func wrongTypes(value any, place string, wrong map[string]any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			wrongTypes(element, place+"*.", wrong)
		}
	case apitest.Object:
		for name, member := range v {
			switch wrong[place+name] = (apitest.Object{"x": 1}); member.(type) {
			case apitest.Object:
				wrong[place+name] = []any{"x"}
			case nil:
				if name == "subject_details" || name == "created_by" {
					wrong[place+name] = []any{"x"}
				}
			}
			if name != "attributes" {
				wrongTypes(member, place+name+".", wrong)
			}
		}
	}
}
