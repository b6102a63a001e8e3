package apiserver_test

import (
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func TestCancelPlanAtPeriodEnd(t *testing.T) {
	for _, body := range []obj{{}, {"cancel_at_period_end": true}, {"cancel_immediately": false}, {"cancel_at_period_end": nil, "cancel_immediately": nil}} {
		h := newHarness(t)
		h.post("/billing/cancel-plan", body).want(200).is(
			"account_status", "pending_cancellation", "effective_at", "2026-04-01T00:00:00.000000Z", "eligible", true, "previous_plan_id", "smtp_per_mailbox", "target_plan_id", nil)
		h.get("").is("status", "pending_cancellation", "cancels_at", "2026-04-01T00:00:00.000000Z")
		h.workspace("still works")
		h.post("/billing/cancel-plan", obj{}).want(200).is("account_status", "pending_cancellation", "effective_at", "2026-04-01T00:00:00.000000Z")
		h.clock.Advance(18 * 24 * time.Hour)
		h.get("").is("status", "cancelled")
		h.post("/workspaces", obj{"name": "x"}).refused(403, "path.account_id account_cancelled")
	}
}

func TestCancelPlanImmediately(t *testing.T) {
	for _, body := range []obj{{"cancel_immediately": true}, {"cancel_immediately": true, "cancel_at_period_end": false}} {
		for _, pending := range []bool{false, true} {
			h := newHarness(t)
			if pending {
				h.post("/billing/cancel-plan", obj{}).want(200)
			}
			h.post("/billing/cancel-plan", body).want(200).is("account_status", "cancelled", "effective_at", "2026-03-14T15:09:26.535897Z", "eligible", true)
			h.get("").is("status", "cancelled")
		}
	}
}

// Whoever did not get the answer to a cancellation gets it on the retry.
func TestCancelPlanReplay(t *testing.T) {
	h := newHarness(t)
	first := h.keyed(key, "/billing/cancel-plan", obj{"cancel_immediately": true}).want(200)
	if again := h.keyed(key, "/billing/cancel-plan", obj{"cancel_immediately": true}).want(200); !again.replayed() || string(again.raw) != string(first.raw) {
		t.Errorf("%s; want a replay of %s", again, first)
	}
	h.keyed(key, "/billing/cancel-plan", obj{}).refused(422, "header.Idempotency-Key value_error")
	h.keyed(otherKey, "/billing/cancel-plan", obj{"cancel_immediately": true}).refused(403, "path.account_id account_cancelled")
	h.keyed("x", "/workspaces", obj{"name": "x"}).want(422)
	h.keyed(otherKey, "/workspaces", obj{"name": "x"}).refused(403, "path.account_id account_cancelled")
}

func TestCancelPlanFlags(t *testing.T) {
	h := newHarness(t)
	for _, body := range []obj{{"cancel_at_period_end": true, "cancel_immediately": true}, {"cancel_at_period_end": false, "cancel_immediately": false}, {"cancel_at_period_end": false}} {
		h.post("/billing/cancel-plan", body).refused(422, "body.cancel_at_period_end value_error")
	}
	h.get("").is("status", "active")
}

func TestCancelledAccountIsReadOnly(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	h.mailbox("example.com", "jane")
	c := h.as(h.post("/auth/service-accounts", obj{"name": "x"}).want(201).str("token"))
	h.post("/billing/cancel-plan", obj{"cancel_immediately": true}).want(200)
	for _, spec := range api.Specs() {
		a := newRequest(t, spec).send(c)
		if spec.Method != "GET" && spec.ID != "export-mailboxes" && !spec.WhenCancelled {
			a.refused(403, "path.account_id account_cancelled")
		} else if a.status != 200 && a.status != 404 {
			t.Errorf("%s: %s", spec.ID, a)
		}
	}
	c.get("/mailboxes").want(200).is("total", 1)
	c.post("/mailboxes/export", obj{}).want(200)
}

func TestChangePlan(t *testing.T) {
	h := newHarness(t)
	const mailbox, proxy = "smtp_per_mailbox", "smtp_per_proxy"
	h.post("/billing/change-plan", obj{}).want(200).is("account_status", "active", "effective_at", "2026-03-14T15:09:26.535897Z", "eligible", true, "previous_plan_id", mailbox, "target_plan_id", proxy)
	h.get("").is("plan_id", proxy)
	h.post("/billing/change-plan", obj{"plan_id": nil, "effective_date": nil}).want(200).is("previous_plan_id", proxy, "target_plan_id", mailbox) // it wraps round
	h.post("/billing/change-plan", obj{"plan_id": mailbox}).want(200).is("eligible", false, "effective_at", nil, "previous_plan_id", mailbox, "target_plan_id", mailbox, "account_status", "active")
	h.get("").is("plan_id", mailbox, "updated_at", "2026-03-14T15:09:26.535897Z")

	h.post("/billing/change-plan", obj{"plan_id": proxy, "effective_date": "2026-03-14T17:09:26.535897+01:00"}).want(200).
		is("effective_at", "2026-03-14T16:09:26.535897Z", "eligible", true, "previous_plan_id", mailbox, "target_plan_id", proxy)
	h.get("").is("plan_id", mailbox)
	h.clock.Advance(time.Hour)
	h.get("").is("plan_id", proxy)
	h.post("/billing/change-plan", obj{"effective_date": "2026-03-14T16:09:26.535896Z"}).refused(422, "body.effective_date value_error")
	h.post("/billing/change-plan", obj{"effective_date": "9999-12-31T23:59:59-05:00"}).refused(422, "body.effective_date value_error")
	h.post("/billing/change-plan", obj{"effective_date": "2026-03-14T16:09:26.535897Z"}).want(200).is("target_plan_id", mailbox)
	h.post("/billing/change-plan", obj{"effective_date": "today", "plan_id": "free"}).refused(422, "body.effective_date datetime_from_date_parsing", "body.plan_id enum")
}

func TestCancelPlanInDecember(t *testing.T) {
	h := newHarness(t)
	h.clock.Advance(time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC).Sub(start))
	h.post("/billing/cancel-plan", obj{}).want(200).is("effective_at", "2027-01-01T00:00:00.000000Z")
}

