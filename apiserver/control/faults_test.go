package control_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

const key = "5f0c9c52-5d0c-4c7e-9a53-3f1c2d8e7a10"

// add adds a fault rule to the control plane.
func (h *harness) add(r fault.Rule) string {
	h.Helper()
	id, err := h.plane.Faults.Add(r)
	assert.NilError(h, err)
	return id
}

// held waits until a rule holds n requests.
func (h *harness) held(id string, n int) {
	h.Helper()
	_, err := h.plane.Faults.AwaitHeld(h.Context(), id, n)
	assert.NilError(h, err)
}

func (h *harness) release(id string, n int) {
	h.Helper()
	released, err := h.plane.Faults.Release(id)
	assert.Assert(h, err == nil && released == n, "released %d, %v; want %d", released, err, n)
}

// TestLostResponses checks errors and dropped connections, before and after the operation. A retry
// of an executed request gets the replayed response.
func TestLostResponses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rule       fault.Rule
		retryAfter string
		typ        string // of the error; empty without a response
		executed   bool
	}{
		"an error before":  {fault.Rule{Status: 503, RetryAfter: 7}, "7", "unavailable", false},
		"an error after":   {fault.Rule{Status: 500, After: true}, "", "internal", true},
		"no more before":   {fault.Rule{Drop: fault.Before}, "", "", false},
		"no more after it": {fault.Rule{Drop: fault.After}, "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(h *harness, c caller) {
				rule := tt.rule // a copy, because both callers run at once
				rule.Operation, rule.Nth = "create-workspace", 1
				id := h.add(rule)
				a := c.do("POST", "/workspaces", `{"name":"Sales"}`, "Idempotency-Key", key)
				if tt.typ == "" && a.err == nil {
					t.Errorf("received a response: %+v", a)
				} else if tt.typ != "" && (a.status != tt.rule.Status || a.header.Get("Retry-After") != tt.retryAfter || a.header.Get("X-Request-Id") == "" ||
					a.header.Get("Content-Type") != "application/json" || !strings.Contains(a.body, `"type":"`+tt.typ) || !strings.Contains(a.body, "fault "+id) || strings.Contains(a.body, "Sales")) {
					t.Errorf("%+v", a)
				}
				n := c.total("/workspaces")
				assert.Check(t, (n == 2) == tt.executed, "%d workspaces, executed: %t", n, tt.executed)
				a = c.must("POST", "/workspaces", `{"name":"Sales"}`, "Idempotency-Key", key)
				replayed := a.header.Get("Idempotency-Replayed")
				assert.Check(t, (replayed == "true") == tt.executed, "replayed %q", replayed)
				assert.Check(t, is.Equal(c.total("/workspaces"), 2), "workspaces")
				state, err := h.plane.Faults.Rule(id)
				assert.Check(t, err == nil && state.Matched == 2 && state.Fired == 1, "%+v, %v", state, err)
			})
		})
	}
}

// TestDelayFault checks that a rule can combine a delay with an action, and that removing the rule
// ends the delay.
func TestDelayFault(t *testing.T) {
	t.Parallel()
	both(t, func(h *harness, c caller) {
		id := h.add(fault.Rule{Operation: "get-account", Delay: apiserver.Duration(time.Hour), Status: 502})
		responses := c.later("GET", "", "")
		_, err := h.plane.Faults.Await(t.Context(), id, func(s fault.State) bool { return s.Fired == 1 })
		assert.NilError(t, err)
		assert.NilError(t, h.plane.Faults.Remove(id))
		a := apitest.Receive(t, responses)
		assert.Check(t, a.status == 502, "%+v", a)
	})
}

