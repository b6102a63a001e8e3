package apiserver_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

// dump returns a service's state as the text of a fixture.
func dump(t *testing.T, s *apiserver.Service) string {
	t.Helper()
	f, err := s.DumpFixture(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parseFixture(t *testing.T, text string) *fixture.Fixture {
	t.Helper()
	f, err := fixture.Read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return f
}

// inhabited is a service with all that a fixture can hold, some of it in states
// that end by themselves.
func inhabited(t *testing.T) *harness {
	h := newHarness(t, func(o *apiserver.Options) {
		o.Registrar.ProvisioningDelay, o.Registrar.Prices = apiserver.Duration(time.Hour), map[string]string{"com": "1.00"}
		o.MaxMailboxes = 50
	})
	if err := h.svc.LoadFixture(t.Context(), exampleFixtureWithoutRules(t)); err != nil {
		t.Fatal(err)
	}
	sales := h.workspace("Sales")
	h.purchase(sales, "new.com").want(200)
	h.domain("old.com")
	h.clock.Advance(2 * time.Hour)
	h.purchase(sales, "young.com").want(200)
	h.mailbox("young.com", "provisioning")
	h.mailbox("old.com", "jane")
	h.patch("/domains/old.com", obj{"redirect_url": "https://www.old.com/", "auto_renew": true}).want(200)
	h.record("old.com", "www", "A", "192.0.2.1").want(201)
	h.record("old.com", "@", "TXT", strings.Repeat("long ", 80)).want(201)
	h.post("/dns-records", obj{"domain": "old.com", "name": "mail", "type": "MX", "value": "mx.old.com", "prio": 5, "ttl": 60}).want(201)
	h.post("/dedicated-ips/claim", obj{"option_id": h.option("eu")}).want(201)

	h.forwarding("jane@old.com", obj{})
	h.forwarding("late@old.com", obj{"domain": "old.com"}) // pending, and then a mailbox
	h.mailbox("old.com", "late")
	h.forwarding("gone@old.com", obj{"workspace_id": sales})
	leaves := h.mailbox("old.com", "leaves")
	h.forwarding("leaves@old.com", obj{}) // internal, and then no mailbox
	h.delete("/mailboxes/" + leaves).want(204)
	h.post("/forwarding", obj{"target_email": "pending@example.org", "domain": "new.com"}).want(201)

	for _, grant := range []obj{
		{"grant_kind": "capability", "subject_type": "user", "subject_id": "u1", "capability_key": "mailbox.view"},
		{"grant_kind": "capability", "subject_type": "group", "subject_id": "g1", "capability_key": "domain.view", "resource_type": "workspace", "resource_id": sales},
		{"grant_kind": "capability", "subject_type": "group", "subject_id": "g1", "capability_key": "mailbox.view", "resource_type": "domain", "resource_id": h.get("/domains/old.com").str("id")},
		{"grant_kind": "account_owner", "subject_type": "user", "subject_id": "u2"},
	} {
		h.post("/auth/authorizations", grant).want(201)
	}
	h.password("ops", obj{})
	h.post("/auth/service-accounts", obj{"name": "ci"}).want(201)
	h.post("/billing/change-plan", obj{"effective_date": start.Add(240 * time.Hour).Format(time.RFC3339)}).want(200)
	h.post("/billing/cancel-plan", obj{"cancel_at_period_end": true}).want(200)
	return h
}

// exampleFixtureWithoutRules is the example, but for the rules in it.
func exampleFixtureWithoutRules(t *testing.T) *fixture.Fixture {
	f := exampleFixture(t)
	f.Registrar = nil
	return f
}

func TestDumpFixtureRoundTrip(t *testing.T) {
	t.Parallel()
	h := inhabited(t)
	before, looks := dump(t, h.svc), h.looks()
	if err := h.svc.Reset(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(dump(t, h.svc), "old.com") {
		t.Fatal("the reset left something")
	}
	if err := h.svc.LoadFixture(t.Context(), parseFixture(t, before)); err != nil {
		t.Fatalf("%v in:\n%s", err, before)
	}
	sameText(t, "the dump after a reset", dump(t, h.svc), before)
	same(t, "what the API shows", h.looks(), looks)

	other := newHarness(t, func(o *apiserver.Options) { o.Registrar.Taken = []string{"taken.org"} })
	other.clock.Advance(2 * time.Hour)
	if err := other.svc.Reset(t.Context(), parseFixture(t, before)); err != nil {
		t.Fatal(err)
	}
	sameText(t, "the dump of another service", dump(t, other.svc), before)
	other.clock.Advance(time.Hour)
	other.get("/domains/young.com").is("status", "active")
	other.get("/mailboxes/provisioning@young.com").is("status", "active")
}

func sameText(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(gotLines), len(wantLines)) {
		if gotLines[i] != wantLines[i] {
			t.Fatalf("%s differs in line %d:\n got %s\nwant %s", what, i+1, gotLines[i], wantLines[i])
		}
	}
	t.Fatalf("%s has %d lines, want %d", what, len(gotLines), len(wantLines))
}

// looks is what the API shows that a fixture holds, without times.
func (h *harness) looks() (pages []string) {
	h.t.Helper()
	for _, path := range []string{"", "/domains", "/mailboxes?search=jane", "/workspaces", "/dedicated-ips", "/dedicated-ips/options"} {
		var v any
		if err := json.Unmarshal(h.get(path).want(200).raw, &v); err != nil {
			h.t.Fatal(err)
		}
		text, err := json.Marshal(undated(v))
		if err != nil {
			h.t.Fatal(err)
		}
		pages = append(pages, path+" "+string(text))
	}
	return pages
}

func undated(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "created_at")
		delete(v, "updated_at")
		for name := range v {
			v[name] = undated(v[name])
		}
	case []any:
		for i := range v {
			v[i] = undated(v[i])
		}
	}
	return v
}

