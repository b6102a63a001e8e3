package modeltest

import "time"

func (m *machine) accountStatus() string {
	switch a := m.account; {
	case a.ended || !a.cancelsAt.IsZero() && !m.now().Before(a.cancelsAt):
		return "cancelled"
	case !a.cancelsAt.IsZero():
		return "pending_cancellation"
	}
	return "active"
}

// cancelled reports whether the account is read-only.
func (m *machine) cancelled() bool { return m.accountStatus() == "cancelled" }

// plan returns the current plan. A scheduled change takes effect unless the account is
// cancelled by then.
func (m *machine) plan() string {
	a := m.account
	if a.next != "" && !m.now().Before(a.changesAt) && (a.cancelsAt.IsZero() || a.changesAt.Before(a.cancelsAt)) {
		return a.next
	}
	return a.plan
}

// cancelPlan cancels at the end of the period by default, or at once.
func (m *machine) cancelPlan() {
	if !m.config.mayCancel {
		return
	}
	body, atOnce, faults := obj{}, false, []problem(nil)
	switch draw(m, "cancel", "default", "at the end", "at once", "only at once", "both", "neither", "neither by default") {
	case "at the end":
		body["cancel_at_period_end"], body["cancel_immediately"] = true, false
	case "at once":
		body["cancel_at_period_end"], body["cancel_immediately"], atOnce = false, true, true
	case "only at once":
		body["cancel_immediately"], atOnce = true, true
	case "both":
		body["cancel_at_period_end"], body["cancel_immediately"] = true, true
		faults = []problem{wrong("body.cancel_at_period_end")}
	case "neither":
		body["cancel_at_period_end"], body["cancel_immediately"] = false, false
		faults = []problem{wrong("body.cancel_at_period_end")}
	case "neither by default":
		body["cancel_at_period_end"] = false
		faults = []problem{wrong("body.cancel_at_period_end")}
	}
	m.do(m.caller(), operation{
		method: "POST", path: "/billing/cancel-plan", body: body, capability: "billing.manage", keyed: true, faults: faults,
		then: func(*caller) want {
			a, status := &m.account, "scheduled"
			if current := m.plan(); current != a.plan {
				a.plan, a.next = current, "" // what has taken effect stays
			}
			if atOnce {
				status, a.ended, a.cancelsAt = "completed", true, m.now()
			} else if a.cancelsAt.IsZero() {
				a.cancelsAt = time.Date(m.now().Year(), m.now().Month()+1, 1, 0, 0, 0, 0, time.UTC)
			}
			a.billed = m.now()
			return ok(obj{
				"status": status, "account_status": m.accountStatus(), "effective_at": stamp(a.cancelsAt), "eligible": true,
				"previous_plan_id": m.plan(), "target_plan_id": nil,
			})
		},
	})
}

var plans = []string{"smtp_per_mailbox", "smtp_per_proxy"}

// changePlan changes the plan at the end of the current one by default, or at once.
func (m *machine) changePlan() {
	body := obj{}
	if draw(m, "plan", false, true) {
		body["plan_id"] = draw[any](m, "plan_id", plans[0], plans[1], nil)
	}
	var date time.Time
	if draw(m, "date", false, true) {
		date = m.now().Add(draw(m, "in", 0, time.Hour, 48*time.Hour, -time.Microsecond))
		body["effective_date"] = date.Format(time.RFC3339Nano)
	}
	m.do(m.caller(), operation{
		method: "POST", path: "/billing/change-plan", body: body, capability: "billing.manage", keyed: true,
		then: func(*caller) want {
			effective := date
			switch {
			case date.IsZero():
				effective = m.now()
			case date.Before(m.now()):
				return unprocessable(wrong("body.effective_date"))
			}
			a, current := &m.account, m.plan()
			target, given := body["plan_id"].(string)
			if !given {
				target = plans[0]
				if current == plans[0] {
					target = plans[1]
				}
			}
			out := obj{"status": "unchanged", "account_status": m.accountStatus(), "effective_at": nil, "eligible": false, "previous_plan_id": current, "target_plan_id": target}
			if target == current {
				return ok(out)
			}
			out["status"], out["effective_at"], out["eligible"] = "scheduled", stamp(effective), true
			a.plan, a.next, a.changesAt, a.billed = current, target, effective, m.now()
			if !effective.After(m.now()) {
				out["status"], a.plan, a.next = "completed", target, ""
			}
			return ok(out)
		},
	})
}
