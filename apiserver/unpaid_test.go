package apiserver_test

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

const week = 7 * 24 * time.Hour

// TestUnpaidPurchaseIsDeleted checks that a purchase deletes the overdue domains of its
// account and of its name, and that other changes don't see them. The audit log names the
// system as the subject.
func TestUnpaidPurchaseIsDeleted(t *testing.T) {
	a := newAudited(t)
	fixture, err := fixture.Read(strings.NewReader(`{"registrar":{"payment_needed":true},"accounts":[{"id":"33333333-2222-4333-8444-555555555555","domains":[{
		"name":"late.com","status":"pending_payment","mailboxes":[{"local_part":"jane","first_name":"J","last_name":"D"}],"forwarding":[{"target_email":"x@example.net"}]}]}]}`))
	assert.NilError(t, err)
	assert.NilError(t, a.Service.LoadFixture(t.Context(), fixture))
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
	got := log()
	assert.Check(t, len(got) == 0, "a read deleted: %q", got)
	a.Get("/mailboxes").Is("total", 0)
	a.Post("/dns-records", map[string]any{"domain": "example.com", "name": "www", "type": "A", "value": "192.0.2.1"}).Want(422)
	a.Purchase(a.DefaultWorkspace(), "example.org").Want(200)
	got = log()
	assert.Check(t, len(got) == 1 && strings.HasPrefix(got[0], "system: deleted domain example.com"), "a purchase in the account: %q", got)
	a.Purchase(a.DefaultWorkspace(), "late.com").Want(200).Is("results.0.status", "pending_payment")
	got = log()
	assert.Check(t, len(got) == 2 && strings.Contains(strings.Join(got, "\n"), "system: deleted mailbox jane@late.com deleted domain late.com"), "a purchase of the name: %q", got)
}