// What was scheduled does not change a cancelled account, and what had taken
// effect before stays.
func TestScheduledChangeOfACancelledPlan(t *testing.T) {
	const mailbox, proxy = "smtp_per_mailbox", "smtp_per_proxy"
	const early, atEnd, late = "2026-03-20T00:00:00Z", "2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z"
	cancel := func(body obj) func(*harness) {
		return func(h *harness) { h.post("/billing/cancel-plan", body).want(200).is("previous_plan_id", mailbox) }
	}
	for name, tt := range map[string]struct {
		effective string
		cancel    func(*harness)
		want      string
	}{
		"at once":                                 {early, cancel(obj{"cancel_immediately": true}), mailbox},
		"at the period's end":                     {late, cancel(obj{}), mailbox},
		"just at the period's end":                {atEnd, cancel(obj{}), mailbox},
		"before the period's end":                 {early, cancel(obj{}), proxy},
		"not cancelled":                           {late, func(*harness) {}, proxy},
		"first at the period's end, then at once": {early, func(h *harness) { cancel(obj{})(h); cancel(obj{"cancel_immediately": true})(h) }, mailbox},
	} {
		t.Run(name, func(t *testing.T) {
			for _, cancelFirst := range []bool{false, true} {
				h := newHarness(t)
				change := func() { h.post("/billing/change-plan", obj{"plan_id": proxy, "effective_date": tt.effective}) }
				if cancelFirst {
					tt.cancel(h)
					change()
				} else {
					change()
					tt.cancel(h)
				}
				h.get("").is("plan_id", mailbox)
				h.clock.Advance(60 * 24 * time.Hour)
				h.get("").is("plan_id", tt.want)
			}
		})
	}
}

// Whoever cancels at the very moment of a change cancels the plan that has just
// begun.
func TestCancelAtTheMomentOfAChange(t *testing.T) {
	for _, body := range []obj{{}, {"cancel_immediately": true}} {
		h := newHarness(t)
		h.post("/billing/change-plan", obj{"plan_id": "smtp_per_proxy", "effective_date": "2026-03-14T16:09:26.535897Z"}).want(200)
		h.clock.Advance(time.Hour)
		h.post("/billing/cancel-plan", body).want(200).is("previous_plan_id", "smtp_per_proxy")
		for range 2 {
			h.get("").is("plan_id", "smtp_per_proxy")
			h.clock.Advance(60 * 24 * time.Hour)
		}
	}
}
