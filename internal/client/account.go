package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

const checkPlan = "Check the account's plan before trying again."

// GetAccount reads the account itself. Without lifecycle operations it is
// ErrReadUnsupported.
func (c *Client) GetAccount(ctx context.Context) (*api.Account, error) {
	op, id := api.GetAccount, c.AccountID()
	if c.operations.isAbsent(op.Spec) {
		return nil, unsupported(ErrReadUnsupported, op.Spec, id)
	}
	a, err := transport.Do(ctx, c.transport, op, &api.GetAccountRequest{}, transport.About(id))
	switch {
	case err == nil:
		c.operations.setPresent(op.Spec)
		if err := requireID(op.Spec, id, a.ID); err != nil {
			return nil, err
		}
		return a, nil
	case IsUnsupported(err), StatusOf(err) == http.StatusNotFound && !c.operations.isPresent(op.Spec):
		// An account whose credential is accepted exists, so the operation is missing.
		if err := c.confirmAbsent(ctx, op.Spec, err); err != nil {
			return nil, err
		}
		return nil, unsupported(ErrReadUnsupported, op.Spec, id)
	}
	return nil, err
}

// CancelPlan cancels the account's plan.
func (c *Client) CancelPlan(ctx context.Context, body api.CancelPlanBody) (*api.BillingResult, error) {
	return created(create(ctx, c.core, api.CancelPlan, &api.CancelPlanRequest{Body: body}, createSpec[api.BillingResult]{
		paid: true, effect: "the plan may have been cancelled", check: checkPlan,
	}))
}

// ChangePlan changes the account's plan.
func (c *Client) ChangePlan(ctx context.Context, body api.ChangePlanBody) (*api.BillingResult, error) {
	return created(create(ctx, c.core, api.ChangePlan, &api.ChangePlanRequest{Body: body}, createSpec[api.BillingResult]{
		paid: true, effect: "the plan may have been changed", check: checkPlan,
	}))
}

// SubmitFeedback submits product feedback.
func (c *Client) SubmitFeedback(ctx context.Context, body api.SubmitFeedbackBody) (*api.Feedback, error) {
	return created(create(ctx, c.core, api.SubmitFeedback, &api.SubmitFeedbackRequest{Body: body}, createSpec[api.Feedback]{
		object: body.Title, effect: "the feedback may have been submitted",
	}))
}

// ListWorkspaces returns all workspaces. Without lifecycle operations it is
// ErrReadUnsupported.
func (c *Client) ListWorkspaces(ctx context.Context) iter.Seq2[api.Workspace, error] {
	return list(ctx, c.core, api.ListWorkspaces, api.ListWorkspacesRequest{}, func(w *api.Workspace) string { return w.ID })
}

// ListAuthorizations returns the grants that match the request's filters. The API
// returns all of them on one page.
func (c *Client) ListAuthorizations(ctx context.Context, req api.ListAuthorizationsRequest) iter.Seq2[api.Authorization, error] {
	return func(yield func(api.Authorization, error) bool) {
		all, err := transport.Do(ctx, c.transport, api.ListAuthorizations, &req)
		if err != nil {
			yield(api.Authorization{}, err)
			return
		}
		for _, a := range *all {
			if !yield(a, nil) {
				return
			}
		}
	}
}
