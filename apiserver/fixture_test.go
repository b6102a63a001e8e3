package apiserver_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

const fixtureAccount = "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"

func exampleFixture(t *testing.T) *fixture.Fixture {
	t.Helper()
	text, err := os.ReadFile("testdata/fixture.json")
	assert.NilError(t, err)
	return parseFixture(t, string(text))
}

// load loads a fixture and returns the client of its account's owner.
func load(t *testing.T, h *apitest.Server, f *fixture.Fixture) *apitest.Client {
	t.Helper()
	assert.NilError(t, h.Service.LoadFixture(t.Context(), f))
	return h.Owner(t, fixtureAccount)
}

// TestLoadFixture checks the example fixture through the API.
func TestLoadFixture(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	c := load(t, h, exampleFixture(t))
	derived := func(name string) string { return api.DerivedID(fixtureAccount, name) }
	c.Get("").Is("plan_id", "smtp_per_proxy", "status", "active")
	c.Get("/domains/example.com").Is("id", derived("domain:example.com"), "workspace_id", "5a3c1d52-9f57-4f5c-8a3a-1b2c3d4e5f60", "auto_renew", true,
		"redirect_mode", "302", "dedicated_ip_id", derived("dedicated-ip:outbound"), "inbound_tenant_name", "Main", "tags.0.name", "vip", "tags.2", nil)
	c.Get("/domains/xn--bcher-kva.example").Is("status", "pending_payment", "outbound_routing_ready", false)
	c.Get("/mailboxes/jane@example.com").Is("id", derived("mailbox:jane@example.com"), "quota.used", 1<<20, "quota.allowed", 10<<30, "aliases.1.is_catch_all", true, "aliases.2", nil)
	c.Get("/mailboxes/john@example.com").Is("status", "paused")
	c.Get("/dns-records?domain=example.com").Is("total", 5-2+3) // the system-managed records without the replaced MX, and three others
	c.Get("/dedicated-ips/options").Is("total", 1, "items.0.available", 1)
	c.Get("/dedicated-ips").Is("total", 1, "items.0.ip_addresses.0.ip", "192.0.2.2", "items.0.ip_addresses.0.rdns", "mail.example.com")

	rules := c.Get("/forwarding").Is("total", 4)
	var got []string
	for i, target := range rules.Each("target_email") {
		place := "items." + itoa(i) + "."
		active := map[any]string{true: " active", false: ""}[rules.At(place+"active")]
		got = append(got, target+" "+rules.Str(place+"scope_type")+" "+rules.Str(place+"verification_state")+active)
	}
	slices.Sort(got)
	same(t, "rules", got, []string{
		"archive@example.org workspace pending", "audit@example.org account verified", "jane@example.com domain internal active", "team@example.org domain expired",
	})
	outbox := h.Service.Outbox()
	assert.Assert(t, len(outbox) == 1 && outbox[0].To == "archive@example.org", "outbox: %+v", outbox)
	shows(t, h, "GET", outbox[0].Link, 200, "Forward mail to you?")

	err := h.Service.LoadFixture(t.Context(), &fixture.Fixture{Accounts: []fixture.Account{{ID: nobody, Domains: []fixture.Domain{{Name: "EXAMPLE.com."}}}}})
	assert.Check(t, err != nil && strings.Contains(err.Error(), "domains[0] (EXAMPLE.com.): the same exists already"), "a domain that another account owns: %v", err)
}

