package provider_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
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
			"page counts from 0": query(func(q map[string][]string) {
				if n, err := strconv.Atoi(strings.Join(q["page"], "")); err == nil {
					q["page"] = []string{strconv.Itoa(n + 1)}
				}
			}).failing(pointsToProxy),
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
			"a string":  named(func(v any) any { return fmt.Sprint(v) }, "total"),
		},
		"filters, `search`": {
			"ignored": query(func(q map[string][]string) {
				for name := range q {
					if name != "page" && name != "page_size" {
						delete(q, name)
					}
				}
			}).spelling("purchase_price"),
			"a search finds nothing": body(func(r *http.Request, a *answer) {
				if r.URL.Query().Get("search") != "" && a.succeeded() {
					a.edit(func(v any) any {
						if p, ok := v.(map[string]any); ok {
							p["items"], p["total"] = []any{}, 0
						}
						return v
					})
				}
			}).failing(`exists|already|import`),
		},
		"time until a new object is listed": {
			"2 requests": lagging(2, 0).spelling(lateAttributes...),
			"6 requests": lagging(6, 0).failing(isLate).spelling(lateAttributes...),
			"a minute":   lagging(0, time.Minute).failing(isLate).spelling(lateAttributes...),
			"a minute, and no body after a purchase or a claim": compose(lagging(0, time.Minute), body(func(r *http.Request, a *answer) {
				if isCreate(r) && a.succeeded() && (strings.HasSuffix(r.URL.Path, "/purchase") || strings.HasSuffix(r.URL.Path, "/claim")) {
					a.status, a.body = 202, nil
				}
			})).failing(isLate).only("mailbox|dns|forwarding|password|service_account").spelling(lateAttributes...),
			"an hour": lagging(0, time.Hour).failing(isLate).spelling(neverReadAttributes...),
		},
	}
}

// isLate matches the errors of a create whose lookups do not find the object in time.
const isLate = `can't be found yet|not found|no such object|import|does not show it yet`

var lateAttributes = []string{"created_at", "updated_at", "outbound_routing_ready", "status"}

// neverReadAttributes are those of an object that only the response to its create described.
var neverReadAttributes = append([]string{"asn", "country_code", "ip_addresses", "name", "type"}, lateAttributes...)

// lagging is a host whose reads show a new object only after a number of requests or some time. The next plan
// comes later than that, unless the object costs money.
func lagging(requests int, wait time.Duration) host {
	type hidden struct {
		requests int
		until    time.Time
	}
	late := map[string]*hidden{}
	isHidden := func(id any, now time.Time) bool {
		h := late[fmt.Sprint(id)]
		return h != nil && (h.requests > 0 || now.Before(h.until))
	}
	h := body(func(r *http.Request, a *answer) {
		now, _ := http.ParseTime(a.header.Get("Date"))
		if isCreate(r) && a.succeeded() {
			ids(a.body, func(id string) {
				if late[id] == nil {
					late[id] = &hidden{requests, now.Add(wait)}
				}
			})
			return
		}
		if r.Method != http.MethodGet || !a.succeeded() {
			return
		}
		a.edit(func(v any) any {
			p, ok := v.(map[string]any)
			if !ok {
				return v
			}
			if isHidden(p["id"], now) {
				a.status = http.StatusNotFound
				v = map[string]any{"detail": []any{map[string]any{"loc": []string{"path"}, "msg": "no such object", "type": "not_found"}}}
			}
			if items, ok := p["items"].([]any); ok {
				shown := slices.DeleteFunc(slices.Clone(items), func(item any) bool {
					o, _ := item.(map[string]any)
					return isHidden(o["id"], now)
				})
				total, _ := strconv.Atoi(fmt.Sprint(p["total"]))
				p["items"], p["total"] = shown, total-len(items)+len(shown)
			}
			return v
		})
		for _, h := range late {
			h.requests--
		}
	})
	h.settle = func() { clear(late) }
	return h
}

// ids calls a function with each id in a response to a create.
func ids(body []byte, each func(id string)) {
	(&answer{body: body}).edit(func(v any) any {
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case map[string]any:
				for name, member := range v {
					if walk(member); name == "id" && member != nil {
						each(fmt.Sprint(member))
					}
				}
			case []any:
				for _, element := range v {
					walk(element)
				}
			}
		}
		walk(v)
		return v
	})
}

func refusePageSize(code int, text string) func(r *http.Request, a *answer) {
	return func(r *http.Request, a *answer) {
		if size, _ := strconv.Atoi(r.URL.Query().Get("page_size")); size > 100 {
			a.status, a.body = code, []byte(text)
		}
	}
}