// TestHeldCreates checks that a hold can make two creates overlap: creates of one address before
// the first is executed, and creates with one key after the first is executed.
func TestHeldCreates(t *testing.T) {
	t.Parallel()
	for point, tt := range map[fault.Point]struct {
		headers []string
		first   int
	}{fault.Before: {nil, 409}, fault.After: {[]string{"Idempotency-Key", key}, 201}} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			both(t, func(h *harness, c caller) {
				c.Domain("example.com")
				id := h.add(fault.Rule{Operation: "create-mailbox", Hold: point, Nth: 1})
				slow := c.later("POST", "/mailboxes", mailbox("jane"), tt.headers...)
				h.held(id, 1)
				quick := c.must("POST", "/mailboxes", mailbox("jane"), tt.headers...)
				replayed := quick.header.Get("Idempotency-Replayed") == "true"
				assert.Check(t, replayed == (point == fault.After), "the second request: %+v", quick)
				h.release(id, 1)
				a := apitest.Receive(t, slow)
				assert.Check(t, a.status == tt.first && (a.status != 201 || a.body == quick.body), "the first request: %+v, the second: %+v", a, quick)
				assert.Check(t, is.Equal(c.total("/mailboxes"), 1), "mailboxes")
			})
		})
	}
}

func TestHoldEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*harness, string, context.CancelFunc){
		"by its release": func(h *harness, id string, _ context.CancelFunc) { h.release(id, 2) },
		"with the rule":  func(h *harness, id string, _ context.CancelFunc) { _ = h.plane.Faults.Remove(id) },
		"with all rules": func(h *harness, _ string, _ context.CancelFunc) { h.plane.Faults.Clear() },
		"with a reset":   func(h *harness, _ string, _ context.CancelFunc) { _ = h.plane.Reset(h.Context(), h.service) },
		"with a drain":   func(h *harness, _ string, _ context.CancelFunc) { h.service.Drain() },
		"with its clients": func(h *harness, id string, hangUp context.CancelFunc) {
			hangUp()
			_, err := h.plane.Faults.Await(h.Context(), id, func(s fault.State) bool { return s.Held == 0 })
			assert.NilError(h, err)
		},
	} {
		for _, point := range []fault.Point{fault.Before, fault.After} {
			t.Run(name+" "+string(point), func(t *testing.T) {
				t.Parallel()
				both(t, func(h *harness, c caller) {
					id := h.add(fault.Rule{Operation: fault.Any, Hold: point})
					ctx, hangUp := context.WithCancel(t.Context())
					defer hangUp()
					responses := make(chan response)
					for range 2 {
						go func() {
							r, err := http.NewRequestWithContext(ctx, "POST", c.URL+"/v1/public/accounts/"+accountID+"/workspaces", strings.NewReader(`{"name":"Sales"}`))
							if err != nil {
								responses <- response{err: err}
								return
							}
							responses <- c.send(r)
						}()
					}
					h.held(id, 2)
					end(h, id, hangUp)
					apitest.Receive(t, responses)
					apitest.Receive(t, responses)
				})
			})
		}
	}
}

func TestTruncateFault(t *testing.T) {
	t.Parallel()
	both(t, func(h *harness, c caller) {
		c.Domain("example.com")
		c.must("POST", "/mailboxes", mailbox("jane"))
		for _, op := range []struct{ id, method, path, body string }{
			{"list-workspaces", "GET", "/workspaces", ""},
			{"export-mailboxes", "POST", "/mailboxes/export", `{}`},
		} {
			whole := c.must(op.method, op.path, op.body).body
			for _, n := range []int{0, 10, len(whole) - 1} {
				rule := h.add(fault.Rule{Operation: op.id, Truncate: &n})
				a := c.do(op.method, op.path, op.body)
				assert.Check(t, a.status == 200 && a.err != nil && a.body == whole[:n], "%s, %d bytes: %+v", op.id, n, a)
				assert.Check(t, is.Equal(a.header.Get("Content-Length"), fmt.Sprint(len(whole))), "%s, %d bytes", op.id, n)
				assert.NilError(t, h.plane.Faults.Remove(rule))
			}
			// A response that is not longer is sent whole, and the rule has not fired.
			for _, n := range []int{len(whole), 1 << 20} {
				rule := h.add(fault.Rule{Operation: op.id, Truncate: &n})
				a := c.must(op.method, op.path, op.body)
				state, err := h.plane.Faults.Rule(rule)
				entries := h.recorded(op.id)
				last := entries[len(entries)-1]
				assert.Check(t, err == nil && a.body == whole && state.Matched == 1 && state.Fired == 0 && last.Fault == "" && last.Status == 200, "%s, %d bytes: %+v, %+v, %+v", op.id, n, a, state, last)
				assert.NilError(t, h.plane.Faults.Remove(rule))
			}
		}
		h.add(fault.Rule{Operation: fault.Any, Truncate: new(0), Times: 1})
		c.must("DELETE", "/mailboxes/jane@example.com", "") // a response without a body
		a := c.do("GET", "/domains", "")
		assert.Check(t, a.status == 200 && a.err != nil, "%+v", a)
	})
}

