package apiserver_test

import (
	"bytes"
	"errors"
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

// TestLoadFixture checks what the API shows of the example fixture.
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
	c.Get("/dns-records?domain=example.com").Is("total", 5-2+3) // the system-managed ones without the replaced MX, and three others
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

// TestFixtureOfAnExistingAccount checks that a fixture changes nothing of an account that exists,
// and that the log names it.
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
	assert.Check(t, strings.Contains(log.String(), "nothing of the fixture was loaded") && strings.Contains(log.String(), fixtureAccount), "log: %s", &log)
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
		_, err = tx.UpdateServiceAccount(id, accounts[0].ID, func(a *store.ServiceAccount) error { a.RevokedAt = time.Now(); return nil })
		return err
	})
	assert.NilError(t, err)
	_, _, err = s.InitAccount(t.Context(), id, "owner")
	assert.Check(t, err, "after the revocation")
}