// TestFixtureOfAnExistingAccount checks that a fixture does not change an existing account, and
// that the log names the account.
func TestFixtureOfAnExistingAccount(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := apitest.New(t, func(o *apiserver.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	c := load(t, h, exampleFixture(t))
	c.Delete("/mailboxes/jane@example.com").Want(204)
	log.Reset()
	load(t, h, exampleFixture(t))
	c.Get("/mailboxes").Is("total", 1)
	assert.Check(t, is.Equal(len(h.Service.Outbox()), 1), "messages after loading again, want 1")
	assert.Check(t, strings.Contains(log.String(), "nothing of the fixture was loaded") && strings.Contains(log.String(), fixtureAccount) && !strings.Contains(log.String(), "level=WARN"), "log: %s", &log)
}

func TestInitAccount(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	s := apitest.NewService(t, apiserver.Options{Store: db})
	id, _, err := s.InitAccount(t.Context(), strings.ToUpper(fixtureAccount), "owner")
	assert.Assert(t, err == nil && id == fixtureAccount, "InitAccount: %s, %v", id, err)
	var inUse *apiserver.AccountInUseError
	if _, _, err = s.InitAccount(t.Context(), id, "owner"); !errors.As(err, &inUse) || inUse.AccountID != id {
		t.Errorf("again: %v", err)
	}
	if _, _, err = s.InitAccount(t.Context(), "x", "owner"); err == nil {
		t.Error("InitAccount accepts an id that is not a UUID")
	}
	other, _, err := s.InitAccount(t.Context(), "", "owner")
	assert.Check(t, err == nil && other != id, "another account: %s, %v", other, err)
	// If no token is valid, InitAccount creates a new one.
	err = db.Update(t.Context(), func(tx store.Tx) error {
		accounts, _, err := tx.ServiceAccounts(id, store.Slice{Limit: 10})
		assert.Assert(t, err == nil && len(accounts) == 1, "%d service accounts, %v; want 1", len(accounts), err)
		_, err = store.Update(tx, id, accounts[0].ID, func(a *store.ServiceAccount) error { a.RevokedAt = time.Now(); return nil })
		return err
	})
	assert.NilError(t, err)
	_, _, err = s.InitAccount(t.Context(), id, "owner")
	assert.Check(t, err, "after the revocation")
}

func TestReadFixtureErrors(t *testing.T) {
	t.Parallel()
	const id = `"id":"` + fixtureAccount + `"`
	at := "accounts[0] (" + fixtureAccount + "): "
	for _, tt := range []struct{ name, fixture, want string }{
		{"unknown field", "{\"accounts\": [\n{" + id + ", \"domain\": []}]}",
			`line 2: accounts[0]: unknown field "domain"; there are id, status, cancels_at, plan_id`},
		{"number for duration", `{"registrar":{"provisioning_delay":60}}`, "line 1: registrar.provisioning_delay: must be a duration such as \"250ms\""},
		{"no duration", `{"registrar":{"provisioning_delay":"60"}}`, "line 1: registrar.provisioning_delay: must be a duration such as"},
		{"price", `{"registrar":{"prices":{"com":"1/3"}}}`, "registrar: prices: com: must be an amount"},
		{"currency", `{"registrar":{"currency":"dollars"}}`, "registrar: currency: must be a code"},
		{"negative delay", `{"registrar":{"provisioning_delay":"-1s"}}`, "registrar: provisioning_delay: must not be negative"},
		{"taken", `{"registrar":{"taken":["a.com","b"]}}`, "registrar: taken[1]: name: "},
		{"leading dot", `{"registrar":{"unsupported_tlds":[".zip"]}}`, "registrar: unsupported_tlds[0]: suffix: "},
		{"no id", `{"accounts":[{}]}`, "accounts[0]: id: must be the account's UUID"},
		{"bad id", `{"accounts":[{"id":"x"}]}`, "accounts[0] (x): id: must be the account's UUID"},
		{"account twice", `{"accounts":[{` + id + `},{"id":"` + strings.ToUpper(fixtureAccount) + `"}]}`, "is the id of " + at[:len(at)-2] + " already"},
		{"status", `{"accounts":[{` + id + `,"status":"closed"}]}`, at + "status: must be one of active, pending_cancellation, cancelled"},
		{"max mailboxes", `{"max_mailboxes":-1}`, "max_mailboxes: must not be negative"},
		{"cancels at", `{"accounts":[{` + id + `,"cancels_at":"2030-01-01T00:00:00Z"}]}`, at + "cancels_at: only what is pending_cancellation has one"},
		{"no time", `{"accounts":[{` + id + `,"cancels_at":"soon"}]}`, `line 1: accounts[0].cancels_at: must be a time of RFC 3339`},
		{"next plan", `{"accounts":[{` + id + `,"next_plan_id":"gold","plan_changes_at":"2030-01-01T00:00:00Z"}]}`, at + "next_plan_id: must be one of"},
		{"next plan alone", `{"accounts":[{` + id + `,"next_plan_id":"smtp_per_proxy"}]}`, at + "next_plan_id, plan_changes_at: give both or none"},
		{"plan", `{"accounts":[{` + id + `,"plan_id":"gold"}]}`, at + "plan_id: must be one of smtp_per_mailbox, smtp_per_proxy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkFixtureError(t, tt.fixture, tt.want)
		})
	}
}

func TestReadFixtureErrorsInAnAccount(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, account, want string }{
		{"workspace name", `"workspaces":[{}]`, "workspaces[0]: name: must have 1 to 100 characters"},
		{"workspace twice", `"workspaces":[{"name":"A"},{"name":"A"}]`, "workspaces[1] (A): name: there is a workspace of that name"},
		{"workspace id", `"workspaces":[{"name":"A","id":"1"}]`, `workspaces[0] (A): id: "1" is not a UUID`},
		{"default's id", `"workspaces":[{"name":"Default","id":"` + fixtureAccount + `"}]`, "workspaces[0] (Default): id: the id of the account's own workspace is"},
		{"id twice", `"workspaces":[{"name":"A","id":"` + fixtureAccount + `"}]`, "is the id of accounts[0]"},
		{"option country", `"dedicated_ip_options":[{"name":"A","country_code":"XX"}]`, "dedicated_ip_options[0] (A): country_code: must be a two-letter"},
		{"option address", `"dedicated_ip_options":[{"name":"A","country_code":"DE","addresses":["1.2.3"]}]`, "addresses: this is no IP address"},
		{"option address twice", `"dedicated_ip_options":[{"name":"A","country_code":"DE","addresses":["2001:db8::1","2001:DB8::1"]}]`, "2001:db8::1 is listed twice"},
		{"option twice", `"dedicated_ip_options":[{"name":"A","country_code":"DE"},{"name":"A","country_code":"DE"}]`, "there is an option of that name"},
		{"asn", `"dedicated_ip_options":[{"name":"A","country_code":"DE","asn":-1}]`, "asn: must be 0 to 4294967295"},
		{"ip's option", `"dedicated_ips":[{"option":"Mars"}]`, `dedicated_ips[0]: option: the account has no dedicated IP option "Mars"`},
		{"ip not there", `"dedicated_ips":[{"option":"Europe","ip":"192.0.2.77"}]`, `the option Europe has no address "192.0.2.77" left`},
		{"ip exhausted", `"dedicated_ip_options":[{"name":"A","country_code":"DE"}],"dedicated_ips":[{"option":"A"}]`, "the option A is exhausted"},
		{"domain name", `"domains":[{"name":"localhost"}]`, "domains[0] (localhost): name: name must have at least two labels"},
		{"domain twice", `"domains":[{"name":"a.com"},{"name":"A.COM"}]`, "domains[1] (A.COM): name: accounts[0] (" + fixtureAccount + "): domains[0] (a.com) lists the domain already"},
		{"domain status", `"domains":[{"name":"a.com","status":"gone"}]`, "domains[0] (a.com): status: must be one of"},
		{"domain ready", `"domains":[{"name":"a.com","ready_at":"2030-01-01T00:00:00Z"}]`, "domains[0] (a.com): ready_at: only what is pending has one"},
		{"purchase", `"domains":[{"name":"a.com","purchase_batch_id":"1"}]`, `domains[0] (a.com): purchase_batch_id: "1" is not a UUID`},
		{"mailbox ready", `"domains":[{"name":"a.com","mailboxes":[{"local_part":"a","first_name":"A","last_name":"B","ready_at":"2030-01-01T00:00:00Z"}]}]`,
			"mailboxes[0] (a): ready_at: only what is provisioning has one"},
		{"grant to nobody", `"authorizations":[{"capability_key":"mailbox.view"}]`, "authorizations[0]: subject_id: must have 1 to 255 characters"},
		{"grant to a service account", `"authorizations":[{"subject_type":"service_account","subject_id":"x","capability_key":"mailbox.view"}]`, "authorizations[0] (x): subject_type: must be one of user, group"},
		{"grant of nothing", `"authorizations":[{"subject_id":"x"}]`, "authorizations[0] (x): capability_key: Field required"},
		{"grant of too much", `"authorizations":[{"subject_id":"x","grant_kind":"super_admin","capability_key":"mailbox.view"}]`, "capability_key: only a capability grant has a capability_key"},
		{"grant in nothing", `"authorizations":[{"subject_id":"x","capability_key":"mailbox.view","resource_type":"domain"}]`, "resource: Field required"},
		{"grant of an unknown capability", `"authorizations":[{"subject_id":"x","capability_key":"mailbox.love"}]`, `capability_key: no operation asks for the capability "mailbox.love"`},
		{"grant in an unknown domain", `"authorizations":[{"subject_id":"x","capability_key":"mailbox.view","resource_type":"domain","resource":"a.com"}]`,
			`resource: the account has none with the name or id "a.com"`},
		{"grant twice", `"authorizations":[{"subject_id":"x","capability_key":"mailbox.view"},{"subject_id":"x","capability_key":"mailbox.view"}]`, "is the id of accounts[0]"},
		{"domain workspace", `"domains":[{"name":"a.com","workspace":"Sales"}]`, `workspace: the account has none with the name or id "Sales"`},
		{"domain ip", `"domains":[{"name":"a.com","dedicated_ip":"x"}]`, `dedicated_ip: the account has none`},
		{"a CNAME of its own name", `"domains":[{"name":"a.com","dns_records":[{"name":"www","type":"CNAME","value":"WWW.a.com."}]}]`, "value: a CNAME must not point to its own name"},
		{"redirect", `"domains":[{"name":"a.com","redirect_url":"ftp://x"}]`, "redirect_url: must be an absolute http or https URL"},
		{"redirect too long", `"domains":[{"name":"a.com","redirect_url":"https://x/` + strings.Repeat("x", 2048) + `"}]`, "redirect_url: must have at most 2048 characters"},
		{"redirect mode", `"domains":[{"name":"a.com","redirect_url":"https://x/","redirect_mode":"303"}]`, "redirect_mode: must be one of 301, 302, iframe"},
		{"redirect mode alone", `"domains":[{"name":"a.com","redirect_mode":"301"}]`, "redirect_mode: there is no redirect_url"},
		{"tag", `"domains":[{"name":"a.com","tags":[""]}]`, "tags[0]: name: must have 1 to 100 characters"},
		{"local part", `"domains":[{"name":"a.com","mailboxes":[{"local_part":"a..b","first_name":"A","last_name":"B"}]}]`,
			"domains[0] (a.com): mailboxes[0] (a..b): local_part: local part must not contain two dots"},
		{"no local part", `"domains":[{"name":"a.com","mailboxes":[{"first_name":"A","last_name":"B"}]}]`, "mailboxes[0]: local_part: must have 1 to 64 characters"},
		{"tenant", `"domains":[{"name":"a.com","inbound_tenant":{"id":"x"}}]`, `domains[0] (a.com): inbound_tenant: id: "x" is not a UUID`},
		{"mailbox names", `"domains":[{"name":"a.com","mailboxes":[{"local_part":"a"}]}]`, "mailboxes[0] (a): last_name: must have 1 to 100 characters"},
		{"mailbox twice", `"domains":[{"name":"a.com","mailboxes":[{"local_part":"a","first_name":"A","last_name":"B"},{"local_part":"A","first_name":"A","last_name":"B"}]}]`,
			"mailboxes[1] (A): local_part: a@a.com is the address of another mailbox"},
		{"alias taken", `"domains":[{"name":"a.com","mailboxes":[{"local_part":"a","first_name":"A","last_name":"B","aliases":[{"alias":"A@a.com"}]}]}]`,
			"mailboxes[0] (a): aliases[0]: alias: a@a.com is the address of another mailbox"},
		{"alias of another mailbox", `"domains":[{"name":"a.com","mailboxes":[{"local_part":"a","first_name":"A","last_name":"B","aliases":[{"alias":"b@a.com","is_catch_all":true}]},
			{"local_part":"b","first_name":"A","last_name":"B"}]}]`, "mailboxes[1] (b): local_part: b@a.com is the address of another mailbox"},
		{"alias elsewhere", `"domains":[{"name":"a.com","mailboxes":[{"local_part":"a","first_name":"A","last_name":"B","aliases":[{"alias":"a@b.com"},{"alias":"a@c.com"}]}]},{"name":"b.com"}]`,
			`domains[0] (a.com): mailboxes[0] (a): aliases[1]: alias: the account has no domain "c.com"`},
		{"quota", `"domains":[{"name":"a.com","mailboxes":[{"local_part":"a","first_name":"A","last_name":"B","quota_used":-1}]}]`, "must not be negative"},
		{"record type", `"domains":[{"name":"a.com","dns_records":[{"type":"SPF","value":"x"}]}]`, "dns_records[0]: type: unsupported record type"},
		{"record value", `"domains":[{"name":"a.com","dns_records":[{"name":"www","type":"A","value":"::1"}]}]`, "dns_records[0] (www): value: "},
		{"record without a value", `"domains":[{"name":"a.com","dns_records":[{"name":"www","type":"A"}]}]`, "dns_records[0] (www): value: must not be empty"},
		{"record ttl", `"domains":[{"name":"a.com","dns_records":[{"type":"A","value":"192.0.2.1","ttl":5}]}]`, "ttl: must be 60 to 86400"},
		{"record priority missing", `"domains":[{"name":"a.com","dns_records":[{"type":"MX","value":"mx.a.com"}]}]`, "priority: Field required"},
		{"record priority", `"domains":[{"name":"a.com","dns_records":[{"type":"TXT","value":"x","priority":1}]}]`, "priority: records of the type TXT have no priority"},
		{"target", `"forwarding":[{"target_email":"nobody"}]`, "forwarding[0] (nobody): target_email: address must contain an @"},
		{"target twice", `"forwarding":[{"target_email":"a@b.com"},{"target_email":"A@b.com"}]`, "forwarding[1] (A@b.com): target_email: there is a rule"},
		{"internal target", `"forwarding":[{"target_email":"a@a.com","verification_state":"pending"}],
			"domains":[{"name":"a.com","mailboxes":[{"local_part":"a","first_name":"A","last_name":"B"}]}]`, "so it is internal"},
		{"not internal", `"forwarding":[{"target_email":"a@a.com","verification_state":"internal"}]`, "verification_state: must be one of pending, verified, expired"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkFixtureError(t, `{"accounts":[{"id":"`+fixtureAccount+`",`+tt.account+`}]}`, tt.want)
		})
	}
}