// TestResponseBody checks that the body of a response is sent as given.
func TestResponseBody(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for body, want := range map[string]string{
		`{"n":9007199254740993,"f":1.0,"a":null}`: `{"n":9007199254740993,"f":1.0,"a":null}`,
		`[1e2]`: `[1e2]`, `1.0`: `1.0`, `null`: `null`, `false`: `false`, `"<h1>x</h1>"`: `<h1>x</h1>`, `""`: ``, `"null"`: `null`,
	} {
		h.want(204, "DELETE", "/faults", "")
		h.want(201, "POST", "/faults", `{"operation":"list-domains","response":{"status":200,"body":`+body+`}}`)
		a := h.inProcess.do("GET", "/domains", "")
		assert.Check(t, is.Equal(strings.TrimSpace(a.body), want))
		assert.Check(t, (body[0] == '"') == (a.header.Get("Content-Type") != "application/json"), "%s: %v", body, a.header)
		listed := h.raw("GET", "/faults", "").Body.String()
		assert.Check(t, is.Contains(listed, body))
	}
	h.want(422, "POST", "/faults", `{"operation":"*","response":{"status":204,"body":null}}`)
}

// TestSpellings checks that a fault selects a request in any spelling of the same values, and no other one.
func TestSpellings(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.inProcess
	domain := c.Domain("xn--bcher-kva.com")
	jane := c.Mailbox("xn--bcher-kva.com", "jane")
	record := fmt.Sprintf("%.0f", c.CreateRecord("xn--bcher-kva.com", "www", "TXT", "v").Want(201).At("id"))
	addresses := []string{"jane@bücher.com", "jane@xn--bcher-kva.com", "JANE@BÜCHER.COM", "jane@xn--bcher-kva.com.", jane, strings.ToUpper(jane), strings.ReplaceAll(jane, "-", ""), "urn:uuid:" + jane}
	domains := []string{"bücher.com", "xn--bcher-kva.com", "Bücher.com.", domain, strings.ToUpper(domain)}
	workspaces := []string{workspaceID, strings.ToUpper(workspaceID), strings.ReplaceAll(workspaceID, "-", "")}
	path := func(operation, parameter string, send func(string)) func(rule, value string) {
		return func(rule, value string) {
			h.want(201, "POST", "/faults", fmt.Sprintf(`{"operation":%q,"path":{%q:%q},"status":418}`, operation, parameter, rule))
			send(value)
		}
	}
	body := func(operation, member string, send func(string)) func(rule, value string) {
		return func(rule, value string) {
			h.want(201, "POST", "/faults", fmt.Sprintf(`{"operation":%q,"body":{%q:%q},"status":418}`, operation, member, rule))
			send(value)
		}
	}
	for name, tt := range map[string]struct {
		do        func(rule, value string)
		spellings []string
		other     string
	}{
		"mailbox":   {path("get-mailbox", "mailbox", func(v string) { c.do("GET", "/mailboxes/"+url.PathEscape(v), "") }), addresses, "john@bücher.com"},
		"domain":    {path("get-domain", "domain", func(v string) { c.do("GET", "/domains/"+url.PathEscape(v), "") }), domains, "buecher.com"},
		"record":    {path("delete-dns-record", "dns_record_id", func(v string) { c.do("DELETE", "/dns-records/"+v, "") }), []string{record, "0" + record, "+" + record}, record + "0"},
		"in a body": {body("create-mailbox", "domain", func(v string) { c.do("POST", "/mailboxes", `{"domain":"`+v+`"}`) }), domains, "buecher.com"},
		"local":     {body("create-mailbox", "local_part", func(v string) { c.do("POST", "/mailboxes", `{"local_part":"`+v+`"}`) }), []string{"joe", "JOE"}, "jo"},
		"target":    {body("create-forwarding", "target_email", func(v string) { c.do("POST", "/forwarding", `{"target_email":"`+v+`"}`) }), addresses[:4], "john@bücher.com"},
		"workspace": {body("create-forwarding", "workspace_id", func(v string) { c.do("POST", "/forwarding", `{"workspace_id":"`+v+`"}`) }), workspaces, domain},
		"name":      {body("create-workspace", "name", func(v string) { c.do("POST", "/workspaces", `{"name":"`+v+`"}`) }), []string{"Sales.com"}, "sales.com"},
		"of record": {body("create-dns-record", "name", func(v string) { c.do("POST", "/dns-records", `{"domain":"`+domain+`","name":"`+v+`"}`) }), []string{"www", "WWW", "www.bücher.com", "www.xn--bcher-kva.com."}, "ww"},
	} {
		for _, rule := range tt.spellings {
			for _, value := range append(slices.Clip(tt.spellings), tt.other) {
				h.want(204, "DELETE", "/faults", "")
				tt.do(rule, value)
				fired := h.plane.Faults.Rules()[0].Fired
				assert.Check(t, (fired == 1) == (value != tt.other), "%s: a fault for %q and a request for %q", name, rule, value)
			}
		}
	}
	for _, id := range []string{"-1", "0", "99999999999999999999", "1.0", "1e3"} {
		h.want(422, "POST", "/faults", `{"operation":"get-dns-record","path":{"dns_record_id":"`+id+`"},"status":500}`)
	}
}

