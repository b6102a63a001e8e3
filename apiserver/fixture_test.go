package apiserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

const fixtureAccount = "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"

func exampleFixture(t *testing.T) *fixture.Fixture {
	t.Helper()
	file, err := os.Open("testdata/fixture.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, err := fixture.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newFixtureService(t *testing.T) (*apiserver.Service, store.Store) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := apiserver.New(apiserver.Options{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, db
}

// get reads a path of an account as its owner.
func get[T any](t *testing.T, s *apiserver.Service, path string) (out T) {
	t.Helper()
	url := "http://in.process" + strings.Replace(api.Prefix, "{account_id}", fixtureAccount, 1) + path
	resp, err := s.OwnerClient(fixtureAccount).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", path, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLoadFixture(t *testing.T) {
	t.Parallel()
	s, _ := newFixtureService(t)
	if err := s.LoadFixture(t.Context(), exampleFixture(t)); err != nil {
		t.Fatal(err)
	}

	account := get[api.Account](t, s, "")
	if account.PlanID != vocab.PlanSMTPPerProxy || account.Status != vocab.AccountActive {
		t.Errorf("account: %+v", account)
	}
	d := get[api.Domain](t, s, "/domains/example.com")
	if d.ID != api.DerivedID(fixtureAccount, "domain:example.com") || d.WorkspaceID != "5a3c1d52-9f57-4f5c-8a3a-1b2c3d4e5f60" || !d.AutoRenew ||
		*d.RedirectMode != "302" || *d.DedicatedIPID != api.DerivedID(fixtureAccount, "dedicated-ip:outbound") || *d.InboundTenantName != "Main" ||
		len(d.Tags) != 2 || d.Tags[0].Name != "vip" {
		t.Errorf("domain: %+v", d)
	}
	if d := get[api.Domain](t, s, "/domains/xn--bcher-kva.example"); d.Status != vocab.DomainPendingPayment || d.OutboundRoutingReady {
		t.Errorf("pending domain: %+v", d)
	}
	m := get[api.Mailbox](t, s, "/mailboxes/jane@example.com")
	if m.ID != api.DerivedID(fixtureAccount, "mailbox:jane@example.com") || m.Quota.Used != 1<<20 || m.Quota.Allowed != 10<<30 ||
		len(m.Aliases) != 2 || !m.Aliases[1].IsCatchAll {
		t.Errorf("mailbox: %+v", m)
	}
	if m := get[api.Mailbox](t, s, "/mailboxes/john@example.com"); m.Status != vocab.MailboxPaused {
		t.Errorf("paused mailbox: %+v", m)
	}
	if page := get[api.Page[api.DNSRecord]](t, s, "/dns-records?domain=example.com"); page.Total != 5-2+3 {
		t.Errorf("%d DNS records, want the system-managed ones without the replaced MX, and 3 others", page.Total)
	}
	if page := get[api.Page[api.DedicatedIPOption]](t, s, "/dedicated-ips/options"); page.Total != 1 || page.Items[0].Available != 1 {
		t.Errorf("options: %+v", page)
	}
	ips := get[api.Page[api.DedicatedIP]](t, s, "/dedicated-ips")
	if ips.Total != 1 || ips.Items[0].IPAddresses[0].IP != "192.0.2.2" || *ips.Items[0].IPAddresses[0].RDNS != "mail.example.com" {
		t.Errorf("dedicated IPs: %+v", ips)
	}
}

func TestLoadFixtureForwarding(t *testing.T) {
	t.Parallel()
	s, _ := newFixtureService(t)
	if err := s.LoadFixture(t.Context(), exampleFixture(t)); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range get[api.Page[api.Forwarding]](t, s, "/forwarding").Items {
		got[f.TargetEmail] = fmt.Sprintf("%s %s %t", f.ScopeType, f.VerificationState, f.Active)
	}
	want := map[string]string{
		"audit@example.org":   "account verified false",
		"archive@example.org": "workspace pending false",
		"jane@example.com":    "domain internal true",
		"team@example.org":    "domain expired false",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("rules:\n got %v\nwant %v", got, want)
	}
	outbox := s.Outbox()
	if len(outbox) != 1 || outbox[0].To != "archive@example.org" {
		t.Fatalf("outbox: %+v", outbox)
	}
	resp, err := s.Client().Get(outbox[0].Link)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the pending rule's link: %s", resp.Status)
	}
}

