package account

import (
	"errors"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// accountOperations binds the operations on the account, its plan and its workspaces to their rules.
var accountOperations = []Operation{
	read(api.GetAccount, getAccount),
	change(api.CancelPlan, cancelPlan),
	change(api.ChangePlan, changePlan),
	change(api.CreateWorkspace, createWorkspace),
	read(api.ListWorkspaces, listWorkspaces),
	read(api.GetWorkspace, getWorkspace),
}

func getAccount(c *Call, r store.Reader, _ *api.InAccount) (*api.Account, error) {
	a, err := r.Account(c.Caller.AccountID)
	return &api.Account{
		ID: a.ID, Status: a.StatusAt(c.Arrival), PlanID: a.PlanAt(c.Arrival), DefaultWorkspaceID: api.DefaultWorkspaceID(c.Caller.AccountID),
		CancelsAt: optionalTimestamp(a.CancelsAt), CreatedAt: timestamp(a.CreatedAt), UpdatedAt: timestamp(a.UpdatedAt),
	}, err
}

// The outcomes of a billing operation.
const (
	billingScheduled = "scheduled"
	billingDone      = "completed"
	billingUnchanged = "unchanged"
)

func cancelPlan(c *Call, tx store.Tx, in *api.CancelPlanRequest) (*api.BillingResult, error) {
	status, previous := billingScheduled, ""
	a, err := store.Update(tx, c.Caller.AccountID, c.Caller.AccountID, func(a *store.Account) error {
		if previous = a.PlanAt(c.Arrival); previous != a.PlanID { // a plan change that took effect is kept
			a.PlanID, a.NextPlanID, a.PlanChangesAt = previous, "", time.Time{}
		}
		if in.Body.Immediately() {
			status, a.Status, a.CancelsAt = billingDone, vocab.AccountCancelled, c.Arrival
		} else if a.Status == vocab.AccountActive {
			a.Status, a.CancelsAt = vocab.AccountPendingCancellation, store.PeriodEnd(c.Arrival)
		}
		a.UpdatedAt = c.Arrival
		return nil
	})
	return &api.BillingResult{
		Status: status, AccountStatus: &a.Status, EffectiveAt: optionalTimestamp(a.CancelsAt),
		Eligible: new(true), PreviousPlanID: &previous,
	}, err
}

func changePlan(c *Call, tx store.Tx, in *api.ChangePlanRequest) (*api.BillingResult, error) {
	effective, err := timeInBody(in.Body.EffectiveDate, c.Arrival, in.Body.Timely(c.Arrival))
	if err != nil {
		return nil, err
	}
	var out *api.BillingResult
	_, err = store.Update(tx, c.Caller.AccountID, c.Caller.AccountID, func(a *store.Account) error {
		current, target := a.PlanAt(c.Arrival), api.Value(in.Body.PlanID)
		if target == "" {
			plans := vocab.Plans()
			target = plans[(slices.Index(plans, current)+1)%len(plans)]
		}
		out = &api.BillingResult{
			Status: billingUnchanged, AccountStatus: new(a.StatusAt(c.Arrival)), Eligible: new(target != current),
			PreviousPlanID: &current, TargetPlanID: &target,
		}
		if c.unchanged = target == current; c.unchanged {
			return nil
		}
		out.Status, out.EffectiveAt = billingScheduled, new(timestamp(effective))
		a.PlanID, a.NextPlanID, a.PlanChangesAt, a.UpdatedAt = current, target, effective, c.Arrival
		if !effective.After(c.Arrival) {
			out.Status, a.PlanID, a.NextPlanID, a.PlanChangesAt = billingDone, target, "", time.Time{}
		}
		return nil
	})
	return out, err
}

func createWorkspace(c *Call, tx store.Tx, in *api.CreateWorkspaceRequest) (*api.Workspace, error) {
	w := store.Workspace{ID: c.Rules.Random.ID(), AccountID: c.Caller.AccountID, Name: in.Body.Name, CreatedAt: c.Arrival}
	err := tx.Create(&w)
	if exists, ok := errors.AsType[*store.ExistsError](err); ok {
		return nil, api.Conflict("the account has a workspace named %q already%s", w.Name,
			c.existingID(tx, vocab.CapWorkspaceView, store.Scope{Type: vocab.ScopeWorkspace, ID: exists.ID}, ", with the id ", exists.ID))
	}
	return new(workspace(w)), err
}

func listWorkspaces(c *Call, r store.Reader, in *api.ListRequest) (*api.Page[api.Workspace], error) {
	return page(c, in.Paged, workspace, r.Workspaces, c.within())
}

func getWorkspace(c *Call, r store.Reader, in *api.WorkspaceRequest) (*api.Workspace, error) {
	w, err := c.findWorkspace(r, in.WorkspaceID)
	return new(workspace(w)), err
}

func workspace(w store.Workspace) api.Workspace {
	return api.Workspace{ID: w.ID, Name: w.Name, CreatedAt: timestamp(w.CreatedAt), UpdatedAt: timestamp(w.UpdatedAt)}
}
