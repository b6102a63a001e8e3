package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
)

// TestNoMistakeIsSilent checks that the control plane reports unknown names.
func TestNoMistakeIsSilent(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, tt := range []struct{ method, path, body, want string }{
		{"POST", "/reset", `{"accounts":[]}`, "no body"},
		{"GET", "/journal?operaton=list-domains", "", `unknown parameter "operaton"; there are operation`},
		{"GET", "/journal?operation=create-mailbx", "", `unknown id "create-mailbx"`},
		{"GET", "/journal?credential=token", "", "credential: must be one of"},
		{"GET", "/journal?status=200&status=201", "", "given twice"},
		{"GET", "/journal?status=20", "", "must be a status code"},
		{"GET", "/journal?wait=x", "", "wait: must be a duration"},
		{"GET", "/journal?count=-1", "", "count: must be"},
		{"GET", "/outbox?too=x", "", "to, forwarding_id"},
		{"GET", "/faults/f1?helt=1", "", "held, timeout"},
		{"GET", "/clock?x=1", "", "the endpoint has none"},
		{"POST", "/faults", `{"operation":"create-mailbx","status":500}`, "unknown id"},
		{"POST", "/accounts", `{"isolatd":true}`, "isolatd"},
		{"POST", "/accounts", `{"isolated":true}`, "no isolated accounts"},
		{"POST", "/accounts", `{"token":"mhsa_name_secret"}`, "a checksum at its end: mhsa_name_secret"},
	} {
		result := h.want(http.StatusUnprocessableEntity, tt.method, tt.path, tt.body)
		assert.Check(t, strings.Contains(result["error"].(string), tt.want), "%s %s %s: %v, want %q", tt.method, tt.path, tt.body, result, tt.want)
	}
}

// TestFixtureOutcomes checks that a load reports objects that it did not create.
func TestFixtureOutcomes(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const id = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	load := func(domains string) string {
		result := h.want(http.StatusOK, "POST", "/fixture", `{"accounts":[{"id":"`+strings.ToUpper(id)+`","domains":`+domains+`}]}`)
		assert.Check(h, is.DeepEqual(result["accounts"], []any{id}))
		var states []string
		for _, o := range result["objects"].([]any) {
			object := o.(map[string]any)
			if kind := object["kind"]; kind == "workspaces" || kind == "dedicated_ip_options" {
				continue // every account comes with it
			}
			states = append(states, fmt.Sprint(object["kind"], " ", object["name"], " ", object["state"]))
		}
		return strings.Join(states, ", ")
	}
	jane := `{"local_part":"jane","first_name":"Jane","last_name":"Doe"}`
	first := `[{"name":"a.test","status":"active","mailboxes":[` + jane + `],"dns_records":[{"name":"www","type":"TXT","value":"x"}]}]`
	for _, tt := range []struct{ domains, want string }{
		{first, "account <nil> created, domains a.test created, mailboxes jane@a.test created, dns_records www.a.test TXT x created"},
		{first, "account <nil> existing, domains a.test existing, mailboxes jane@a.test existing, dns_records www.a.test TXT x existing"},
		{`[{"name":"a.test","auto_renew":true,"mailboxes":[` + strings.Replace(jane, "Doe", "Roe", 1) + `]},{"name":"b.test"}]`,
			"account <nil> existing, domains a.test different, mailboxes jane@a.test different, domains b.test missing"},
	} {
		assert.Check(t, is.Equal(load(tt.domains), tt.want))
	}
	dumped := h.raw("GET", "/fixture", "").Body.String()
	assert.Check(t, !strings.Contains(dumped, "Roe") && !strings.Contains(dumped, "b.test"), "the comparison has changed the account: %s", dumped)
}

