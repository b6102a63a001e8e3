package masterpassword

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// ValidateConfig implements resource.ResourceWithValidateConfig.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(config.check()...)
	}
}

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case req.Plan.Raw.IsNull():
		return
	case req.State.Raw.IsNull():
		planCreate(ctx, resp)
		return
	}
	r.PlanScope(ctx, req, resp)
	planSecret(ctx, req, resp)
	service.SettlePlan(ctx, req, resp)
}

// planCreate lets a plan say whether there will be a generated secret.
func planCreate(ctx context.Context, resp *resource.ModifyPlanResponse) {
	var plan model
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	if !plan.Generate.IsUnknown() && !plan.Generate.ValueBool() {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("generated_secret"), types.StringNull())...)
	}
}

// planSecret plans a replacement where the secret changes, for the API has no
// operation that changes it. Where it stays, what the configuration says of it
// is only taken down: after an import, which can't tell the secret, and where it
// moves from one attribute to another, as out of the state into value_wo.
func planSecret(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var config, plan, state model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	changed := state.changes(plan.secret)
	switch {
	case len(changed) == 0:
		plan.GeneratedSecret = state.GeneratedSecret
	case !state.recorded(), state.sameSecretAs(config):
		plan.GeneratedSecret = types.StringNull()
	default:
		resp.RequiresReplace.Append(changed...)
		return
	}
	if plan.Name.Equal(state.Name) {
		plan.UpdatedAt = state.UpdatedAt // nothing is sent
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}
