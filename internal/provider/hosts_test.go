package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

// host is an API that differs from the contract: a front of the server that rewrites requests and responses.
type host struct {
	// request changes a request; nil: none.
	request func(r *http.Request)
	// response changes a response; nil: none.
	response func(r *http.Request, a *answer)
	// fails matches the errors that are allowed; "": every walk works.
	fails string
	// settle, if set, is called before a plan: time has passed since the apply.
	settle func()
	// spells are attributes that may have other values than on our server.
	spells []string
}

// answer is a response that a host changes.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (h host) roundTrip(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	r = r.Clone(r.Context())
	if h.request != nil {
		h.request(r)
	}
	resp, err := next.RoundTrip(r)
	if err != nil || h.response == nil {
		return resp, err
	}
	a := &answer{status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}
	h.response(r, a)
	a.header.Del("Content-Length")
	return &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: r}, nil
}

// edit changes the JSON value of a body.
func (a *answer) edit(change func(v any) any) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(a.body))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return
	}
	a.body, _ = json.Marshal(change(v))
}

func (a *answer) succeeded() bool { return a.status/100 == 2 }

// status returns a host with other status codes.
func status(codes map[int]int) host {
	return host{response: func(_ *http.Request, a *answer) {
		if other, ok := codes[a.status]; ok {
			a.status = other
		}
	}}
}

// members returns a host that sends other members: change returns the value of a member, or absent.
func members(change func(name string, v any) any) host {
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				if v[name] = change(name, walk(member)); v[name] == absent {
					delete(v, name)
				}
			}
		case []any:
			for i, element := range v {
				v[i] = walk(element)
			}
		}
		return v
	}
	return host{response: func(_ *http.Request, a *answer) {
		if a.succeeded() {
			a.edit(walk)
		}
	}}
}

type absentMember struct{}

var absent any = absentMember{}

// named returns a host that changes the members with these names.
func named(change func(v any) any, names ...string) host {
	return members(func(name string, v any) any {
		if slices.Contains(names, name) {
			return change(v)
		}
		return v
	})
}

// text applies a function to a value that is a string.
func text(change func(s string) any) func(v any) any {
	return func(v any) any {
		if s, ok := v.(string); ok {
			return change(s)
		}
		return v
	}
}

func body(change func(r *http.Request, a *answer)) host { return host{response: change} }

func whole(change func(v any) any) host {
	return body(func(_ *http.Request, a *answer) {
		if a.succeeded() {
			a.edit(change)
		}
	})
}

// page changes pages of lists.
func page(change func(p map[string]any)) host {
	return whole(func(v any) any {
		if p, ok := v.(map[string]any); ok && p["items"] != nil {
			change(p)
		}
		return v
	})
}

func remove(any) any { return absent }

func (h host) failing(pattern string) host { h.fails = pattern; return h }

func (h host) spelling(attributes ...string) host { h.spells = attributes; return h }

func query(change func(q map[string][]string)) host {
	return host{request: func(r *http.Request) {
		q := r.URL.Query()
		change(q)
		r.URL.RawQuery = q.Encode()
	}}
}

func times(format func(time.Time) any) host {
	return members(func(_ string, v any) any {
		if s, ok := v.(string); ok {
			if at, err := time.Parse(api.TimestampLayout, s); err == nil {
				return format(at)
			}
		}
		return v
	})
}

func isCreate(r *http.Request) bool {
	return r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/export")
}

// pointsToProxy matches the error about a difference from the contract.
const pointsToProxy = `mailhostd proxy`

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