// TestResponsesOfFaults checks the faults that imitate a proxy between a client and the API.
func TestResponsesOfFaults(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.advance(72 * time.Hour)
	c := h.network
	for _, name := range []string{"A", "B", "C"} {
		c.must("POST", "/workspaces", `{"name":"`+name+`"}`)
	}
	for _, tt := range []struct {
		rule  string
		check func(response) bool
	}{
		{`"status":502,"html":true,"retry_after":3`, func(r response) bool {
			return r.status == 502 && r.header.Get("Content-Type") == "text/html" && strings.Contains(r.body, "<h1>502 Bad Gateway</h1>") && r.header.Get("Retry-After") == "3"
		}},
		{`"status":503,"retry_after":60,"retry_after_date":true`, func(r response) bool {
			at, err := http.ParseTime(r.header.Get("Retry-After"))
			wait := time.Until(at) - 72*time.Hour // the clock is ahead by 72 hours
			return err == nil && wait > 50*time.Second && wait < 61*time.Second && strings.Contains(r.body, "unavailable")
		}},
		{`"drop":"before","rst":true`, func(r response) bool { return errors.Is(r.err, syscall.ECONNRESET) }},
		{`"page_size":3`, func(r response) bool {
			return r.status == 200 && strings.Contains(r.body, `"page_size":3`) && strings.Contains(r.body, `"total":4`)
		}},
		{`"delay":"20ms","jitter":true`, func(r response) bool { return r.status == 200 }},
		{`"response":{"status":200,"body":"<!DOCTYPE html><title>Sign in</title>"}`, func(r response) bool {
			return r.status == 200 && r.header.Get("Content-Type") == "text/html; charset=utf-8" && r.body == "<!DOCTYPE html><title>Sign in</title>"
		}},
		{`"response":{"status":200,"headers":{"Content-Type":"application/json","X-Cache":"HIT"},"body":"{\"items\": ["}`, func(r response) bool {
			return r.status == 200 && r.header.Get("Content-Type") == "application/json" && r.header.Get("X-Cache") == "HIT" && r.body == `{"items": [`
		}},
		{`"response":{"status":402,"body":{"message":"pay <first>"}}`, func(r response) bool {
			return r.status == 402 && r.header.Get("Content-Type") == "application/json" && r.body == `{"message":"pay <first>"}`+"\n"
		}},
		{`"response":{"status":204}`, func(r response) bool { return r.err == nil && r.status == 204 && r.body == "" }},
	} {
		id := h.want(201, "POST", "/faults", `{"operation":"list-workspaces",`+tt.rule+`}`)["id"].(string)
		a := c.do("GET", "/workspaces?page_size=100", "")
		assert.Check(t, tt.check(a), "%s: %+v", tt.rule, a)
		h.want(204, "DELETE", "/faults/"+id, "")
	}
}

// TestAwaitedLists checks the filters of the journal and the outbox, and that a test can wait for
// their entries.
func TestAwaitedLists(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.network
	c.must("GET", "/workspaces", "")
	waited := make(chan map[string]any, 1)
	go func() { waited <- h.want(http.StatusOK, "GET", "/outbox?to=a@example.org&wait=10s", "") }()
	time.Sleep(20 * time.Millisecond)
	c.must("POST", "/forwarding", `{"target_email":"a@example.org"}`)
	items := apitest.Receive(t, waited)["items"].([]any)
	assert.Check(t, len(items) == 1 && items[0].(map[string]any)["forwarding_id"] != "", "outbox: %v", items)
	for query, want := range map[string]int{
		"?count=2": 200, "?count=1": 409, "?count=3&wait=20ms": 409, "?count=1&method=post&body=a@example.org&account=" + accountID: 200,
		"?count=1&path=/workspaces&credential=service_account": 200, "?wait=1s&method=GET": 200, "?method=HEAD&operation=list-workspaces": 200, "?count=0&body=nobody": 200,
		"?min_count=1": 200, "?min_count=3": 409, "?max_count=2": 200, "?max_count=1": 409, "?min_count=1&max_count=2": 200, "?min_count=3&max_count=4&wait=20ms": 409,
		"?count=1&min_count=1": 422, "?min_count=2&max_count=1": 422, "?max_count=-1": 422, "?min_count=x": 422, "?count=0&body=nobody&wait=20ms": 200,
	} {
		got, result := h.call("GET", "/journal"+query, "")
		assert.Check(t, got == want, "%s: %d %v, want %d", query, got, result, want)
	}
	h.want(http.StatusOK, "GET", "/outbox?count=0&to=b@example.org", "")
	// With an upper limit alone, wait watches for more.
	go func() {
		waited <- h.want(http.StatusConflict, "GET", "/journal?operation=list-domains&count=0&wait=10s", "")
	}()
	time.Sleep(20 * time.Millisecond)
	c.must("GET", "/domains", "")
	assert.Check(t, is.Contains(apitest.Receive(t, waited)["error"], "1 match, want 0"))
	// A failed assertion names what comes near.
	for path, near := range map[string]string{
		"/journal?operation=create-forwarding&body=b@example.org&count=1": `0 match, want 1; the nearest request is seq 2, POST /v1/public/accounts/` + accountID + `/forwarding: its body is {"target_email":"a@example.org"}`,
		"/journal?operation=create-forwarding&status=409&min_count=1":     "0 match, want at least 1; the nearest request is seq 2, POST /v1/public/accounts/" + accountID + "/forwarding: its status is 201",
		"/outbox?to=b@example.org&wait=1ms":                               "0 match, want at least 1; the other messages are to a@example.org (forwarding_id ",
	} {
		assert.Check(t, is.Contains(h.want(http.StatusConflict, "GET", path, "")["error"], near), path)
	}
	h.want(http.StatusNoContent, "DELETE", "/outbox", "")
	h.want(http.StatusOK, "GET", "/outbox?count=0", "")
}

