package apiserver_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

const week = 7 * 24 * time.Hour

// A purchase that is not paid for within 7 days frees the name, and all that was
// made in the domain is gone as after a delete.
func TestUnpaidPurchaseExpires(t *testing.T) {
	h := newHarness(t, func(o *apiserver.Options) { o.Registrar.PaymentNeeded = true })
	other := h.owner(t, nobody)
	settled := h.purchase(h.defaultWorkspace(), "paid.com").want(200)
	paid := settled.str("results.0.id")
	if _, err := h.svc.SettlePayment(t.Context(), settled.str("purchase_batch_id")); err != nil {
		t.Fatal(err)
	}
	bought := h.purchase(h.defaultWorkspace(), "example.com").want(200)
	id, url := bought.str("results.0.id"), bought.str("payment_url")
	rule := h.forwarding("x@example.net", obj{"domain": "example.com"})
	password := h.password("p", obj{"domain": "example.com"})
	record := idOf(h.get("/dns-records?domain=example.com"), "items.0.id")

	h.clock.Advance(week - time.Second)
	h.get("/domains/example.com").want(200).is("status", "pending_payment")
	other.purchase(other.defaultWorkspace(), "example.com").want(200).is("results.0.error_code", "unavailable")
	h.shows(t, "GET", url, 200, "Payment needed")

	h.clock.Advance(2 * time.Second)
	for path, problem := range map[string]string{
		"/domains/example.com": "path.domain not_found", "/domains/" + id: "path.domain not_found", "/forwarding/" + rule: "path.forwarding_id not_found",
		"/credentials/" + password: "path.credential_id not_found", "/dns-records/" + record: "path.dns_record_id not_found",
	} {
		h.get(path).refused(404, problem)
	}
	for path, total := range map[string]int{
		"/domains": 1, "/domains?search=example": 0, "/domains?status=pending_payment": 0, "/forwarding": 0, "/credentials": 0, "/dns-records": 5, "/dns-records?domain=" + id: 0,
	} {
		h.get(path).want(200).is("total", total)
	}
	h.shows(t, "GET", url, 404, "There is no such purchase")
	if _, err := h.svc.SettlePayment(t.Context(), bought.str("purchase_batch_id")); !errors.Is(err, apiserver.ErrNoPurchase) {
		t.Errorf("settling it: %v", err)
	}
	h.get("/domains/"+paid).want(200).is("status", "active")

	// Others can buy the name, and the first account learns nothing of them.
	other.purchase(other.defaultWorkspace(), "example.com").want(200).is("results.0.status", "pending_payment")
	other.get("/domains").is("total", 1)
	h.get("/domains").is("total", 1)
	h.purchase(h.defaultWorkspace(), "example.com").want(200).is("results.0.error_code", "unavailable")
	h.clock.Advance(week)
	again := h.purchase(h.defaultWorkspace(), "example.com").want(200).is("results.0.status", "pending_payment")
	if again.str("results.0.id") == id {
		t.Error("the domain has the id of the old one")
	}
}

// Whatever an account changes deletes its own overdue domains, and what a fixture
// loads those of its names. The audit log says that the service did that itself.
func TestUnpaidPurchaseIsDeleted(t *testing.T) {
	a := newAudited(t)
	fixture, err := fixture.Read(strings.NewReader(`{"registrar":{"payment_needed":true},"accounts":[{"id":"33333333-2222-4333-8444-555555555555","domains":[{
		"name":"late.com","status":"pending_payment","mailboxes":[{"local_part":"jane","first_name":"J","last_name":"D"}],"forwarding":[{"target_email":"x@example.net"}]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.svc.LoadFixture(t.Context(), fixture); err != nil {
		t.Fatal(err)
	}
	a.purchase(a.defaultWorkspace(), "example.com").want(200).is("results.0.status", "pending_payment")
	a.clock.Advance(week)
	log := func() (told []string) {
		for _, e := range a.entries(store.AuditFilter{Operation: "expire-purchase"}) {
			text := e.Subject.Type + e.Subject.ID + e.RequestID + ":"
			for _, c := range e.Changes {
				text += " " + c.Action + " " + c.Type + " " + c.Name
			}
			told = append(told, text)
		}
		return told
	}
	if got := log(); len(got) != 0 {
		t.Errorf("a read has deleted: %q", got)
	}
	a.get("/mailboxes").is("total", 0)
	a.workspace("w")
	if got := log(); len(got) != 1 || !strings.HasPrefix(got[0], "system: deleted domain example.com") {
		t.Errorf("a change in the account: %q", got)
	}
	a.purchase(a.defaultWorkspace(), "late.com").want(200).is("results.0.status", "pending_payment")
	if got := log(); len(got) != 2 || !strings.Contains(strings.Join(got, "\n"), "system: deleted mailbox jane@late.com deleted domain late.com") {
		t.Errorf("a purchase of the name: %q", got)
	}
}