// upper writes names of domains and addresses in upper case.
func upper() host {
	addresses := named(text(func(s string) any { return strings.ToUpper(s) }), "domain_name", "primary_email", "local_part", "target_email")
	names := named(text(func(s string) any { return strings.ToUpper(s) }), "name")
	return body(func(r *http.Request, a *answer) {
		addresses.response(r, a)
		if strings.Contains(r.URL.Path, "/domains") || strings.Contains(r.URL.Path, "/dns-records") {
			names.response(r, a)
		}
	})
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

// hosts returns the hosts of TestOtherHosts, by name.
func hosts() map[string]host {
	return map[string]host{
		"page size: at most 2": query(func(q map[string][]string) {
			if q["page_size"] != nil {
				q["page_size"] = []string{"2"}
			}
		}),
		"page size: ignored":      query(func(q map[string][]string) { delete(q, "page_size") }),
		"page: refused with 400":  {request: nil, response: refusePageSize(400, `{"error":"page_size is at most 100"}`)},
		"page: refused with text": {request: nil, response: refusePageSize(422, `{"detail":"Limit is 100"}`)},
		"page: ignored":           query(func(q map[string][]string) { delete(q, "page"); q["page_size"] = []string{"1"} }).failing(pointsToProxy),
		"total: missing":          page(func(p map[string]any) { delete(p, "total") }),
		"total: too small":        page(func(p map[string]any) { p["total"] = 0 }),
		"total: too large":        page(func(p map[string]any) { p["total"] = 1000 }).failing(pointsToProxy),
		"total: a string":         page(func(p map[string]any) { p["total"] = fmt.Sprint(p["total"]) }),
		"items: named data":       page(func(p map[string]any) { p["data"] = p["items"]; delete(p, "items") }).failing(pointsToProxy),
		"items: data, no total":   page(func(p map[string]any) { p["data"] = p["items"]; delete(p, "items"); delete(p, "total") }).failing(pointsToProxy),
		"items: null if empty": page(func(p map[string]any) {
			if items, ok := p["items"].([]any); ok && len(items) == 0 {
				p["items"] = nil
			}
		}),
		"page: an array alone": whole(func(v any) any {
			if p, ok := v.(map[string]any); ok && p["items"] != nil {
				return p["items"]
			}
			return v
		}).failing(pointsToProxy),
		"envelope: data around": whole(func(v any) any { return map[string]any{"data": v} }).failing(pointsToProxy),
		"status: 200 for 201":   status(map[int]int{201: 200}),
		"status: 201 for 200":   status(map[int]int{200: 201}),
		"status: 202 for 201":   status(map[int]int{201: 202}),
		"status: 200 for 204":   status(map[int]int{204: 200}),
		"status: 204 with body": body(func(r *http.Request, a *answer) {
			if r.Method == http.MethodDelete && a.status == 204 {
				a.status, a.body = 200, []byte(`{"deleted":true}`)
			}
		}),
		"status: 202 without a body": body(func(r *http.Request, a *answer) {
			if isCreate(r) && a.succeeded() {
				a.status, a.body = 202, nil
			}
		}).failing(pointsToProxy),
		"status: 204 to a change": body(func(r *http.Request, a *answer) {
			if r.Method == http.MethodPatch && a.succeeded() {
				a.status, a.body = 204, nil
			}
		}),
		"status: 400 for 422":    status(map[int]int{422: 400}),
		"status: 403 for 404":    status(map[int]int{404: 403}).failing(`403`).spelling("purchase_price"),
		"status: 410 for 404":    status(map[int]int{404: 410}),
		"unknown statuses":       named(text(func(s string) any { return "x_" + s }), "status", "verification_state").spelling("status", "verification_state"),
		"statuses in upper case": named(text(func(s string) any { return strings.ToUpper(s) }), "status", "verification_state").spelling("status", "verification_state"),
		"status: missing":        named(remove, "status").spelling("status"),
		"scope: another name":    members(func(name string, v any) any { return v }).renaming("scope_type", "scope").spelling("scope_type"),
		"scope: missing":         named(remove, "scope_type", "scope_id").spelling("scope_type", "scope_id"),
		"scope: in upper case":   named(text(func(s string) any { return strings.ToUpper(s) }), "scope_type").spelling("scope_type"),
		"verification: missing":  named(remove, "verification_state", "verification_required").spelling("verification_state", "verification_required"),
		"active: missing if false": named(func(v any) any {
			if v == false {
				return absent
			}
			return v
		}, "active", "verification_required", "auto_renew", "outbound_routing_ready", "is_system_managed"),
		"ttl: missing": named(remove, "ttl").failing(pointsToProxy),
		"extra members": members(func(_ string, v any) any {
			if o, ok := v.(map[string]any); ok {
				o["extra"] = map[string]any{"a": []any{1, "b"}}
			}
			return v
		}),
		"numbers as strings": members(func(_ string, v any) any {
			if n, ok := v.(json.Number); ok {
				return n.String()
			}
			return v
		}),
		"numbers with a fraction": members(func(_ string, v any) any {
			if n, ok := v.(json.Number); ok {
				return json.Number(n.String() + ".0")
			}
			return v
		}),
		"booleans as strings": members(func(_ string, v any) any {
			if b, ok := v.(bool); ok {
				return strconv.FormatBool(b)
			}
			return v
		}),
		"ids in upper case": members(func(_ string, v any) any {
			if s, ok := v.(string); ok && api.IsID(s) {
				return strings.ToUpper(s)
			}
			return v
		}),
		"times without fractions": times(func(at time.Time) any { return at.Truncate(time.Second).Format(time.RFC3339) }),
		"times with an offset":    times(func(at time.Time) any { return at.In(time.FixedZone("", 7200)).Format(time.RFC3339Nano) }),
		"times without a zone":    times(func(at time.Time) any { return at.Format("2006-01-02T15:04:05.000000") }),
		"times with a space":      times(func(at time.Time) any { return at.Format("2006-01-02 15:04:05+00:00") }),
		"times as numbers":        times(func(at time.Time) any { return at.Unix() }),
		"times: missing":          times(func(time.Time) any { return absent }).spelling("created_at", "updated_at", "expires_at", "verification_sent_at", "verification_expires_at"),
		"missing instead of null": members(func(_ string, v any) any {
			if v == nil {
				return absent
			}
			return v
		}),
		"empty text instead of null": members(func(name string, v any) any {
			if v == nil && name != "priority" && name != "asn" && name != "error_code" {
				return ""
			}
			return v
		}),
		"null instead of []": members(func(name string, v any) any {
			if list, ok := v.([]any); ok && len(list) == 0 && name != "items" {
				return nil
			}
			return v
		}),
		"null instead of false": members(func(_ string, v any) any {
			if v == false {
				return nil
			}
			return v
		}),
		"problem+json": contentType("application/problem+json"),
		"text/json":    contentType("text/json; charset=UTF-8"),
		"text/plain":   contentType("text/plain; charset=utf-8"),
		"no type":      contentType(""),
		"byte order mark": body(func(_ *http.Request, a *answer) {
			if len(a.body) > 0 {
				a.body = append([]byte("\xef\xbb\xbf"), a.body...)
			}
		}),
		"names in upper case":     upper().spelling("name", "domain", "domain_name", "primary_email", "local_part", "target_email", "fqdn", "addresses"),
		"names with a dot":        named(text(func(s string) any { return strings.TrimSuffix(s, ".") + "." }), "domain_name").spelling("domain_name"),
		"records: absolute names": atPath("/dns-records", named(text(func(s string) any { return s + ".example.com." }), "name")).spelling("name"),
		"filters: ignored": query(func(q map[string][]string) {
			for name := range q {
				if name != "page" && name != "page_size" {
					delete(q, name)
				}
			}
		}).spelling("purchase_price"),
		"domains with a dot":   atPath("/domains", named(text(func(s string) any { return s + "." }), "name")).spelling("name"),
		"redirect to https":    redirectTo("https").failing(`https`),
		"redirect to a slash":  redirectTo("slash").failing(`redirect`),
		"maintenance page 503": htmlPage(503).failing(`503`),
		"gateway page 502":     htmlPage(502).failing(`502`),
		"login page 200":       htmlPage(200).failing(pointsToProxy),
		"empty bodies of creates": body(func(r *http.Request, a *answer) {
			if isCreate(r) && a.succeeded() {
				a.body = nil
			}
		}).failing(pointsToProxy),
		"empty bodies": body(func(_ *http.Request, a *answer) {
			if a.succeeded() {
				a.body = nil
			}
		}).failing(pointsToProxy),
		"delete: 404": body(func(r *http.Request, a *answer) {
			if r.Method == http.MethodDelete && a.succeeded() {
				a.status, a.body = 404, []byte(`{"detail":[{"loc":["path"],"msg":"no such object","type":"not_found"}]}`)
			}
		}),
		"delete: 410": body(func(r *http.Request, a *answer) {
			if r.Method == http.MethodDelete && a.succeeded() {
				a.status, a.body = 410, []byte(`{"detail":"gone"}`)
			}
		}),
		"purchase: another word": atPath("/domains/purchase", named(text(func(string) any { return "ok" }), "status")),
		"purchase: no id":        atPath("/domains/purchase", named(remove, "id")),
		"purchase: no results":   atPath("/domains/purchase", named(remove, "results")),
		"purchase: failed by another word": atPath("/domains/purchase", whole(func(v any) any {
			p := v.(map[string]any)
			if results, _ := p["results"].([]any); len(results) > 0 {
				results[0] = map[string]any{"domain_name": "acme.com", "status": "DONE"}
			}
			return p
		})),
		"lists lag by 2 requests": lagging(2).spelling("created_at", "updated_at", "outbound_routing_ready", "status"),
		"lists lag by 6 requests": lagging(6).failing(`can't be found yet|not found|no such object|import|does not show it yet`).spelling("created_at", "updated_at", "outbound_routing_ready", "status"),
		"errors: a text":          errorsAs(func(msg string) string { return fmt.Sprintf(`{"error":%q}`, msg) }),
		"errors: an object":       errorsAs(func(msg string) string { return fmt.Sprintf(`{"error":{"code":17,"message":%q}}`, msg) }),
		"errors: problem details": errorsAs(func(msg string) string { return fmt.Sprintf(`{"title":"Refused","detail":%q,"status":400}`, msg) }),
		"errors: plain text":      errorsAs(func(msg string) string { return msg }),
		"errors: empty":           errorsAs(func(string) string { return "" }),
		"status: 400 for 409":     status(map[int]int{409: 400}),
		"status: 422 for 409":     status(map[int]int{409: 422}),
		"status: 500 for 422":     status(map[int]int{422: 500}),
	}
}

func (h host) renaming(from, to string) host {
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for _, member := range v {
				walk(member)
			}
			if member, ok := v[from]; ok {
				v[to] = member
				delete(v, from)
			}
		case []any:
			for _, element := range v {
				walk(element)
			}
		}
		return v
	}
	return whole(walk)
}

