package apiserver_test

import (
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

func TestCancelPlanAtPeriodEnd(t *testing.T) {
	for _, body := range []obj{{}, {"cancel_at_period_end": true}, {"cancel_immediately": false}, {"cancel_at_period_end": nil, "cancel_immediately": nil}} {
		h := apitest.New(t)
		h.Post("/billing/cancel-plan", body).Want(200).Is(
			"account_status", "pending_cancellation", "effective_at", "2026-04-01T00:00:00.000000Z", "eligible", true, "previous_plan_id", "smtp_per_mailbox", "target_plan_id", nil)
		h.Get("").Is("status", "pending_cancellation", "cancels_at", "2026-04-01T00:00:00.000000Z")
		h.Workspace("still works")
		h.Post("/billing/cancel-plan", obj{}).Want(200).Is("account_status", "pending_cancellation", "effective_at", "2026-04-01T00:00:00.000000Z")
		h.Clock.Advance(18 * 24 * time.Hour)
		h.Get("").Is("status", "cancelled")
		h.Post("/workspaces", obj{"name": "x"}).Refused(403, "path.account_id account_cancelled")
	}
}

func TestCancelPlanImmediately(t *testing.T) {
	for _, body := range []obj{{"cancel_immediately": true}, {"cancel_immediately": true, "cancel_at_period_end": false}} {
		for _, pending := range []bool{false, true} {
			h := apitest.New(t)
			if pending {
				h.Post("/billing/cancel-plan", obj{}).Want(200)
			}
			h.Clock.Advance(time.Minute)
			h.Post("/billing/cancel-plan", body).Want(200).Is("account_status", "cancelled", "effective_at", "2026-03-14T15:10:26.535897Z", "eligible", true)
			h.Get("").Is("status", "cancelled", "updated_at", "2026-03-14T15:10:26.535897Z")
		}
	}
}

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

func TestCancelPlanFlags(t *testing.T) {
	h := apitest.New(t)
	for _, body := range []obj{{"cancel_at_period_end": true, "cancel_immediately": true}, {"cancel_at_period_end": false, "cancel_immediately": false}, {"cancel_at_period_end": false}} {
		h.Post("/billing/cancel-plan", body).Refused(422, "body.cancel_at_period_end value_error")
	}
	h.Post("/billing/cancel-plan", obj{"cancel_at_period_end": "yes"}).Refused(422, "body.cancel_at_period_end bool_type")
	h.Get("").Is("status", "active")
	for _, body := range []obj{
		{}, {"cancel_immediately": false}, {"cancel_at_period_end": true, "cancel_immediately": false},
		{"cancel_at_period_end": nil, "cancel_immediately": nil}, {"cancel_at_period_end": false, "cancel_immediately": true},
	} {
		apitest.New(t).Post("/billing/cancel-plan", body).Want(200)
	}
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
	c.Get("/mailboxes").Want(200).Is("total", 1)
	c.Post("/mailboxes/export", obj{}).Want(200)
}

func TestChangePlan(t *testing.T) {
	h := apitest.New(t)
	const mailbox, proxy = "smtp_per_mailbox", "smtp_per_proxy"
	h.Post("/billing/change-plan", obj{}).Want(200).Is("account_status", "active", "effective_at", "2026-03-14T15:09:26.535897Z", "eligible", true, "previous_plan_id", mailbox, "target_plan_id", proxy)
	h.Get("").Is("plan_id", proxy)
	h.Post("/billing/change-plan", obj{"plan_id": nil, "effective_date": nil}).Want(200).Is("previous_plan_id", proxy, "target_plan_id", mailbox) // the first plan follows the last
	h.Post("/billing/change-plan", obj{"plan_id": mailbox}).Want(200).Is("eligible", false, "effective_at", nil, "previous_plan_id", mailbox, "target_plan_id", mailbox, "account_status", "active")
	h.Get("").Is("plan_id", mailbox, "updated_at", "2026-03-14T15:09:26.535897Z")

	h.Post("/billing/change-plan", obj{"plan_id": proxy, "effective_date": "2026-03-14T17:09:26.535897+01:00"}).Want(200).
		Is("effective_at", "2026-03-14T16:09:26.535897Z", "eligible", true, "previous_plan_id", mailbox, "target_plan_id", proxy)
	h.Get("").Is("plan_id", mailbox)
	h.Clock.Advance(time.Hour)
	h.Get("").Is("plan_id", proxy)
	h.Post("/billing/change-plan", obj{"effective_date": "2026-03-14T16:09:26.535896Z"}).Refused(422, "body.effective_date value_error")
	h.Post("/billing/change-plan", obj{"effective_date": "9999-12-31T23:59:59-05:00"}).Refused(422, "body.effective_date value_error")
	h.Post("/billing/change-plan", obj{"effective_date": "2026-03-14T16:09:26.535897Z"}).Want(200).Is("target_plan_id", mailbox)
	h.Post("/billing/change-plan", obj{"effective_date": "today", "plan_id": "free"}).Refused(422, "body.effective_date datetime_from_date_parsing", "body.plan_id enum")
}

func TestCancelPlanInDecember(t *testing.T) {
	h := apitest.New(t)
	h.Clock.Advance(time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC).Sub(start))
	h.Post("/billing/cancel-plan", obj{}).Want(200).Is("effective_at", "2027-01-01T00:00:00.000000Z")
}

