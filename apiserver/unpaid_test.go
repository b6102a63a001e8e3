package apiserver_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

const week = 7 * 24 * time.Hour

// TestUnpaidPurchaseExpires checks that a purchase that is not paid within 7 days frees
// the name, and that all objects of the domain are gone.
func TestUnpaidPurchaseExpires(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.Registrar.PaymentNeeded = true })
	other := h.Owner(t, nobody)
	settled := h.Purchase(h.DefaultWorkspace(), "paid.com").Want(200)
	paid := settled.Str("results.0.id")
	if _, err := h.Service.SettlePayment(t.Context(), settled.Str("purchase_batch_id")); err != nil {
		t.Fatal(err)
	}
	bought := h.Purchase(h.DefaultWorkspace(), "example.com").Want(200)
	id, url := bought.Str("results.0.id"), bought.Str("payment_url")
	rule := h.Forwarding("x@example.net", obj{"domain": "example.com"})
	password := h.Password("p", obj{"domain": "example.com"})
	record := idOf(h.Get("/dns-records?domain=example.com"), "items.0.id")

	h.Clock.Advance(week - time.Second)
	h.Get("/domains/example.com").Want(200).Is("status", "pending_payment")
	other.Purchase(other.DefaultWorkspace(), "example.com").Want(200).Is("results.0.error_code", "unavailable")
	shows(t, h, "GET", url, 200, "Payment needed")

	h.Clock.Advance(2 * time.Second)
	for path, problem := range map[string]string{
		"/domains/example.com": "path.domain not_found", "/domains/" + id: "path.domain not_found", "/forwarding/" + rule: "path.forwarding_id not_found",
		"/credentials/" + password: "path.credential_id not_found", "/dns-records/" + record: "path.dns_record_id not_found",
	} {
		h.Get(path).Refused(404, problem)
	}
	for path, total := range map[string]int{
		"/domains": 1, "/domains?search=example": 0, "/domains?status=pending_payment": 0, "/forwarding": 0, "/credentials": 0, "/dns-records": 5, "/dns-records?domain=" + id: 0,
	} {
		h.Get(path).Want(200).Is("total", total)
	}
	shows(t, h, "GET", url, 404, "There is no such purchase")
	if _, err := h.Service.SettlePayment(t.Context(), bought.Str("purchase_batch_id")); !errors.Is(err, apiserver.ErrNoPurchase) {
		t.Errorf("settling the expired purchase: %v", err)
	}
	h.Get("/domains/"+paid).Want(200).Is("status", "active")

	// Other accounts can buy the name, and the first account can't see that.
	other.Purchase(other.DefaultWorkspace(), "example.com").Want(200).Is("results.0.status", "pending_payment")
	other.Get("/domains").Is("total", 1)
	h.Get("/domains").Is("total", 1)
	h.Purchase(h.DefaultWorkspace(), "example.com").Want(200).Is("results.0.error_code", "unavailable")
	h.Clock.Advance(week)
	again := h.Purchase(h.DefaultWorkspace(), "example.com").Want(200).Is("results.0.status", "pending_payment")
	if again.Str("results.0.id") == id {
		t.Error("the domain has the id of the old one")
	}
}

// TestUnpaidPurchaseIsDeleted checks that any change in an account deletes its own
// overdue domains, and that a purchase deletes an overdue domain of the same name. The
// audit log names the system as the subject.
func TestUnpaidPurchaseIsDeleted(t *testing.T) {
	a := newAudited(t)
	fixture, err := fixture.Read(strings.NewReader(`{"registrar":{"payment_needed":true},"accounts":[{"id":"33333333-2222-4333-8444-555555555555","domains":[{
		"name":"late.com","status":"pending_payment","mailboxes":[{"local_part":"jane","first_name":"J","last_name":"D"}],"forwarding":[{"target_email":"x@example.net"}]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Service.LoadFixture(t.Context(), fixture); err != nil {
		t.Fatal(err)
	}
	a.Purchase(a.DefaultWorkspace(), "example.com").Want(200).Is("results.0.status", "pending_payment")
	a.Clock.Advance(week)
	log := func() (logged []string) {
		for _, e := range a.entries(store.AuditFilter{Operation: "expire-purchase"}) {
			text := e.Subject.Type + e.Subject.ID + e.RequestID + ":"
			for _, c := range e.Changes {
				text += " " + c.Action + " " + c.Type + " " + c.Name
			}
			logged = append(logged, text)
		}
		return logged
	}
	if got := log(); len(got) != 0 {
		t.Errorf("a read deleted: %q", got)
	}
	a.Get("/mailboxes").Is("total", 0)
	a.Workspace("w")
	if got := log(); len(got) != 1 || !strings.HasPrefix(got[0], "system: deleted domain example.com") {
		t.Errorf("a change in the account: %q", got)
	}
	a.Purchase(a.DefaultWorkspace(), "late.com").Want(200).Is("results.0.status", "pending_payment")
	if got := log(); len(got) != 2 || !strings.Contains(strings.Join(got, "\n"), "system: deleted mailbox jane@late.com deleted domain late.com") {
		t.Errorf("a purchase of the name: %q", got)
	}
}
