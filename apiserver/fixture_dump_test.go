package apiserver_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
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

// populated returns a service with everything that a fixture can contain, partly in
// states that end by themselves.
func populated(t *testing.T) *apitest.Server {
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Registrar.ProvisioningDelay, o.Registrar.Prices = apiserver.Duration(time.Hour), map[string]string{"com": "1.00"}
		o.MaxMailboxes = 50
	})
	example := exampleFixture(t)
	example.Registrar = nil // the rules are those of the options
	load(t, h, example)
	sales := h.Workspace("Sales")
	h.Purchase(sales, "new.com").Want(200)
	h.Domain("old.com")
	h.Clock.Advance(2 * time.Hour)
	h.Purchase(sales, "young.com").Want(200)
	h.Mailbox("young.com", "provisioning")
	h.Mailbox("old.com", "jane")
	h.Patch("/domains/old.com", obj{"redirect_url": "https://www.old.com/", "auto_renew": true}).Want(200)
	h.CreateRecord("old.com", "www", "A", "192.0.2.1").Want(201)
	h.CreateRecord("old.com", "@", "TXT", strings.Repeat("long ", 80)).Want(201)
	h.Post("/dns-records", obj{"domain": "old.com", "name": "mail", "type": "MX", "value": "mx.old.com", "prio": 5, "ttl": 60}).Want(201)
	h.Post("/dedicated-ips/claim", obj{"option_id": h.Option("eu")}).Want(201)

	h.Forwarding("jane@old.com", obj{})
	h.Forwarding("late@old.com", obj{"domain": "old.com"}) // pending until the mailbox exists
	h.Mailbox("old.com", "late")
	h.Forwarding("gone@old.com", obj{"workspace_id": sales})
	leaves := h.Mailbox("old.com", "leaves")
	h.Forwarding("leaves@old.com", obj{}) // internal until the mailbox is deleted
	h.Delete("/mailboxes/" + leaves).Want(204)
	h.Post("/forwarding", obj{"target_email": "pending@example.org", "domain": "new.com"}).Want(201)

	for _, grant := range []obj{
		{"grant_kind": "capability", "subject_type": "user", "subject_id": "u1", "capability_key": "mailbox.view"},
		{"grant_kind": "capability", "subject_type": "group", "subject_id": "g1", "capability_key": "domain.view", "resource_type": "workspace", "resource_id": sales},
		{"grant_kind": "capability", "subject_type": "group", "subject_id": "g1", "capability_key": "mailbox.view", "resource_type": "domain", "resource_id": h.Get("/domains/old.com").Str("id")},
		{"grant_kind": "account_owner", "subject_type": "user", "subject_id": "u2"},
	} {
		h.Post("/auth/authorizations", grant).Want(201)
	}
	h.Password("ops", obj{})
	h.Post("/auth/service-accounts", obj{"name": "ci"}).Want(201)
	h.Post("/billing/change-plan", obj{"effective_date": start.Add(240 * time.Hour).Format(time.RFC3339)}).Want(200)
	h.Post("/billing/cancel-plan", obj{"cancel_at_period_end": true}).Want(200)
	return h
}

