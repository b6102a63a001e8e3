package account

import (
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// The outcomes of a billing operation.
const (
	billingScheduled = "scheduled"
	billingDone      = "completed"
	billingUnchanged = "unchanged"
)

// PeriodEnd returns the end of the billing period of a time: periods are
// calendar months.
func PeriodEnd(now time.Time) time.Time {
	return time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}

// CancelPlan implements api.CancelPlan.
func CancelPlan(c *Call, in *api.CancelPlanRequest) (*api.BillingResult, error) {
	return transact(c, func(tx store.Tx) (*api.BillingResult, error) {
		status, previous := billingScheduled, ""
		a, err := tx.UpdateAccount(c.caller.AccountID, func(a *store.Account) error {
			if previous = a.PlanAt(c.at); previous != a.PlanID { // the change that has taken effect stays, whenever that was
				a.PlanID, a.NextPlanID, a.PlanChangesAt = previous, "", time.Time{}
			}
			if in.Body.Immediately() {
				status, a.Status, a.CancelsAt = billingDone, vocab.AccountCancelled, c.at
			} else if a.Status == vocab.AccountActive {
				a.Status, a.CancelsAt = vocab.AccountPendingCancellation, PeriodEnd(c.at)
			}
			a.UpdatedAt = c.at
			return nil
		})
		return &api.BillingResult{
			Status: status, AccountStatus: &a.Status, EffectiveAt: optionalTimestamp(a.CancelsAt),
			Eligible: new(true), PreviousPlanID: &previous,
		}, err
	})
}

// ChangePlan implements api.ChangePlan.
func ChangePlan(c *Call, in *api.ChangePlanRequest) (*api.BillingResult, error) {
	effective := c.at
	if p := in.Timely(c.at); p != nil {
		return nil, api.Unprocessable(p)
	}
	if in.Body.EffectiveDate != nil {
		var err error
		if effective, err = api.ParseTime(*in.Body.EffectiveDate); err != nil {
			return nil, err
		}
	}
	return transact(c, func(tx store.Tx) (out *api.BillingResult, err error) {
		_, err = tx.UpdateAccount(c.caller.AccountID, func(a *store.Account) error {
			current, target := a.PlanAt(c.at), value(in.Body.PlanID)
			if target == "" {
				plans := vocab.Plans()
				target = plans[(slices.Index(plans, current)+1)%len(plans)]
			}
			out = &api.BillingResult{
				Status: billingUnchanged, AccountStatus: new(a.StatusAt(c.at)), Eligible: new(target != current),
				PreviousPlanID: &current, TargetPlanID: &target,
			}
			if c.unchanged = target == current; c.unchanged {
				return nil
			}
			out.Status, out.EffectiveAt = billingScheduled, new(timestamp(effective))
			a.PlanID, a.NextPlanID, a.PlanChangesAt, a.UpdatedAt = current, target, effective, c.at
			if !effective.After(c.at) {
				out.Status, a.PlanID, a.NextPlanID, a.PlanChangesAt = billingDone, target, "", time.Time{}
			}
			return nil
		})
		return out, err
	})
}