// double is a harness with isolated accounts, like mailhostd.
func double(t *testing.T, configure func(*control.Plane)) (h *harness, url string) {
	t.Helper()
	h = newHarness(t)
	configure(h.plane)
	server := httptest.NewServer(h.plane.API(h.service.Handler()))
	t.Cleanup(server.Close)
	h.plane.NewService = func(_ context.Context, id string, p *control.Plane) (*apiserver.Service, error) {
		return apiserver.New(apiserver.Options{Store: apitest.OpenStore(t), Clock: p.Clock.Now, Middleware: p.Middleware, PublicURL: server.URL + control.IsolatedPath + id})
	}
	t.Cleanup(func() {
		h.plane.Drain()
		assert.Check(t, h.plane.Close())
	})
	return h, server.URL
}

// TestIsolatedAccounts checks that two isolated accounts can do the same at once, and don't see
// each other's objects.
func TestIsolatedAccounts(t *testing.T) {
	t.Parallel()
	h, base := double(t, func(p *control.Plane) { p.IsolateByDefault = true })
	create := func() (c caller, plane string) {
		made := h.want(http.StatusCreated, "POST", "/accounts", `{}`)
		id := made["account_id"].(string)
		want := "http://example.com/accounts/" + id
		assert.Assert(t, made["isolated"] == true && made["control_url"] == want, "%v", made)
		return caller{&apitest.Client{T: t, HTTP: http.DefaultClient, URL: base, Account: id, Token: made["token"].(string)}}, "/accounts/" + id
	}
	one, planeOfOne := create()
	two, planeOfTwo := create()
	for _, c := range []caller{one, two} {
		c.must("POST", "/domains/purchase", h.purchase(c, "example.com"))
		c.must("POST", "/forwarding", `{"target_email":"archive@compliance.example"}`)
	}
	h.want(http.StatusOK, "POST", planeOfOne+"/clock", `{"advance":"72h"}`)
	w := h.raw("POST", planeOfOne+"/faults", `{"operation":"list-domains","status":418}`)
	added, err := (&url.URL{Path: planeOfOne + "/faults"}).Parse(w.Header().Get("Location"))
	assert.NilError(t, err)
	h.want(200, "GET", added.Path, "")
	a := two.do("GET", "/domains", "")
	assert.Check(t, a.status == http.StatusOK, "a fault of one account is in the other: %+v", a)
	a = one.do("GET", "/domains", "")
	assert.Check(t, a.status == 418, "%+v", a)
	for c, ahead := range map[caller]time.Duration{one: 72 * time.Hour, two: 0} {
		date, err := http.ParseTime(c.do("GET", "/domains", "").header.Get("Date"))
		assert.Check(t, err == nil && (time.Until(date)-ahead).Abs() < time.Minute, "Date: %s, %v", date, err)
	}
	a = one.must("GET", "/forwarding", "")
	assert.Check(t, strings.Contains(a.body, `"expired"`), "%s", a.body)
	message := h.want(http.StatusOK, "GET", planeOfTwo+"/outbox?count=1", "")["items"].([]any)[0].(map[string]any)
	resp, err := http.Post(message["link"].(string), "application/x-www-form-urlencoded", nil)
	assert.Check(t, err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK, "%s: %v, %v", message["link"], resp, err)
	a = two.must("GET", "/forwarding", "")
	assert.Check(t, strings.Contains(a.body, `"verified"`), "the link verifies nothing: %s", a.body)
	// An existing account, and an account that no request could reach, are refused.
	ofOne := strings.ToUpper(one.Account)
	for _, tt := range []struct {
		status     int
		path, body string
	}{
		{409, "/accounts", `{"account_id":"` + accountID + `"}`},
		{409, "/accounts", `{"account_id":"` + accountID + `","isolated":true}`},
		{409, "/accounts", `{"account_id":"` + ofOne + `","isolated":false}`},
		{409, "/fixture", `{"accounts":[{"id":"` + ofOne + `"}]}`},
		{409, "/faults", `{"operation":"*","account":"` + ofOne + `","status":500}`},
		{422, planeOfOne + "/faults", `{"operation":"*","account":"` + two.Account + `","status":500}`},
		{409, "/faults", `{"operation":"*","path":{"account_id":"` + ofOne + `"},"status":500}`},
		{422, planeOfOne + "/faults", `{"operation":"*","path":{"account_id":"` + two.Account + `"},"status":500}`},
		{422, planeOfOne + "/accounts", `{}`},
		{422, planeOfOne + "/fixture", `{"accounts":[{"id":"` + two.Account + `"}]}`},
		{200, planeOfOne + "/fixture", `{"accounts":[{"id":"` + ofOne + `"}]}`},
	} {
		h.want(tt.status, "POST", tt.path, tt.body)
	}
	h.network.must("GET", "/domains", "")
	h.want(http.StatusOK, "POST", planeOfOne+"/reset", "")
	if n := one.total("/domains"); n != 0 { // its token survived
		t.Errorf("%d domains after a reset", n)
	}
	assert.Check(t, is.Equal(two.total("/domains"), 1), "the reset of one account deleted the other's domains")
	h.want(http.StatusNoContent, "DELETE", planeOfTwo, "")
	h.want(http.StatusNotFound, "DELETE", planeOfTwo, "")
	h.want(http.StatusNotFound, "GET", planeOfTwo+"/clock", "")
	a = two.do("GET", "/domains", "")
	assert.Check(t, a.status == http.StatusUnauthorized, "of a deleted account: %+v", a)
}

