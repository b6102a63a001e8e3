package provider_test

import (
	"net/http"
	"strings"
)

// hostsOfObjects returns hosts for the questions of the guide about objects.
func hostsOfObjects() map[string]map[string]host {
	return map[string]map[string]host{
		"states": {
			"unknown words": named(text(func(s string) any { return "x_" + s }), "status", "verification_state").spelling("status", "verification_state"),
			"in upper case": named(text(func(s string) any { return strings.ToUpper(s) }), "status", "verification_state").spelling("status", "verification_state"),
		},
		"result of a purchase": {
			"another word":  atPath("/domains/purchase", named(text(func(string) any { return "ok" }), "status")),
			"without an id": atPath("/domains/purchase", named(remove, "id")),
			"no results":    atPath("/domains/purchase", named(remove, "results")),
			"another word, without an id": atPath("/domains/purchase", whole(func(v any) any {
				p := v.(map[string]any)
				if results, _ := p["results"].([]any); len(results) > 0 {
					results[0] = map[string]any{"domain_name": "acme.com", "status": "DONE"}
				}
				return p
			})),
		},
		"delete": {
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
	}
}
