package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// hostsOfStatuses returns hosts for the questions of the guide about status codes.
func hostsOfStatuses() map[string]map[string]host {
	return map[string]map[string]host{
		"success": {
			"200 for 201": status(map[int]int{201: 200}),
			"201 for 200": status(map[int]int{200: 201}),
			"202 for 201": status(map[int]int{201: 202}),
			"200 for 204": status(map[int]int{204: 200}),
			"200 with a body to a delete": body(func(r *http.Request, a *answer) {
				if r.Method == http.MethodDelete && a.status == 204 {
					a.status, a.body = 200, []byte(`{"deleted":true}`)
				}
			}),
			"204 to a change": body(func(r *http.Request, a *answer) {
				if r.Method == http.MethodPatch && a.succeeded() {
					a.status, a.body = 204, nil
				}
			}),
			"without a body": body(func(_ *http.Request, a *answer) {
				if a.succeeded() {
					a.body = nil
				}
			}).failing(pointsToProxy),
		},
		"response to a create": {
			"only the id": body(func(r *http.Request, a *answer) {
				if isCreate(r) && a.succeeded() && !strings.HasSuffix(r.URL.Path, "/purchase") {
					a.edit(func(v any) any {
						if o, ok := v.(map[string]any); ok && o["id"] != nil {
							return map[string]any{"id": o["id"]}
						}
						return v
					})
				}
			}).failing(pointsToProxy).only("service_account|master_password").spelling("created_at", "updated_at"),
			"202 without a body": body(func(r *http.Request, a *answer) {
				if isCreate(r) && a.succeeded() {
					a.status, a.body = 202, nil
				}
			}).failing(pointsToProxy).only("service_account|master_password"),
			"201 without a body": body(func(r *http.Request, a *answer) {
				if isCreate(r) && a.succeeded() {
					a.body = nil
				}
			}).failing(pointsToProxy).only("service_account|master_password"),
		},
		"invalid request": {
			"400": status(map[int]int{422: 400}),
			"500": body(func(r *http.Request, a *answer) {
				if a.status == 422 && r.Method != http.MethodGet && !bytes.Contains(a.body, []byte("exists already")) { // nor a conflict as 422
					a.status = 500
				}
			}),
			"418": status(map[int]int{422: 418}),
		},
		"no such object": {
			"403": status(map[int]int{404: 403}).failing(`403`).spelling("purchase_price", "domain_id"),
			"410": status(map[int]int{404: 410}),
		},
		"conflict": {
			"400": status(map[int]int{409: 400}),
			"422": status(map[int]int{409: 422}),
		},
		"too many requests": {
			"without Retry-After": everySecond(429, `{"detail":"Too many requests"}`),
			"a page":              everySecond(429, "<html>Slow down</html>"),
		},
		"body of an error": {
			"a page":          errorsAs(func(msg string) string { return "<html>" + msg + "</html>" }),
			"a page of HTML":  compose(errorsAs(func(msg string) string { return "<html>" + msg + "</html>" }), contentType("text/html")),
			"a text in JSON":  errorsAs(func(msg string) string { return fmt.Sprintf(`{"error":%q}`, msg) }),
			"an object":       errorsAs(func(msg string) string { return fmt.Sprintf(`{"error":{"code":17,"message":%q}}`, msg) }),
			"problem details": errorsAs(func(msg string) string { return fmt.Sprintf(`{"title":"Refused","detail":%q,"status":400}`, msg) }),
			"plain text":      errorsAs(func(msg string) string { return msg }),
			"empty":           errorsAs(func(string) string { return "" }),
			"a page with 503": htmlPage(503).failing(`503`),
			"a page with 502": htmlPage(502).failing(`502`),
		},
		"redirect": {
			"to https":   redirectTo("https").failing(`https`),
			"to a slash": redirectTo("slash").failing(`redirect`),
		},
		"media type": {
			"application/problem+json": contentType("application/problem+json"),
			"text/json":                contentType("text/json; charset=UTF-8"),
			"text/html":                contentType("text/html; charset=utf-8"),
			"text/plain":               contentType("text/plain; charset=utf-8"),
			"none":                     contentType(""),
			"with a byte order mark": body(func(_ *http.Request, a *answer) {
				if len(a.body) > 0 {
					a.body = append([]byte("\xef\xbb\xbf"), a.body...)
				}
			}),
			"a page with 200": htmlPage(200).failing(pointsToProxy),
		},
	}
}

// errorsAs rewrites the bodies of refusals.
func errorsAs(change func(msg string) string) host {
	return body(func(_ *http.Request, a *answer) {
		var refused struct{ Detail []struct{ Msg string } }
		if a.status/100 == 4 && json.Unmarshal(a.body, &refused) == nil && len(refused.Detail) > 0 {
			a.body = []byte(change(refused.Detail[0].Msg))
		}
	})
}

func contentType(mediaType string) host {
	return body(func(_ *http.Request, a *answer) {
		if len(a.body) == 0 {
			return
		}
		if a.header.Del("Content-Type"); mediaType != "" {
			a.header.Set("Content-Type", mediaType)
		}
	})
}

func htmlPage(code int) host {
	return body(func(_ *http.Request, a *answer) {
		a.status, a.body = code, []byte("<html><body>Please wait</body></html>")
		a.header.Set("Content-Type", "text/html")
	})
}

func redirectTo(where string) host {
	return body(func(r *http.Request, a *answer) {
		u := *r.URL
		if u.Scheme = "http"; where == "https" {
			u.Scheme = "https"
		} else {
			u.Path += "/"
		}
		a.status, a.body = http.StatusMovedPermanently, nil
		a.header.Set("Location", u.String())
	})
}

// everySecond refuses every second request.
func everySecond(status int, text string) host {
	n := 0
	return host{refuse: func(*http.Request) *answer {
		if n++; n%2 == 0 {
			return nil
		}
		return &answer{status, http.Header{}, []byte(text)}
	}}
}