// purchase returns the body of a purchase.
func (h *harness) purchase(c caller, domain string) string {
	text, err := json.Marshal(map[string]any{"workspace_id": c.DefaultWorkspace(), "domains": []string{domain}, "contact_info": sample.Contact()})
	assert.NilError(h, err)
	return string(text)
}

// TestChosenTokens checks that an account with a chosen token survives a reset, and that an account
// can be deleted with its contents.
func TestChosenTokens(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.network
	token := c.Token // a token of the harness is well-formed
	c.Domain("example.com")
	c.must("POST", "/mailboxes", mailbox("jane"))
	h.want(http.StatusNoContent, "DELETE", "/accounts/"+accountID, "")
	h.want(http.StatusNotFound, "DELETE", "/accounts/"+accountID, "")
	a := c.do("GET", "/domains", "")
	assert.Check(t, a.status == http.StatusUnauthorized, "of a deleted account: %+v", a)
	h.want(http.StatusCreated, "POST", "/accounts", `{"account_id":"`+accountID+`","token":"`+token+`"}`)
	c.Domain("example.com")
	for range 2 {
		h.want(http.StatusOK, "POST", "/reset", "")
		assert.Check(t, is.Equal(c.total("/domains"), 0), "domains")
	}
	items := h.want(http.StatusOK, "GET", "/accounts", "")["items"].([]any)
	assert.Check(t, len(items) == 1, "%v", items)
}

// TestSnapshots checks that a snapshot contains everything, and that a thousand objects take little
// time.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.network
	var mailboxes []string
	for i := range 1000 {
		mailboxes = append(mailboxes, fmt.Sprintf(`{"local_part":"m%d","first_name":"F","last_name":"L"}`, i))
	}
	h.want(http.StatusOK, "POST", "/fixture", `{"max_mailboxes":5000,"accounts":[{"id":"7c9e6679-7425-40de-944b-e07fc1f90ae7","domains":[{"name":"a.test","mailboxes":[`+strings.Join(mailboxes, ",")+`]}]}]}`)
	c.must("POST", "/forwarding", `{"target_email":"a@example.org"}`)
	h.advance(time.Hour)
	h.want(http.StatusNotFound, "POST", "/snapshots/full/load", "")
	start := time.Now()
	h.want(http.StatusNoContent, "PUT", "/snapshots/full", "")
	saved := time.Since(start)
	before := h.raw("GET", "/fixture", "").Body.String()
	h.want(http.StatusOK, "POST", "/reset", "")
	start = time.Now()
	h.want(http.StatusNoContent, "POST", "/snapshots/full/load", "")
	t.Logf("1,000 mailboxes: saved in %s, loaded in %s", saved, time.Since(start))
	after := h.raw("GET", "/fixture", "").Body.String()
	assert.Check(t, after == before, "loaded %d bytes, saved %d", len(after), len(before))
	c.must("GET", "/forwarding", "") // the token works again
	ahead := time.Until(h.plane.Clock.Now())
	assert.Check(t, ahead >= 59*time.Minute, "the clock is %s ahead", ahead)
	h.want(http.StatusOK, "GET", "/outbox?count=1&to=a@example.org", "")
	// Armed faults and the journal stay, and a held request ends.
	held, failing := h.add(fault.Rule{Operation: "list-domains", Hold: fault.Before}), h.add(fault.Rule{Operation: "list-workspaces", Status: 500})
	delayed := h.add(fault.Rule{Operation: "get-account", Delay: apiserver.Duration(time.Hour)})
	responses := c.later("GET", "/domains", "")
	slow := c.later("GET", "", "")
	h.held(held, 1)
	_, err := h.plane.Faults.Await(t.Context(), delayed, func(s fault.State) bool { return s.Fired == 1 })
	assert.NilError(t, err)
	h.want(http.StatusNoContent, "POST", "/snapshots/full/load", "")
	for _, ended := range []<-chan response{responses, slow} {
		a := apitest.Receive(t, ended)
		assert.Check(t, a.status == 200, "%+v", a)
	}
	a := c.do("GET", "/workspaces", "")
	state, err := h.plane.Faults.Rule(held)
	assert.Check(t, err == nil && state.Fired == 1 && state.Held == 0 && a.status == 500, "%+v, %+v, %v", state, a, err)
	h.want(http.StatusOK, "GET", "/journal?count=1&fault="+failing, "")
	h.want(http.StatusOK, "GET", "/journal?count=1&fault="+held, "")
	items := h.want(http.StatusOK, "GET", "/snapshots", "")["items"].([]any)
	assert.Check(t, len(items) == 1, "%v", items)
}

