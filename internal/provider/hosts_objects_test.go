package provider_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// hostsOfObjects returns hosts for the questions of the guide about objects.
func hostsOfObjects() map[string]map[string]host {
	return map[string]map[string]host{
		"states": {
			"unknown words": named(text(func(s string) any { return "x_" + s }), "status", "verification_state").spelling("status", "verification_state"),
			"in upper case": named(text(func(s string) any { return strings.ToUpper(s) }), "status", "verification_state").spelling("status", "verification_state"),
		},
		"result of a purchase": {
			"another id": atPath("/domains/purchase", named(func(any) any { return "11111111-2222-4333-8444-555555555555" }, "id")),
			"no status":  atPath("/domains/purchase", named(remove, "status")),
			"only another word, and not listed": compose(
				atPath("/domains/purchase", named(text(func(string) any { return "ok" }), "status")),
				atPath("/domains/purchase", named(remove, "id")),
				lagging(0, time.Hour),
			).failing(`does not show it yet|can't be found yet|exists already`).spelling(neverReadAttributes...),
			"another word":  atPath("/domains/purchase", named(text(func(string) any { return "ok" }), "status")),
			"without an id": atPath("/domains/purchase", named(remove, "id")),
			"no results":    atPath("/domains/purchase", named(remove, "results")),
			"another word, without an id": atPath("/domains/purchase", whole(func(v any) any {
				p, _ := v.(map[string]any)
				if results, _ := p["results"].([]any); len(results) > 0 {
					results[0] = map[string]any{"domain_name": "acme.com", "status": "DONE"}
				}
				return p
			})),
		},
		"delete": {
			"202": status(map[int]int{204: 202}),
			"404": body(func(r *http.Request, a *answer) {
				if r.Method == http.MethodDelete && a.succeeded() {
					a.status, a.body = 404, []byte(`{"detail":[{"loc":["path"],"msg":"no such object","type":"not_found"}]}`)
				}
			}),
			"410": body(func(r *http.Request, a *answer) {
				if r.Method == http.MethodDelete && a.succeeded() {
					a.status, a.body = 410, []byte(`{"detail":"gone"}`)
				}
			}),
		},
		"repeated create": {
			"the key is ignored": {request: func(r *http.Request) { r.Header.Del(api.IdempotencyKeyHeader) }},
		},
		"default workspace": {
			"another id": otherWorkspace().spelling("workspace_id"),
		},
		"names in paths": {
			"refused with 404": {refuse: func(r *http.Request) *answer {
				rest := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/public/accounts/"), "/")
				if r.Method == http.MethodPost || len(rest) < 3 || !strings.ContainsAny(rest[2], ".@") {
					return nil
				}
				return &answer{404, http.Header{}, []byte(`{"detail":[{"loc":["path"],"msg":"no such object","type":"not_found"}]}`)}
			}},
		},
		"permissions": {
			"none can be listed": {refuse: func(r *http.Request) *answer {
				if !strings.Contains(r.URL.Path, "/authorizations") {
					return nil
				}
				return &answer{404, http.Header{}, []byte(`{"detail":"Not Found"}`)}
			}, fails: `list-authorizations`},
		},
	}
}

// otherWorkspace is a host whose default workspace does not follow from the account's id.
func otherWorkspace() host {
	const other = "99999999-9999-4999-8999-999999999999"
	ours := func(r *http.Request) string {
		account, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/public/accounts/"), "/")
		return api.DefaultWorkspaceID(account)
	}
	return host{
		request: func(r *http.Request) {
			if r.Body == nil {
				return
			}
			text, _ := io.ReadAll(r.Body)
			text = []byte(strings.NewReplacer(ours(r), "00000000-0000-4000-8000-000000000000", other, ours(r)).Replace(string(text)))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		},
		response: func(r *http.Request, a *answer) { a.body = bytes.ReplaceAll(a.body, []byte(ours(r)), []byte(other)) },
	}
}