func TestDumpFixtureHoldsNoSecret(t *testing.T) {
	t.Parallel()
	h := inhabited(t)
	text := dump(t, h.svc)
	for _, secret := range []string{"mhsa", "argon2", "ops", "verify-forwarding", "hostmaster", "+49"} {
		if strings.Contains(text, secret) {
			t.Errorf("the dump holds %q", secret)
		}
	}
}

// A pending rule of a dump can be confirmed by its new link.
func TestDumpFixtureOfAPendingRule(t *testing.T) {
	t.Parallel()
	h := inhabited(t)
	text := dump(t, h.svc)
	if err := h.svc.Reset(t.Context(), parseFixture(t, text)); err != nil {
		t.Fatal(err)
	}
	to := []string{}
	for _, m := range h.svc.Outbox() {
		to = append(to, m.To)
	}
	slices.Sort(to)
	same(t, "messages", to, []string{"archive@example.org", "gone@old.com", "leaves@old.com", "pending@example.org"})
}

// What was scheduled for a cancelled account never happens, and is no part of it.
func TestDumpFixtureOfACancelledAccount(t *testing.T) {
	h := newHarness(t)
	h.post("/billing/change-plan", obj{"plan_id": "smtp_per_proxy", "effective_date": "2026-04-02T00:00:00Z"}).want(200)
	if text := dump(t, h.svc); !strings.Contains(text, "next_plan_id") {
		t.Errorf("the change is not told: %s", text)
	}
	h.post("/billing/cancel-plan", obj{"cancel_immediately": true}).want(200)
	text := dump(t, h.svc)
	if strings.Contains(text, "next_plan_id") || strings.Contains(text, "cancels_at") || !strings.Contains(text, `"cancelled"`) {
		t.Errorf("%s", text)
	}
	if err := h.svc.Reset(t.Context(), parseFixture(t, text)); err != nil {
		t.Errorf("the dump is no fixture: %v", err)
	}
}

func TestFixtureAuthorizations(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	f := parseFixture(t, `{"accounts":[{"id":"`+fixtureAccount+`","workspaces":[{"name":"Sales"}],"domains":[{"name":"example.com"}],"authorizations":[
		{"subject_id":"u1","capability_key":"mailbox.view"},
		{"subject_type":"group","subject_id":"g1","capability_key":"mailbox.view","resource_type":"domain","resource":"EXAMPLE.com."},
		{"subject_type":"group","subject_id":"g1","capability_key":"mailbox.view","resource_type":"workspace","resource":"Sales"},
		{"subject_id":"u1","grant_kind":"super_admin"}]}]}`)
	for range 2 { // the ids are the same each time
		if err := h.svc.Reset(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	c := h.owner(t, fixtureAccount)
	domain := c.get("/domains/example.com").str("id")
	c.get("/auth/authorizations?subject_type=group").want(200).is("0.subject_id", "g1", "0.resource_id", domain, "1.resource_type", "workspace")
	c.get("/auth/authorizations?subject_id=u1").want(200).is("0.capability_key", "mailbox.view", "1.grant_kind", "super_admin")
}

func TestFixtureRules(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(o *apiserver.Options) { o.Registrar.Taken = []string{"taken.com"} })
	h.domain("example.com")
	price := func(domain string) string {
		return h.purchase(h.defaultWorkspace(), domain).want(200).str("estimated_total")
	}
	load := func(text string) {
		t.Helper()
		if err := h.svc.LoadFixture(t.Context(), parseFixture(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	if price("taken.com") != "" || price("a.com") != "12.00" {
		t.Error("the rules of the options do not hold")
	}
	load(`{"accounts":[]}`)
	load(`{"max_mailboxes":1,"accounts":[]}`)
	if price("taken.com") != "" {
		t.Error("a fixture without a registrar replaced it")
	}
	h.mailbox("example.com", "a")
	h.createMailbox("example.com", "b").refused(409, "body conflict")
	load(`{"registrar":{"taken":["Bücher.com"],"prices":{"COM":"3.00"}},"accounts":[]}`)
	if price("xn--bcher-kva.com") != "" || price("taken.com") != "3.00" {
		t.Error("the rules of the fixture do not hold")
	}
	h.createMailbox("example.com", "b").refused(409, "body conflict")
	load(`{"max_mailboxes":0,"registrar":{},"accounts":[]}`)
	h.mailbox("example.com", "b")
	if price("b.com") != "12.00" {
		t.Error("an empty registrar is not the usual one")
	}
	load(`{"max_mailboxes":1,"accounts":[]}`)
	if err := h.svc.Reset(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	h.owner(t, accountID)
	if price("taken.com") != "" {
		t.Error("a reset does not bring the rules of the options back")
	}
	h.domain("example.com")
	h.mailbox("example.com", "a")
	h.mailbox("example.com", "b")
}

func TestFixtureIsNotChanged(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	f := &fixture.Fixture{Registrar: &apiserver.Registrar{Taken: []string{"Bücher.com"}}}
	before, _ := json.Marshal(f)
	if err := h.svc.LoadFixture(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if after, _ := json.Marshal(f); !bytes.Equal(before, after) {
		t.Errorf("fixture %s, before %s", after, before)
	}
}