func TestLoadFixtureKeepsExistingAccounts(t *testing.T) {
	t.Parallel()
	s, db := newFixtureService(t)
	f := exampleFixture(t)
	if err := s.LoadFixture(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	jane := api.DerivedID(fixtureAccount, "mailbox:jane@example.com")
	if err := db.Update(t.Context(), func(tx store.Tx) error {
		err := tx.DeleteMailbox(fixtureAccount, jane, time.Now())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.LoadFixture(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if page := get[api.Page[api.Mailbox]](t, s, "/mailboxes"); page.Total != 1 {
		t.Errorf("%d mailboxes after loading again, want 1", page.Total)
	}
	if n := len(s.Outbox()); n != 1 {
		t.Errorf("%d messages after loading again, want 1", n)
	}
}

func TestLoadFixtureIsAtomic(t *testing.T) {
	t.Parallel()
	s, db := newFixtureService(t)
	f := exampleFixture(t)
	second := f.Accounts[0]
	second.ID = "9d8c7b6a-0000-4000-8000-000000000001"
	second.Workspaces, second.DedicatedIPs, second.Authorizations = nil, nil, nil
	second.Domains = []fixture.Domain{{Name: "example.net", DNSRecords: []fixture.DNSRecord{
		{Name: "_dmarc", Type: "CNAME", Value: "elsewhere.example.net"},
	}}}
	f.Accounts = append(f.Accounts, second)
	err := s.LoadFixture(t.Context(), f)
	want := `account ` + second.ID + `: accounts[1] (` + second.ID + `): domains[0] (example.net): dns_records[0] (_dmarc): the name _dmarc of example.net has`
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error:\n got %v\nwant %s…", err, want)
	}
	if err := db.View(t.Context(), func(r store.Reader) error {
		if accounts, err := r.Accounts(); err != nil || len(accounts) > 0 {
			t.Errorf("accounts %v, %v; want none", accounts, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestLoadFixtureOfADomainThatIsOwned(t *testing.T) {
	t.Parallel()
	s, _ := newFixtureService(t)
	if err := s.LoadFixture(t.Context(), exampleFixture(t)); err != nil {
		t.Fatal(err)
	}
	err := s.LoadFixture(t.Context(), &fixture.Fixture{Accounts: []fixture.Account{
		{ID: "9d8c7b6a-0000-4000-8000-000000000001", Domains: []fixture.Domain{{Name: "EXAMPLE.com."}}},
	}})
	if err == nil || !strings.Contains(err.Error(), "domains[0] (EXAMPLE.com.): the same exists already") {
		t.Errorf("error: %v", err)
	}
}

func TestFixtureWorksWithTheRestOfTheAPI(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := exampleFixture(t)
	s, err := apiserver.New(apiserver.Options{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.LoadFixture(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	id, token, err := s.InitAccount(t.Context(), fixtureAccount, "ci")
	if err != nil || id != fixtureAccount {
		t.Fatalf("InitAccount for a fixture's account: %s, %v", id, err)
	}
	body := `{"domains":["taken.com","gold.com","new.zip","fresh.co.uk"],"workspace_id":"` + api.DefaultWorkspaceID(id) + `",
		"contact_info":{"address_1":"1 Way","city":"X","country":"DE","email":"a@example.com","first_name":"A","last_name":"B",
		"organization":"O","phone":"+4930123456","state":"S","zip":"1"}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		"http://in.process/v1/public/accounts/"+id+"/domains/purchase", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var purchase api.Purchase
	if err := json.NewDecoder(resp.Body).Decode(&purchase); err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, r := range purchase.Results {
		if r.ErrorCode != nil {
			codes = append(codes, *r.ErrorCode)
		}
	}
	if fmt.Sprint(codes) != "[unavailable premium_domain unsupported_tld]" || *purchase.EstimatedTotal != "9.50" {
		t.Errorf("purchase: %v, %+v", codes, purchase)
	}
}

func TestInitAccount(t *testing.T) {
	t.Parallel()
	s, db := newFixtureService(t)
	id, _, err := s.InitAccount(t.Context(), strings.ToUpper(fixtureAccount), "owner")
	if err != nil || id != fixtureAccount {
		t.Fatalf("InitAccount: %s, %v", id, err)
	}
	var inUse *apiserver.AccountInUseError
	if _, _, err = s.InitAccount(t.Context(), id, "owner"); !errors.As(err, &inUse) || inUse.AccountID != id {
		t.Errorf("again: %v", err)
	}
	if _, _, err = s.InitAccount(t.Context(), "x", "owner"); err == nil {
		t.Error("InitAccount accepts an id that is not a UUID")
	}
	other, _, err := s.InitAccount(t.Context(), "", "owner")
	if err != nil || other == id {
		t.Errorf("another account: %s, %v", other, err)
	}
	// If no token is valid, InitAccount creates a new one.
	var accounts []store.ServiceAccount
	if err := db.Update(t.Context(), func(tx store.Tx) (err error) {
		if accounts, _, err = tx.ServiceAccounts(id, store.Slice{Limit: 10}); err != nil {
			return err
		}
		_, err = tx.UpdateServiceAccount(id, accounts[0].ID, func(a *store.ServiceAccount) error { a.RevokedAt = time.Now(); return nil })
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(accounts) != 1 {
		t.Errorf("%d service accounts, want 1", len(accounts))
	}
	if _, _, err := s.InitAccount(t.Context(), id, "owner"); err != nil {
		t.Errorf("after the revocation: %v", err)
	}
}

func TestConcurrentLoads(t *testing.T) {
	t.Parallel()
	s, _ := newFixtureService(t)
	data, err := os.ReadFile("testdata/fixture.json")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	const n = 4
	for range n {
		go func() {
			f, err := fixture.Read(bytes.NewReader(data))
			if err == nil {
				err = s.LoadFixture(context.Background(), f)
			}
			done <- err
		}()
	}
	for range n {
		if err := apitest.Receive(t, done); err != nil {
			t.Error(err)
		}
	}
	if page := get[api.Page[api.Mailbox]](t, s, "/mailboxes"); page.Total != 2 {
		t.Errorf("%d mailboxes, want 2", page.Total)
	}
}

// TestFixtureOfAnExistingAccountIsLogged checks that an account in a fixture that is
// skipped because it exists is logged with its id.
func TestFixtureOfAnExistingAccountIsLogged(t *testing.T) {
	var log bytes.Buffer
	h := apitest.New(t, func(o *apiserver.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	for i, want := range []bool{false, true} {
		log.Reset()
		if err := h.Service.LoadFixture(t.Context(), exampleFixture(t)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(log.String(), "nothing of the fixture was loaded") && strings.Contains(log.String(), fixtureAccount); got != want {
			t.Errorf("load %d is logged: %t; want %t: %s", i, got, want, &log)
		}
	}
}