// atPath limits a host's difference to the paths that end in a suffix or go on below it.
func atPath(suffix string, h host) host {
	change := h.response
	h.response = func(r *http.Request, a *answer) {
		if strings.HasSuffix(r.URL.Path, suffix) || strings.Contains(r.URL.Path, suffix+"/") && suffix == "/domains" && !strings.HasSuffix(r.URL.Path, "/purchase") {
			change(r, a)
		}
	}
	return h
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

func refusePageSize(code int, text string) func(r *http.Request, a *answer) {
	return func(r *http.Request, a *answer) {
		if size, _ := strconv.Atoi(r.URL.Query().Get("page_size")); size > 100 {
			a.status, a.body = code, []byte(text)
		}
	}
}

// life is the sequence of a kind's walks on our server, which a host's are compared with.
type hostLife struct {
	*lossy
	name             string
	kind             kind
	base, made       func() error // restore the account before and after the create
	state            core.State   // after the create
	content, changed string       // of the account after the create, and after the update
	empty, destroyed string       // before the create, and after the destroy
	created, updated map[string]string
	// conflicted is the account after a second create, and conflictError its error.
	conflicted, conflictError string
}

const hostAddress = ".x"

func (l *hostLife) config(k values) *core.Configuration {
	return &core.Configuration{Blocks: []*core.Block{{Addr: l.name + hostAddress, Arguments: k}}}
}

var varyingValue = regexp.MustCompile(`(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d[T ][0-9:.]+(Z|[+-]\d\d:\d\d)?|\b\d{10}\b|mhsa_\w+`)

func (l *hostLife) shown(s core.State) map[string]string {
	all := map[string]string{}
	if o := s[l.name+hostAddress].Current; o != nil {
		for name, v := range core.Attributes(o.State) {
			all[name] = varyingValue.ReplaceAllString(core.Shown(v), "…")
		}
		for _, random := range []string{"generated_secret", "token_last4", "token_public_id"} {
			delete(all, random)
		}
		if l.name == "mailhost_dns_record" {
			delete(all, "id")
		}
		delete(all, "record_ids")
	}
	return all
}

// TestOtherHosts creates, reads, updates, imports and destroys an object of each kind on hosts that differ from the
// contract. The provider works and the next plan is empty, or it fails with an error that names the difference. It
// never pays twice, deletes what nobody asked for, forgets an object that exists, or stores a wrong value.
func TestOtherHosts(t *testing.T) {
	t.Parallel()
	for _, publishedOnly := range []bool{false, true} {
		o := acctest.Options{PublishedOnly: publishedOnly}
		for k, name := range slices.Sorted(maps.Keys(withSet(t, acctest.NewServer(t, o)))) {
			t.Run(fmt.Sprintf("%s, published only %t", name, publishedOnly), func(t *testing.T) {
				t.Parallel()
				s := acctest.NewServer(t, o)
				l := &hostLife{lossy: &lossy{Server: s, t: t}, name: name, kind: withSet(t, s)[name]}
				if name == "mailhost_mailbox_set" {
					l.kind.config = merged(l.kind.config, values{"max_deletions": 9})
				}
				l.plain()
				all := hosts()
				for i, of := range slices.Sorted(maps.Keys(all)) {
					// Each host is tried with the kinds that cost money, and with some of the others.
					few := map[bool]int{false: 3, true: 8}[testing.Short()]
					isPaid := name == "mailhost_domain" || name == "mailhost_dedicated_ip"
					if i%few != k%few && (!isPaid || testing.Short()) || publishedOnly && !concernsLists.MatchString(of) {
						continue
					}
					t.Run(of, func(t *testing.T) {
						l.t, l.host = t, all[of]
						l.try()
					})
				}
			})
		}
	}
}

// concernsLists matches the hosts to try where the provider reads objects from lists.
var concernsLists = regexp.MustCompile(`^(page|total|items|envelope|ids|names|lists|login|empty bodies|status: (4|204)|null)`)

func (l *hostLife) snapshot() func() error {
	restore, err := l.Service.Snapshot(l.t.Context())
	assert.NilError(l.t, err)
	return func() error {
		defer l.Journal.Clear()
		if err := restore(l.t.Context()); err != nil {
			return err
		}
		return l.Clock.Set(time.Now())
	}
}

// run plans and applies, and returns the state, which is the prior state after a failed plan.
func (l *hostLife) run(config *core.Configuration, prior core.State) (core.State, error) {
	plan, err := l.plan(config, prior)
	if err != nil {
		return prior, err
	}
	return l.apply(plan, 0, loss{})
}

func (l *hostLife) plan(config *core.Configuration, prior core.State) (*core.Plan, error) {
	if l.host.settle != nil {
		l.host.settle()
	}
	return l.lossy.plan(config, prior)
}

// account returns the content of the account, and the operations that changed it.
func (l *hostLife) account() string {
	l.t.Helper()
	var all []string
	for _, e := range l.Owner(l.t).Changes() {
		all = append(all, e.Operation)
	}
	slices.Sort(all)
	return l.lossy.content() + "\n" + strings.Join(all, "\n")
}

// plain runs the walks on our server.
func (l *hostLife) plain() {
	var err error
	l.base = l.snapshot()
	l.empty = l.account()
	l.Journal.Clear()
	l.state, err = l.run(l.config(l.kind.config), core.State{})
	assert.NilError(l.t, err)
	l.content, l.created = l.account(), l.shown(l.state)
	l.made = l.snapshot()
	if l.kind.change != nil {
		l.Journal.Clear()
		after, err := l.run(l.config(merged(l.kind.config, l.kind.change)), l.state)
		if l.changed, l.updated = l.account(), l.shown(after); err != nil {
			l.kind.change = nil // the published operations can't
		}
	}
	assert.NilError(l.t, l.made())
	_, err = l.run(&core.Configuration{}, l.state)
	assert.NilError(l.t, err)
	l.destroyed = l.account()
	assert.NilError(l.t, l.made())
	if _, err = l.run(l.config(l.kind.config), core.State{}); err != nil {
		l.conflictError = err.Error()
	}
	l.conflicted = l.account()
}

// try runs the walks on a host.
func (l *hostLife) try() {
	l.create()
	l.refresh()
	if l.kind.change != nil {
		l.update()
	}
	l.conflict()
	l.importObject()
	l.destroy()
}

// conflict applies the configuration again with an empty state. The result is the same as on our server: an error or
// another object, and never a change of the existing one.
func (l *hostLife) conflict() {
	l.t.Helper()
	assert.NilError(l.t, l.made())
	state, err := l.run(l.config(l.kind.config), core.State{})
	if isSecond := l.conflicted != l.content; err == nil && !isSecond && l.conflictError != "" {
		l.t.Errorf("conflict: no error, and the state is %v; on our server: %s", l.shown(state), l.conflictError)
	}
	if got := l.account(); got != l.content && got != l.conflicted {
		l.t.Errorf("conflict: %v\nthe account is not as on our server:\n%s", err, changedLines(l.conflicted, got))
	}
}

// check checks an error of a step.
func (l *hostLife) check(step string, err error) bool {
	l.t.Helper()
	if err == nil {
		return true
	}
	text := err.Error()
	assert.Check(l.t, !strings.Contains(text, l.Token) && !strings.Contains(text, "Bearer "), "%s: the error contains a secret: %s", step, text)
	isAgain := strings.HasSuffix(step, " again") && regexp.MustCompile(`exists|already|import|adopt`).MatchString(text)
	if fails := l.host.fails; !isAgain && (fails == "" || !regexp.MustCompile(fails).MatchString(text)) {
		l.t.Errorf("%s: %s", step, text)
	}
	return false
}

// expect compares the account and the state after a step with those on our server.
func (l *hostLife) expect(step string, state core.State, config values, content string, want map[string]string) {
	l.t.Helper()
	if got := l.account(); got != content {
		l.t.Errorf("%s: the account is not as on our server:\n%s", step, changedLines(content, got))
	}
	got := l.shown(state)
	for _, attribute := range l.host.spells {
		got[attribute] = want[attribute]
	}
	for _, attribute := range slices.Sorted(maps.Keys(want)) {
		if got[attribute] != want[attribute] {
			l.t.Errorf("%s: %s is %s, on our server %s", step, attribute, got[attribute], want[attribute])
		}
	}
	plan, err := l.plan(l.config(config), state)
	if l.check(step+", the next plan", err) && len(plan.Effective()) > 0 {
		l.t.Errorf("%s: the next plan is not empty: %s", step, plan)
	}
}

func (l *hostLife) create() {
	l.t.Helper()
	assert.NilError(l.t, l.base())
	config := l.config(l.kind.config)
	state, err := l.run(config, core.State{})
	if l.check("create", err) {
		l.expect("create", state, l.kind.config, l.content, l.created)
		return
	}
	first := err.Error()
	for range 2 { // the user tries again
		if got := l.account(); got != l.empty && got != l.content && !l.isPart(got) {
			l.t.Errorf("after a failed create: %v\nthe account is neither as before nor as on our server:\n%s", first, changedLines(l.content, got))
			return
		}
		if state[l.name+hostAddress].Current == nil && l.empty != l.content && l.account() == l.content && !regexp.MustCompile(`may have been|import|secret|exists already`).MatchString(err.Error()) {
			l.t.Errorf("the create's object exists, but the state lacks it: %v", err)
		}
		if text := err.Error(); isTainted.MatchString(text) || mayExist.MatchString(text) && !hasKey(l.name) && l.name != "mailhost_dedicated_ip" {
			return // the next apply replaces it, or the user looks for it first
		}
		if state, err = l.run(config, state); err == nil {
			return
		}
		l.check("create again", err)
	}
}

// isPart reports whether a failed create may have left this: a create of several objects, or one before its settings.
func (l *hostLife) isPart(string) bool {
	return l.name == "mailhost_dns_zone" || l.name == "mailhost_mailbox_set"
}

func (l *hostLife) refresh() {
	l.t.Helper()
	assert.NilError(l.t, l.made())
	plan, err := l.plan(l.config(l.kind.config), l.state)
	if l.check("refresh", err) && len(plan.Effective()) > 0 {
		l.t.Errorf("refresh: the plan is not empty: %s", plan)
	}
	assert.Check(l.t, len(l.Sent()) == 0, "the refresh sent %v", l.Sent())
}

func (l *hostLife) update() {
	l.t.Helper()
	assert.NilError(l.t, l.made())
	config := merged(l.kind.config, l.kind.change)
	state, err := l.run(l.config(config), l.state)
	if l.check("update", err) {
		l.expect("update", state, config, l.changed, l.updated)
		return
	}
	if got := l.account(); got != l.content && got != l.changed {
		l.t.Errorf("after a failed update: %v\n%s", err, changedLines(l.content, got))
	}
	assert.Check(l.t, state[l.name+hostAddress].Current != nil, "the update dropped the object from the state: %v", err)
}

func (l *hostLife) importObject() {
	l.t.Helper()
	assert.NilError(l.t, l.made())
	config := l.config(l.kind.config)
	id := l.state[l.name+hostAddress].Current.ID()
	if l.name == "mailhost_mailbox_set" || l.name == "mailhost_dns_zone" {
		id = "example.com"
	}
	config.Imports = []core.ImportBlock{{To: l.name + hostAddress, ID: id}}
	ours := l.host
	l.host = host{}
	want, err := l.plan(config, core.State{})
	if l.host = ours; err != nil {
		return // the published operations can't
	}
	plan, err := l.plan(config, core.State{})
	if l.check("import", err) && actionsOf(plan) != actionsOf(want) {
		l.t.Errorf("import: the plan is %s, on our server %s", plan, want)
	}
}

func actionsOf(p *core.Plan) string {
	var all []string
	for _, c := range p.Effective() {
		all = append(all, string(c.Action))
	}
	return strings.Join(all, ", ")
}

func (l *hostLife) destroy() {
	l.t.Helper()
	assert.NilError(l.t, l.made())
	state, err := l.run(&core.Configuration{}, l.state)
	content := l.account()
	if l.check("destroy", err) {
		assert.Check(l.t, content == l.destroyed, "destroy: the account is not as on our server:\n%s", changedLines(l.destroyed, content))
		return
	}
	if isThere := content == l.content; isThere {
		assert.Check(l.t, state[l.name+hostAddress].Current != nil, "the destroy dropped the object from the state: %v", err)
	}
}

func changedLines(before, after string) string {
	var lines []string
	had, have := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, line := range had {
		if !slices.Contains(have, line) {
			lines = append(lines, "-"+line)
		}
	}
	for _, line := range have {
		if !slices.Contains(had, line) {
			lines = append(lines, "+"+line)
		}
	}
	return strings.Join(lines, "\n")
}
