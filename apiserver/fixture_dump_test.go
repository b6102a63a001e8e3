package apiserver_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// dump returns a service's state as the text of a fixture.
func dump(t *testing.T, s *apiserver.Service) string {
	t.Helper()
	f, err := s.DumpFixture(t.Context())
	assert.NilError(t, err)
	text, err := json.MarshalIndent(f, "", " ")
	assert.NilError(t, err)
	return string(text)
}

func parseFixture(t *testing.T, text string) *fixture.Fixture {
	t.Helper()
	f, err := fixture.Read(strings.NewReader(text))
	assert.Assert(t, err == nil, "%v in:\n%s", err, text)
	return f
}

// TestDumpFixture checks that a dump restores an account, in its own service and in another
// service, with states that end by themselves and new links for pending rules, and that it contains
// no secrets.
func TestDumpFixture(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Registrar.ProvisioningDelay, o.MaxMailboxes = apiserver.Duration(time.Hour), 50
	})
	example := exampleFixture(t)
	example.Registrar = nil // the registrar comes from the options
	load(t, h, example)
	sales := h.Workspace("Sales")
	h.Domain("old.com")
	h.Clock.Advance(2 * time.Hour)
	h.Purchase(sales, "young.com").Want(200)
	h.Mailbox("young.com", "provisioning")
	h.CreateRecord("old.com", "@", "TXT", strings.Repeat("long ", 80)).Want(201)
	h.Post("/dedicated-ips/claim", obj{"option_id": h.Option("eu")}).Want(201)
	h.Forwarding("late@old.com", obj{"domain": "old.com"}) // pending until the mailbox exists
	h.Mailbox("old.com", "late")
	h.Forwarding("gone@old.com", obj{"workspace_id": sales})
	leaves := h.Mailbox("old.com", "leaves")
	h.Forwarding("leaves@old.com", obj{}) // internal until the mailbox is deleted
	h.Delete("/mailboxes/" + leaves).Want(204)
	h.GrantTo("group", "g1", apitest.GrantOn(vocab.CapDomainView, "workspace", sales))
	h.Password("ops", obj{})
	h.Post("/auth/service-accounts", obj{"name": "ci"}).Want(201)
	h.Post("/billing/change-plan", obj{"effective_date": start.Add(240 * time.Hour).Format(time.RFC3339)}).Want(200)
	h.Post("/billing/cancel-plan", obj{"cancel_at_period_end": true}).Want(200)

	before := dump(t, h.Service)
	for _, secret := range []string{"mhsa", "argon2", "ops", "verify-forwarding", "hostmaster", "+49"} {
		assert.Check(t, !strings.Contains(before, secret), "the dump contains %q", secret)
	}
	other := apitest.New(t, func(o *apiserver.Options) { o.Registrar.Taken = []string{"taken.org"} })
	other.Clock.Advance(2 * time.Hour)
	for _, s := range []*apitest.Server{h, other} {
		assert.NilError(t, s.Service.Reset(t.Context(), nil))
		load(t, s, parseFixture(t, before))
		same(t, "the dump", strings.Split(dump(t, s.Service), "\n"), strings.Split(before, "\n"))
		to := []string{}
		for _, m := range s.Service.Outbox() {
			to = append(to, m.To)
		}
		slices.Sort(to)
		same(t, "messages", to, []string{"archive@example.org", "gone@old.com", "leaves@old.com"})
	}
	other.Clock.Advance(time.Hour)
	other.Get("/domains/young.com").Is("status", "active")
	other.Get("/mailboxes/provisioning@young.com").Is("status", "active")
}

