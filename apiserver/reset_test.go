package apiserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestReset(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(o *apiserver.Options) { o.RateLimit = apiserver.RateLimit{Requests: 60, Per: time.Hour} })
	token := h.post("/auth/service-accounts", obj{"name": "ci"}).want(201).str("token")
	h.domain("example.com")
	h.forwarding("a@example.org", obj{})
	created := h.keyed(key, "/workspaces", obj{"name": "Sales"}).want(201)
	for range 40 { // the bucket is not empty yet
		h.get("/domains")
	}
	if err := h.svc.Reset(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if ids, err := h.svc.Accounts(t.Context()); err != nil || len(ids) > 0 {
		t.Errorf("accounts %v, %v; want none", ids, err)
	}
	h.as(token).get("/domains").refused(401, "header.Authorization invalid_token")
	if n := len(h.svc.Outbox()); n > 0 {
		t.Errorf("%d messages are left", n)
	}
	h.owner(t, accountID)
	h.get("/domains").want(200).is("total", 0)
	if left := h.get("/domains").header.Get("RateLimit-Remaining"); left != "58" {
		t.Errorf("%s requests are left in the bucket, want 58", left)
	}
	// The key is as good as new, and nobody has had its answer.
	again := h.keyed(key, "/workspaces", obj{"name": "Other"}).want(201)
	if again.str("id") == created.str("id") || again.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("an answer from before the reset: %s", again)
	}
	h.domain("example.com")
}

// A message that waits to be sent is one of a rule that is gone.
func TestResetForgetsMessagesThatWait(t *testing.T) {
	c := &sender{send: func(context.Context, apiserver.Message, int) error { return errors.New("try again") }}
	mailed(t, c, func(t *testing.T, h *harness, _ *logged) {
		h.forwarding("x@example.net", nil)
		before := c.count()
		if err := h.svc.Reset(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		if after := c.count(); before != 1 || after != before {
			t.Errorf("%d attempts before the reset, %d by the day after", before, after)
		}
	})
}

// The clock may go back with a reset.
func TestResetForgetsTheFuture(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.clock.Advance(1000 * time.Hour)
	h.keyed(key, "/workspaces", obj{"name": "Sales"}).want(201)
	h.clock.Advance(-1000 * time.Hour)
	if err := h.svc.Reset(t.Context(), exampleFixture(t)); err != nil {
		t.Fatal(err)
	}
	c := h.owner(t, fixtureAccount)
	if at := c.get("/domains/example.com").str("created_at"); !strings.HasPrefix(at, start.Format("2006-01-02T15:04")) {
		t.Errorf("created at %s, want %s", at, start)
	}
}

// A fixture that can't be loaded leaves everything as it is.
func TestResetIsAtomic(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.domain("example.com")
	bad := &fixture.Fixture{Accounts: []fixture.Account{{ID: fixtureAccount, Domains: []fixture.Domain{{
		Name: "example.net", DNSRecords: []fixture.DNSRecord{{Name: "_dmarc", Type: "CNAME", Value: "elsewhere.example.net"}},
	}}}}}
	if err := h.svc.Reset(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "_dmarc") {
		t.Errorf("error: %v", err)
	}
	h.get("/domains/example.com").want(200)
	if err := h.svc.Reset(t.Context(), &fixture.Fixture{Accounts: []fixture.Account{{ID: "x"}}}); err == nil {
		t.Error("an invalid fixture is taken")
	}
	h.get("/domains/example.com").want(200)
}

// Of what a reset deletes the database keeps nothing, and the audit log says who
// did it.
func TestResetInTheAuditLog(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, func(o *apiserver.Options) { o.Store = db })
	h.domain("example.com")
	if err := h.svc.Reset(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var operations []string
	if err := db.View(t.Context(), func(r store.Reader) error {
		return r.EachAuditEntry(store.AuditFilter{}, func(e store.AuditEntry) error {
			operations = append(operations, e.Subject.Type+" "+e.Operation)
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	same(t, "the audit log", operations, []string{"operator reset"})
}

func TestSettlePayment(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(o *apiserver.Options) {
		o.Registrar = apiserver.Registrar{PaymentNeeded: true, ProvisioningDelay: apiserver.Duration(time.Hour)}
	})
	batch := h.purchase(h.defaultWorkspace(), "a.com", "b.com").want(200).str("purchase_batch_id")
	h.purchase(h.defaultWorkspace(), "other.com").want(200)
	h.clock.Advance(24 * time.Hour)
	for range 2 { // again changes nothing
		settled, err := h.svc.SettlePayment(t.Context(), strings.ToUpper(batch))
		if err != nil || len(settled) != 2 || settled[0].Name != "a.com" || settled[1].Status != vocab.DomainPending || settled[0].AccountID != accountID {
			t.Fatalf("settled %+v, %v", settled, err)
		}
		h.get("/domains/a.com").is("status", "pending", "outbound_routing_ready", false, "updated_at", "2026-03-15T15:09:26.535897Z")
		h.clock.Advance(time.Minute)
	}
	h.clock.Advance(time.Hour)
	h.get("/domains/b.com").is("status", "active", "outbound_routing_ready", true)
	h.get("/domains/other.com").is("status", "pending_payment")
	for _, id := range []string{h.defaultWorkspace(), "", "x"} {
		if settled, err := h.svc.SettlePayment(t.Context(), id); err != apiserver.ErrNoPurchase || settled != nil {
			t.Errorf("%q: %v, %v", id, settled, err)
		}
	}
}

// A fixture's domain that waits for its payment gets it.
func TestSettlePaymentOfAFixture(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const batch = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	if err := h.svc.LoadFixture(t.Context(), parseFixture(t, `{"accounts":[{"id":"`+fixtureAccount+`","domains":[
		{"name":"example.com","status":"pending_payment","purchase_batch_id":"`+batch+`"}]}]}`)); err != nil {
		t.Fatal(err)
	}
	if settled, err := h.svc.SettlePayment(t.Context(), batch); err != nil || len(settled) != 1 || settled[0].Status != vocab.DomainActive {
		t.Errorf("settled %+v, %v", settled, err)
	}
}

func TestDrainingIsToldOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	select {
	case <-h.svc.Draining():
		t.Fatal("it drains already")
	default:
	}
	h.svc.Drain()
	h.svc.Drain()
	<-h.svc.Draining()
}
