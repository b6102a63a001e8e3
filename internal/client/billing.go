package client

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

const checkPlan = "Check the account's plan before trying again."

// CancelPlan cancels the account's plan.
func (c *Client) CancelPlan(ctx context.Context, body api.CancelPlanBody) (*api.BillingResult, error) {
	return create(ctx, c, api.CancelPlan, &api.CancelPlanRequest{Body: body}, &creation[api.BillingResult]{
		paid: true, may: "the plan may have been cancelled", check: checkPlan,
	})
}

// ChangePlan changes the account's plan.
func (c *Client) ChangePlan(ctx context.Context, body api.ChangePlanBody) (*api.BillingResult, error) {
	return create(ctx, c, api.ChangePlan, &api.ChangePlanRequest{Body: body}, &creation[api.BillingResult]{
		paid: true, may: "the plan may have been changed", check: checkPlan,
	})
}