func TestFaultSelection(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.inProcess
	domain := c.Domain("example.com")
	jane := c.Mailbox("example.com", "jane")
	c.must("POST", "/mailboxes", mailbox("john"))
	for _, tt := range []struct {
		rule         string
		method, path string
		hit          bool
	}{
		{`{"operation":"*"}`, "GET", "/mailboxes", true},
		{`{"operation":"list-mailboxes"}`, "GET", "/mailboxes", true},
		{`{"operation":"list-mailboxes"}`, "GET", "/domains", false},
		{`{"operation":"get-mailbox","path":{"mailbox":"JANE@example.com"}}`, "GET", "/mailboxes/jane@example.com", true},
		{`{"operation":"get-mailbox","path":{"mailbox":"jane@example.com"}}`, "GET", "/mailboxes/jane%40example.com", true},
		{`{"operation":"get-mailbox","path":{"mailbox":"jane@example.com"}}`, "GET", "/mailboxes/john@example.com", false},
		{`{"operation":"*","path":{"mailbox":"jane@example.com"}}`, "GET", "/mailboxes", false},
		{`{"operation":"*","account":"` + strings.ToUpper(accountID) + `"}`, "GET", "/mailboxes", true},
		{`{"operation":"create-mailbox","body":{"local_part":"joe"}}`, "POST", "/mailboxes", true},
		{`{"operation":"create-mailbox","body":{"local_part":"jim"}}`, "POST", "/mailboxes", false},
		{`{"operation":"create-mailbox","body":{"domain":"` + domain + `"}}`, "POST", "/mailboxes", true},
		{`{"operation":"create-mailbox","body":{"first_name":"F","last_name":"L"}}`, "POST", "/mailboxes", true},
		{`{"operation":"create-mailbox","body":{"first_name":"F","last_name":"l"}}`, "POST", "/mailboxes", false},
		{`{"operation":"get-mailbox","path":{"mailbox":"jane@example.com"}}`, "GET", "/mailboxes/" + jane, true},
		{`{"operation":"get-mailbox","path":{"mailbox":"` + jane + `"}}`, "GET", "/mailboxes/jane@example.com", true},
		{`{"operation":"get-mailbox","path":{"mailbox":"john@example.com"}}`, "GET", "/mailboxes/" + jane, false},
		{`{"operation":"*","body":{"local_part":"joe"}}`, "GET", "/mailboxes", false},
		{`{"operation":"*","headers":{"User-Agent":"TERRAFORM/1.11"}}`, "GET", "/mailboxes", true},
		{`{"operation":"*","headers":{"user-agent":"tofu"}}`, "GET", "/mailboxes", false},
		{`{"operation":"*","account":"7c9e6679-7425-40de-944b-e07fc1f90ae7"}`, "GET", "/mailboxes", false},
	} {
		added := h.want(201, "POST", "/faults", tt.rule[:len(tt.rule)-1]+`,"status":418}`)
		body := ""
		if tt.method == "POST" {
			body = mailbox("joe")
		}
		a := c.do(tt.method, tt.path, body, "User-Agent", "provider terraform/1.11.4")
		assert.Check(t, (a.status == 418) == tt.hit, "%s on %s %s: %+v", tt.rule, tt.method, tt.path, a)
		h.want(204, "DELETE", "/faults/"+added["id"].(string), "")
	}
	// A fault selects only requests to an operation.
	h.add(fault.Rule{Operation: fault.Any, Status: 500})
	for path, status := range map[string]int{"/healthz/ready": 200, "/verify-forwarding/x": 404, "/nowhere": 404} {
		resp, err := c.HTTP.Get("http://in.process" + path)
		assert.NilError(t, err)
		if resp.Body.Close(); resp.StatusCode != status {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

// pattern returns one character for each of n requests, an x if the rule fires.
func pattern(t *testing.T, r fault.Rule, n int) string {
	t.Helper()
	h := newHarness(t)
	r.Operation, r.Status = "list-domains", 500
	h.add(r)
	var b strings.Builder
	for range n {
		if h.inProcess.do("GET", "/domains", "").status == 500 {
			b.WriteByte('x')
		} else {
			b.WriteByte('.')
		}
	}
	return b.String()
}

func TestFaultTimes(t *testing.T) {
	t.Parallel()
	for want, rule := range map[string]fault.Rule{
		"xxxxxxxx": {},
		"..x.....": {Nth: 3},
		".x.x.x.x": {Every: 2},
		"xx......": {Times: 2},
		"..x..x..": {Every: 3, Times: 2},
	} {
		assert.Check(t, is.Equal(pattern(t, rule, 8), want), "%+v", rule)
	}
}

func TestPercentIsReproducible(t *testing.T) {
	t.Parallel()
	first := pattern(t, fault.Rule{Percent: 30, Seed: new(uint64(42))}, 200)
	assert.Check(t, is.Equal(pattern(t, fault.Rule{Percent: 30, Seed: new(uint64(42))}, 200), first), "two sequences with the same seed:\n%s", first)
	other := pattern(t, fault.Rule{Percent: 30, Seed: new(uint64(43))}, 200)
	assert.Check(t, other != first, "another seed produces the same sequence")
	n := strings.Count(first, "x")
	assert.Check(t, n >= 40 && n <= 80, "%d of 200 at 30 percent", n)
	all := pattern(t, fault.Rule{Percent: 100}, 20)
	assert.Check(t, !strings.Contains(all, "."), "100 percent: %s", all)
}

func TestFaultsOverHTTP(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	added := h.want(201, "POST", "/faults", `{"operation":"list-domains","hold":"before","times":1}`)
	path := "/faults/" + added["id"].(string)
	assert.Check(t, added["operation"] == "list-domains" && added["held"] == 0.0 && added["matched"] == 0.0, "added: %v", added)
	result := h.want(409, "GET", path+"?held=1&timeout=1ms", "")
	assert.Check(t, strings.Contains(result["error"].(string), "holds 0 requests"), "%v", result)
	responses := h.network.later("GET", "/domains", "")
	state := h.want(200, "GET", path+"?held=1", "")
	assert.Check(t, state["held"] == 1.0 && state["fired"] == 1.0, "%v", state)
	released := h.want(200, "POST", path+"/release", "")
	assert.Check(t, released["released"] == 1.0, "%v", released)
	a := apitest.Receive(t, responses)
	assert.Check(t, a.status == 200, "%+v", a)
	h.add(fault.Rule{Operation: "get-mailbox", Path: map[string]string{"mailbox": "a@b.c"}, Truncate: new(0), Delay: apiserver.Duration(time.Second)})
	var list struct{ Items []fault.State } // a Go program decodes the JSON
	err := json.Unmarshal(h.raw("GET", "/faults", "").Body.Bytes(), &list)
	assert.Assert(t, err == nil && len(list.Items) == 2, "%v, %+v", err, list)
	f := list.Items[1]
	assert.Check(t, f.Path["mailbox"] == "a@b.c" && f.Delay == apiserver.Duration(time.Second) && *f.Truncate == 0, "%+v", f)
	h.want(204, "DELETE", path, "")
	for _, call := range [][2]string{{"GET", path}, {"GET", path + "?held=1"}, {"DELETE", path}, {"POST", path + "/release"}} {
		h.want(404, call[0], call[1], "")
	}
	h.want(201, "POST", "/faults", `{"operation":"*","drop":"after","delay":"1ms","percent":2.5,"seed":7}`)
	h.want(204, "DELETE", "/faults", "")
	if list := h.want(200, "GET", "/faults", ""); len(list["items"].([]any)) != 0 {
		t.Errorf("%v", list)
	}
	for query, status := range map[string]int{"held=x": 422, "held=-1": 422, "timeout=1": 422, "timeout=2h": 422} {
		h.want(status, "GET", path+"?"+query, "")
	}
}

// TestAwaitHeldEndsWithADrain checks that a client waiting for a held request does not block the
// shutdown of the service.
func TestAwaitHeldEndsWithADrain(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.add(fault.Rule{Operation: fault.Any, Hold: fault.Before})
	h.service.Drain()
	h.want(409, "GET", "/faults/"+id+"?held=1&timeout=1m", "")
}

func TestInvalidFaults(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for body, wants := range map[string][]string{
		``:   {"JSON object"},
		`[]`: {"JSON object"},
		`{}`: {`operation: unknown id ""`, "status, response, drop, hold, truncate, page_size, delay: set one"},
		`{"operation":"*","status":500,"when":"now"}`: {`unknown field "when"; there are operation, account`},
		`{"operation":"nope","status":200,"nth":1,"every":2}`: {
			"status: must be 400 to 599", "nth, every, percent: set at most one", `operation: unknown id "nope"`,
		},
		`{"operation":"get-mailbox","status":500,"drop":"after","account":"x","path":{"domain":"x"}}`: {
			"account: must be", `path: the operation has no parameter "domain"`, "status, response, drop, hold, truncate, page_size: set exactly one",
		},
		`{"operation":"list-authorizations","page_size":1}`: {
			"page_size: the operation returns no pages",
		},
		`{"operation":"*","drop":"during"}`:                {"drop: must be one of before, after"},
		`{"operation":"*","hold":"x"}`:                     {"hold: must be one of before, after"},
		`{"operation":"*","truncate":-1}`:                  {"truncate: must be"},
		`{"operation":"*","status":500,"percent":0}`:       {"percent: must be above 0"},
		`{"operation":"*","status":500,"percent":101}`:     {"percent: must be above 0"},
		`{"operation":"*","status":500,"seed":1}`:          {"seed: requires percent"},
		`{"operation":"*","status":500,"times":0}`:         {"times: must be 1 to"},
		`{"operation":"*","drop":"after","retry_after":1}`: {"retry_after: requires status"},
		`{"operation":"*","status":500,"retry_after":1e9}`: {"retry_after: must be"},
		`{"operation":"*","delay":5}`:                      {`delay: must be a duration such as "250ms"`},
		`{"operation":"*","delay":"-5s"}`:                  {"delay: must not be negative"},
		`{"operation":"*","jitter":true,"html":true,"retry_after_date":true,"rst":true,"page_size":-1}`: {
			"jitter: requires delay", "html: requires status", "retry_after_date: requires retry_after", "rst: requires drop", "page_size: must be",
		},
	} {
		result := h.want(422, "POST", "/faults", body)
		for _, part := range wants {
			assert.Check(t, is.Contains(result["error"].(string), part), "%s", body)
		}
	}
	n := len(h.plane.Faults.Rules())
	assert.Check(t, n <= 0, "%d faults were added", n)
}

// TestFaultsCombine checks that delays and page sizes act together with one other rule, wherever it was
// added, and that a rule for one operation is tried before one for all.
func TestFaultsCombine(t *testing.T) {
	t.Parallel()
	const delay, shorter, refused, broken = `{"operation":"list-domains","delay":"30ms"}`, `{"operation":"*","page_size":1}`, `{"operation":"list-domains","status":403}`, `{"operation":"*","status":503}`
	for _, tt := range []struct {
		rules  []string
		status int
		fired  string // by rule
		others int
	}{
		{[]string{delay, refused}, 403, "11", 1},
		{[]string{refused, delay}, 403, "11", 1},
		{[]string{delay, delay, shorter}, 200, "111", 2},
		{[]string{shorter, refused}, 403, "11", 1},
		{[]string{broken, refused}, 403, "01", 0},
		{[]string{broken, delay}, 503, "11", 1},
		{[]string{refused, `{"operation":"list-domains","status":500}`}, 403, "10", 0},
		{[]string{`{"operation":"*","delay":"1ms","page_size":7}`, `{"operation":"list-domains","status":403,"nth":2}`, delay}, 200, "101", 1},
	} {
		h := newHarness(t)
		c := h.inProcess
		c.Domain("example.com")
		c.Domain("example.net")
		h.want(204, "DELETE", "/journal", "")
		for _, rule := range tt.rules {
			h.want(201, "POST", "/faults", rule)
		}
		start := time.Now()
		a := c.do("GET", "/domains", "")
		delays := time.Duration(strings.Count(strings.Join(tt.rules, ""), delay))
		assert.Check(t, a.status == tt.status && time.Since(start) >= delays*30*time.Millisecond, "%s: %+v after %s", tt.rules, a, time.Since(start))
		if a.status == 200 && slices.Contains(tt.rules, shorter) {
			assert.Check(t, strings.Count(a.body, `"name"`) == 1, "%s", a.body)
		}
		fired := ""
		for _, s := range h.plane.Faults.Rules() {
			fired += fmt.Sprint(s.Fired)
		}
		assert.Check(t, is.Equal(fired, tt.fired), "%s", tt.rules)
		e := h.plane.Journal.Entries(journal.Filter{Operation: "list-domains"})[0]
		assert.Check(t, is.Len(e.OtherFaults, tt.others), "%+v", e)
		for n, count := range tt.fired {
			h.want(200, "GET", fmt.Sprintf("/journal?fault=f%d&count=%c", n+1, count), "")
		}
	}
}