// TestDumpFixtureOfACancelledAccount checks that the dump of a cancelled account does not
// contain scheduled changes.
func TestDumpFixtureOfACancelledAccount(t *testing.T) {
	h := apitest.New(t)
	h.Post("/billing/change-plan", obj{"plan_id": "smtp_per_proxy", "effective_date": "2026-04-02T00:00:00Z"}).Want(200)
	assert.Check(t, is.Contains(dump(t, h.Service), "next_plan_id"), "the dump does not contain the plan change")
	h.Post("/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200)
	text := dump(t, h.Service)
	assert.Check(t, !strings.Contains(text, "next_plan_id") && !strings.Contains(text, "cancels_at") && strings.Contains(text, `"cancelled"`), text)
	assert.Check(t, h.Service.Reset(t.Context(), parseFixture(t, text)), "the dump can't be loaded")
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
		assert.NilError(t, h.Service.Reset(t.Context(), f))
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
	assert.Check(t, price("taken.com") == "" && price("a.com") == "12.00", "the registrar rules of the options are not applied")
	load(`{"accounts":[]}`)
	load(`{"max_mailboxes":1,"accounts":[]}`)
	assert.Check(t, price("taken.com") == "", "a fixture without a registrar replaced it")
	h.Mailbox("example.com", "a")
	h.CreateMailbox("example.com", "b").Refused(409, "body conflict")
	load(`{"registrar":{"taken":["Bücher.com"],"prices":{"COM":"3.00"}},"accounts":[]}`)
	assert.Check(t, price("xn--bcher-kva.com") == "" && price("taken.com") == "3.00", "the registrar rules of the fixture are not applied")
	h.CreateMailbox("example.com", "b").Refused(409, "body conflict")
	load(`{"max_mailboxes":0,"registrar":{},"accounts":[]}`)
	h.Mailbox("example.com", "b")
	assert.Check(t, price("b.com") == "12.00", "an empty registrar does not have the default prices")
	load(`{"max_mailboxes":1,"accounts":[]}`)
	assert.NilError(t, h.Service.Reset(t.Context(), nil))
	h.Owner(t, accountID)
	assert.Check(t, price("taken.com") == "", "a reset does not restore the registrar rules of the options")
	h.Domain("example.com")
	h.Mailbox("example.com", "a")
	h.Mailbox("example.com", "b")
}

func TestFixtureIsNotChanged(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	f := &fixture.Fixture{Registrar: &apiserver.Registrar{Taken: []string{"Bücher.com"}}}
	before, _ := json.Marshal(f)
	assert.NilError(t, h.Service.LoadFixture(t.Context(), f))
	after, _ := json.Marshal(f)
	assert.Check(t, bytes.Equal(before, after), "fixture %s, before %s", after, before)
}

// TestDumpEqualsLoadedFixture checks that the dump of a fixture equals the fixture, with every
// field and id set and no default value.
func TestDumpEqualsLoadedFixture(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/every_field.json")
	assert.NilError(t, err)
	h, f := apitest.New(t), parseFixture(t, string(text))
	seen := map[reflect.Type]map[string]bool{}
	noteFields(seen, reflect.ValueOf(*f))
	for range 2 { // the second time with its own dump
		assert.NilError(t, h.Service.Reset(t.Context(), f))
		same(t, "the dump: a field that it lacks must have the Go name of the stored field, or be set by the kind's functions in apiserver/fixture", strings.Split(dump(t, h.Service)+"\n", "\n"), strings.Split(string(text), "\n"))
		f = parseFixture(t, dump(t, h.Service))
	}
	outcomes, err := h.Service.ApplyFixture(t.Context(), f)
	assert.NilError(t, err)
	for _, o := range outcomes {
		assert.Check(t, o.Name != "" || o.Kind == "account", "an outcome of %s has no name; add its kind to nameOf (fixture/compare.go)", o.Kind)
	}
	for typ, fields := range seen {
		for field := range typ.Fields() {
			assert.Check(t, fields[field.Name], "every_field.json has no %s of a %s", field.Name, typ)
		}
	}
}

// noteFields adds the non-zero fields of all structs in v to seen.
func noteFields(seen map[reflect.Type]map[string]bool, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		noteFields(seen, v.Elem())
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			noteFields(seen, v.Index(i))
		}
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		if seen[v.Type()] == nil {
			seen[v.Type()] = map[string]bool{}
		}
		for field, value := range v.Fields() {
			if !value.IsZero() {
				seen[v.Type()][field.Name] = true
			}
			noteFields(seen, value)
		}
	}
}