// TestDumpFixtureRoundTrip checks that a dump restores an account, in its own service and in
// another one.
func TestDumpFixtureRoundTrip(t *testing.T) {
	t.Parallel()
	h := populated(t)
	before := dump(t, h.Service)
	if err := h.Service.Reset(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(dump(t, h.Service), "old.com") {
		t.Fatal("the reset did not delete everything")
	}
	load(t, h, parseFixture(t, before))
	same(t, "the dump after a reset", strings.Split(dump(t, h.Service), "\n"), strings.Split(before, "\n"))

	other := apitest.New(t, func(o *apiserver.Options) { o.Registrar.Taken = []string{"taken.org"} })
	other.Clock.Advance(2 * time.Hour)
	if err := other.Service.Reset(t.Context(), parseFixture(t, before)); err != nil {
		t.Fatal(err)
	}
	same(t, "the dump of another service", strings.Split(dump(t, other.Service), "\n"), strings.Split(before, "\n"))
	other.Clock.Advance(time.Hour)
	other.Get("/domains/young.com").Is("status", "active")
	other.Get("/mailboxes/provisioning@young.com").Is("status", "active")
}

func TestDumpFixtureContainsNoSecrets(t *testing.T) {
	t.Parallel()
	h := populated(t)
	text := dump(t, h.Service)
	for _, secret := range []string{"mhsa", "argon2", "ops", "verify-forwarding", "hostmaster", "+49"} {
		if strings.Contains(text, secret) {
			t.Errorf("the dump contains %q", secret)
		}
	}
}

// TestDumpFixtureOfAPendingRule checks that loading a dump sends new links for its
// pending rules.
func TestDumpFixtureOfAPendingRule(t *testing.T) {
	t.Parallel()
	h := populated(t)
	text := dump(t, h.Service)
	if err := h.Service.Reset(t.Context(), parseFixture(t, text)); err != nil {
		t.Fatal(err)
	}
	to := []string{}
	for _, m := range h.Service.Outbox() {
		to = append(to, m.To)
	}
	slices.Sort(to)
	same(t, "messages", to, []string{"archive@example.org", "gone@old.com", "leaves@old.com", "pending@example.org"})
}

// TestDumpFixtureOfACancelledAccount checks that the dump of a cancelled account does not
// contain scheduled changes.
func TestDumpFixtureOfACancelledAccount(t *testing.T) {
	h := apitest.New(t)
	h.Post("/billing/change-plan", obj{"plan_id": "smtp_per_proxy", "effective_date": "2026-04-02T00:00:00Z"}).Want(200)
	if text := dump(t, h.Service); !strings.Contains(text, "next_plan_id") {
		t.Errorf("the dump does not contain the plan change: %s", text)
	}
	h.Post("/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200)
	text := dump(t, h.Service)
	if strings.Contains(text, "next_plan_id") || strings.Contains(text, "cancels_at") || !strings.Contains(text, `"cancelled"`) {
		t.Errorf("%s", text)
	}
	if err := h.Service.Reset(t.Context(), parseFixture(t, text)); err != nil {
		t.Errorf("the dump can't be loaded: %v", err)
	}
}

func TestFixtureAuthorizations(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	f := parseFixture(t, `{"accounts":[{"id":"`+fixtureAccount+`","workspaces":[{"name":"Sales"}],"domains":[{"name":"example.com"}],"authorizations":[
		{"subject_id":"u1","capability_key":"mailbox.view"},
		{"subject_type":"group","subject_id":"g1","capability_key":"mailbox.view","resource_type":"domain","resource":"EXAMPLE.com."},
		{"subject_type":"group","subject_id":"g1","capability_key":"mailbox.view","resource_type":"workspace","resource":"Sales"},
		{"subject_id":"u1","grant_kind":"super_admin"}]}]}`)
	for range 2 { // ids don't change when the fixture is loaded again
		if err := h.Service.Reset(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	c := h.Owner(t, fixtureAccount)
	domain := c.Get("/domains/example.com").Str("id")
	c.Get("/auth/authorizations?subject_type=group").Want(200).Is("0.subject_id", "g1", "0.resource_id", domain, "1.resource_type", "workspace")
	c.Get("/auth/authorizations?subject_id=u1").Want(200).Is("0.capability_key", "mailbox.view", "1.grant_kind", "super_admin")
}

func TestFixtureRules(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(o *apiserver.Options) { o.Registrar.Taken = []string{"taken.com"} })
	h.Domain("example.com")
	price := func(domain string) string {
		return h.Purchase(h.DefaultWorkspace(), domain).Want(200).Str("estimated_total")
	}
	load := func(text string) {
		t.Helper()
		load(t, h, parseFixture(t, text))
	}
	if price("taken.com") != "" || price("a.com") != "12.00" {
		t.Error("the registrar rules of the options are not applied")
	}
	load(`{"accounts":[]}`)
	load(`{"max_mailboxes":1,"accounts":[]}`)
	if price("taken.com") != "" {
		t.Error("a fixture without a registrar replaced it")
	}
	h.Mailbox("example.com", "a")
	h.CreateMailbox("example.com", "b").Refused(409, "body conflict")
	load(`{"registrar":{"taken":["Bücher.com"],"prices":{"COM":"3.00"}},"accounts":[]}`)
	if price("xn--bcher-kva.com") != "" || price("taken.com") != "3.00" {
		t.Error("the registrar rules of the fixture are not applied")
	}
	h.CreateMailbox("example.com", "b").Refused(409, "body conflict")
	load(`{"max_mailboxes":0,"registrar":{},"accounts":[]}`)
	h.Mailbox("example.com", "b")
	if price("b.com") != "12.00" {
		t.Error("an empty registrar does not have the default prices")
	}
	load(`{"max_mailboxes":1,"accounts":[]}`)
	if err := h.Service.Reset(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	h.Owner(t, accountID)
	if price("taken.com") != "" {
		t.Error("a reset does not restore the registrar rules of the options")
	}
	h.Domain("example.com")
	h.Mailbox("example.com", "a")
	h.Mailbox("example.com", "b")
}

func TestFixtureIsNotChanged(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	f := &fixture.Fixture{Registrar: &apiserver.Registrar{Taken: []string{"Bücher.com"}}}
	before, _ := json.Marshal(f)
	if err := h.Service.LoadFixture(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if after, _ := json.Marshal(f); !bytes.Equal(before, after) {
		t.Errorf("fixture %s, before %s", after, before)
	}
}