// TestScheduledChangeOfACancelledPlan checks that a scheduled plan change has no effect
// after a cancellation, and that one that took effect before remains.
func TestScheduledChangeOfACancelledPlan(t *testing.T) {
	const mailbox, proxy = "smtp_per_mailbox", "smtp_per_proxy"
	const early, atEnd, late = "2026-03-20T00:00:00Z", "2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z"
	cancel := func(body obj) func(*apitest.Server) {
		return func(h *apitest.Server) {
			h.Post("/billing/cancel-plan", body).Want(200).Is("previous_plan_id", mailbox)
		}
	}
	for name, tt := range map[string]struct {
		effective string
		cancel    func(*apitest.Server)
		want      string
	}{
		"at once":                                 {early, cancel(obj{"cancel_immediately": true}), mailbox},
		"at the period's end":                     {late, cancel(obj{}), mailbox},
		"just at the period's end":                {atEnd, cancel(obj{}), mailbox},
		"before the period's end":                 {early, cancel(obj{}), proxy},
		"not cancelled":                           {late, func(*apitest.Server) {}, proxy},
		"first at the period's end, then at once": {early, func(h *apitest.Server) { cancel(obj{})(h); cancel(obj{"cancel_immediately": true})(h) }, mailbox},
	} {
		t.Run(name, func(t *testing.T) {
			for _, cancelFirst := range []bool{false, true} {
				h := apitest.New(t)
				change := func() { h.Post("/billing/change-plan", obj{"plan_id": proxy, "effective_date": tt.effective}) }
				if cancelFirst {
					tt.cancel(h)
					change()
				} else {
					change()
					tt.cancel(h)
				}
				h.Get("").Is("plan_id", mailbox)
				h.Clock.Advance(60 * 24 * time.Hour)
				h.Get("").Is("plan_id", tt.want)
			}
		})
	}
}

// TestCancelAtTheMomentOfAChange checks that a cancellation at the time of a scheduled
// plan change cancels the new plan.
func TestCancelAtTheMomentOfAChange(t *testing.T) {
	for _, body := range []obj{{}, {"cancel_immediately": true}} {
		h := apitest.New(t)
		h.Post("/billing/change-plan", obj{"plan_id": "smtp_per_proxy", "effective_date": "2026-03-14T16:09:26.535897Z"}).Want(200)
		h.Clock.Advance(time.Hour)
		h.Post("/billing/cancel-plan", body).Want(200).Is("previous_plan_id", "smtp_per_proxy")
		for range 2 {
			h.Get("").Is("plan_id", "smtp_per_proxy")
			h.Clock.Advance(60 * 24 * time.Hour)
		}
	}
}
