package provider_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// hostsOfLists returns hosts for the questions of the guide about lists.
func hostsOfLists() map[string]map[string]host {
	return map[string]map[string]host{
		"object around a list": {
			"items are named data":           page(func(p map[string]any) { p["data"] = p["items"]; delete(p, "items") }).failing(pointsToProxy),
			"items are named data, no total": page(func(p map[string]any) { p["data"] = p["items"]; delete(p, "items"); delete(p, "total") }).failing(pointsToProxy),
			"null if empty": page(func(p map[string]any) {
				if items, ok := p["items"].([]any); ok && len(items) == 0 {
					p["items"] = nil
				}
			}),
			"an array alone": whole(func(v any) any {
				if p, ok := v.(map[string]any); ok && p["items"] != nil {
					return p["items"]
				}
				return v
			}).failing(pointsToProxy),
			"data around each response": whole(func(v any) any { return map[string]any{"data": v} }).failing(pointsToProxy),
		},
		"parameters": {
			"page is ignored": query(func(q map[string][]string) { delete(q, "page"); q["page_size"] = []string{"1"} }).failing(pointsToProxy),
		},
		"largest page": {
			"2": query(func(q map[string][]string) {
				if q["page_size"] != nil {
					q["page_size"] = []string{"2"}
				}
			}),
			"page_size is ignored": query(func(q map[string][]string) { delete(q, "page_size") }),
			"refused with 400":     {request: nil, response: refusePageSize(400, `{"error":"page_size is at most 100"}`)},
			"refused with a text":  {request: nil, response: refusePageSize(422, `{"detail":"Limit is 100"}`)},
		},
		"`total`": {
			"missing":   page(func(p map[string]any) { delete(p, "total") }),
			"too small": page(func(p map[string]any) { p["total"] = 0 }),
			"too large": page(func(p map[string]any) { p["total"] = 1000 }).failing(pointsToProxy),
			"a string":  page(func(p map[string]any) { p["total"] = fmt.Sprint(p["total"]) }),
		},
		"filters, `search`": {
			"ignored": query(func(q map[string][]string) {
				for name := range q {
					if name != "page" && name != "page_size" {
						delete(q, name)
					}
				}
			}).spelling("purchase_price"),
		},
		"time until a new object is listed": {
			"2 requests": lagging(2).spelling("created_at", "updated_at", "outbound_routing_ready", "status"),
			"6 requests": lagging(6).failing(`can't be found yet|not found|no such object|import|does not show it yet`).spelling("created_at", "updated_at", "outbound_routing_ready", "status"),
		},
	}
}

// lagging is a host whose reads show an object only some requests after its create.
func lagging(requests int) host {
	var hidden int
	h := body(func(r *http.Request, a *answer) {
		if isCreate(r) && a.succeeded() {
			hidden = requests
		}
		if hidden--; r.Method != http.MethodGet || hidden < 0 || !a.succeeded() {
			return
		}
		if rest := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/public/accounts/"), "/"); len(rest) > 2 && rest[1] != "auth" {
			a.status, a.body = 404, []byte(`{"detail":[{"loc":["path"],"msg":"no such object","type":"not_found"}]}`)
			return
		}
		a.edit(func(v any) any {
			if p, ok := v.(map[string]any); ok {
				if items, _ := p["items"].([]any); len(items) > 0 {
					p["items"], p["total"] = items[:len(items)-1], len(items)-1
				}
			}
			return v
		})
	})
	h.settle = func() { hidden = 0 }
	return h
}

func refusePageSize(code int, text string) func(r *http.Request, a *answer) {
	return func(r *http.Request, a *answer) {
		if size, _ := strconv.Atoi(r.URL.Query().Get("page_size")); size > 100 {
			a.status, a.body = code, []byte(text)
		}
	}
}