func TestHostile(t *testing.T) {
	t.Parallel()
	plane := &control.Plane{Hostile: true}
	plane.Faults.Seed = 7
	s := apitest.New(t, func(o *apiserver.Options) { o.Clock, o.Middleware = plane.Clock.Now, plane.Middleware })
	for range 2 {
		assert.Check(t, is.Equal(len(plane.Faults.Rules()), len(fault.Hostile())), "faults")
		assert.NilError(t, plane.Reset(t.Context(), s.Service))
	}
}

// TestDocuments checks that the documents describe each endpoint, and that their references exist.
func TestDocuments(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	document := h.want(http.StatusOK, "GET", "/openapi.json", "")
	schemas, ids := document["components"].(map[string]any)["schemas"].(map[string]any), map[any]bool{}
	for _, r := range h.want(http.StatusOK, "GET", "/", "")["routes"].([]any) {
		route := r.(map[string]any)
		path, _ := document["paths"].(map[string]any)[route["path"].(string)].(map[string]any)
		operation, ok := path[strings.ToLower(route["method"].(string))].(map[string]any)
		id := operation["operationId"]
		assert.Check(t, ok && id != "" && !ids[id], "%v is not described, or its id %v is taken", route, id)
		ids[id] = true
		for _, p := range operation["parameters"].([]any) {
			p := p.(map[string]any)
			assert.Check(t, p["description"] != "", "%v: %v is not described", route, p["name"])
		}
	}
	for schema, members := range map[string][]any{
		"State": {"id", "operation", "matched", "fired", "held"}, "Entry": {"seq", "method", "path", "status"}, "Message": {"id", "to"}, "CreatedAccount": {"account_id", "token"},
	} {
		required, _ := schemas[schema].(map[string]any)["required"].([]any)
		for _, member := range members {
			assert.Check(t, is.Contains(required, member), schema)
		}
	}
	for _, id := range []string{"/faults", "/accounts"} {
		responses := document["paths"].(map[string]any)[id].(map[string]any)["post"].(map[string]any)["responses"].(map[string]any)
		assert.Check(t, responses["201"] != nil, "%s: %v", id, responses)
	}
	properties := schemas["Rule"].(map[string]any)["properties"].(map[string]any)
	assert.Check(t, properties["page_size"] != nil && properties["delay"].(map[string]any)["type"] == "string", "%v", properties)
	schema := h.want(http.StatusOK, "GET", "/fixture/schema", "")
	h.want(http.StatusOK, "POST", "/fixture", `{"max_mailboxes": 5}`)
	required := schema["$defs"].(map[string]any)["Fixture"].(map[string]any)["required"]
	assert.Check(t, required == nil, "a fixture of settings alone has no %v", required)
	text, err := json.Marshal(schema)
	assert.NilError(t, err)
	for reference := range strings.SplitSeq(string(text), `"$ref":"#/$defs/`) {
		if name, _, _ := strings.Cut(reference, `"`); strings.HasPrefix(name, "{") {
			continue
		} else if schema["$defs"].(map[string]any)[name] == nil {
			t.Errorf("%q is not defined", name)
		}
	}
}