func TestReadFixtureReportsAllProblemsUpToALimit(t *testing.T) {
	t.Parallel()
	var mailboxes []string
	for i := range 30 {
		mailboxes = append(mailboxes, fmt.Sprintf(`{"local_part":"m%d","first_name":"A"}`, i))
	}
	_, err := fixture.Read(strings.NewReader(`{"accounts":[{"id":"` + fixtureAccount + `",
		"domains":[{"name":"a.com","mailboxes":[` + strings.Join(mailboxes, ",") + `]}]}]}`))
	assert.Assert(t, err != nil, "no error")
	lines := strings.Split(err.Error(), "\n")
	assert.Check(t, len(lines) == 21 && lines[20] == "… and 10 more problems" && strings.Contains(lines[19], "mailboxes[19] (m19): last_name"), "error:\n%v", err)
}

func checkFixtureError(t *testing.T, document, want string) {
	t.Helper()
	_, err := fixture.Read(strings.NewReader(document))
	assert.Check(t, err != nil && strings.Contains(err.Error(), want), "error:\n got %v\nwant …%s…", err, want)
}

func FuzzReadFixture(f *testing.F) {
	f.Add(`{"accounts":[{"id":"` + fixtureAccount + `","domains":[{"name":"a.com"}]}]}`)
	f.Add(`{"registrar":{"prices":{"com":"1"},"provisioning_delay":"1s"}}`)
	f.Fuzz(func(_ *testing.T, s string) {
		_, _ = fixture.Read(strings.NewReader(s)) // Read must not panic
	})
}
