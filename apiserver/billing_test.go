package apiserver_test

import (
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// TestCancelPlanReplay checks that a retry of a cancellation gets the original response.
func TestCancelPlanReplay(t *testing.T) {
	h := apitest.New(t)
	first := h.PostKeyed(key, "/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200)
	if again := h.PostKeyed(key, "/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200); !again.Replayed() || string(again.Raw) != string(first.Raw) {
		t.Errorf("%s; want a replay of %s", again, first)
	}
	h.PostKeyed(key, "/billing/cancel-plan", obj{}).Refused(422, "header.Idempotency-Key value_error")
	h.PostKeyed(otherKey, "/billing/cancel-plan", obj{"cancel_immediately": true}).Refused(403, "path.account_id account_cancelled")
	h.PostKeyed("x", "/workspaces", obj{"name": "x"}).Want(422)
	h.PostKeyed(otherKey, "/workspaces", obj{"name": "x"}).Refused(403, "path.account_id account_cancelled")
}

func TestCancelledAccountIsReadOnly(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	h.Mailbox("example.com", "jane")
	c := h.As(h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token"))
	h.Post("/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200)
	for _, spec := range api.Specs() {
		a := newRequest(t, spec).send(c)
		if spec.Method != "GET" && spec.ID != "export-mailboxes" && !spec.WhenCancelled {
			a.Refused(403, "path.account_id account_cancelled")
		} else if a.Status != 200 && a.Status != 404 {
			t.Errorf("%s: %s", spec.ID, a)
		}
	}
	c.Post("/workspaces", obj{}).Refused(403, "path.account_id account_cancelled") // before the body is validated
	c.Get("/mailboxes").Want(200).Is("total", 1)
	c.Post("/mailboxes/export", obj{}).Want(200)
}

func TestCancelPlanInDecember(t *testing.T) {
	h := apitest.New(t)
	h.Clock.Advance(time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC).Sub(start))
	h.Post("/billing/cancel-plan", obj{}).Want(200).Is("effective_at", "2027-01-01T00:00:00.000000Z")
}
