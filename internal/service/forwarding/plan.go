package forwarding

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() || req.Plan.Raw.IsNull() {
		return
	}
	r.PlanScope(ctx, req, resp)
	if resp.Diagnostics.HasError() || len(resp.RequiresReplace) > 0 {
		return
	}
	planUpdate(ctx, req, resp)
}

// planUpdate plans the change of a rule that stays.
func planUpdate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model
	var active types.Bool
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("active"), &active)...)
	off := switchedOff(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	touched := mustSwitchOff(active, state, off)
	if plan.TargetEmail.Equal(state.TargetEmail) {
		plan.keepVerification(state)
		if active.IsNull() {
			plan.Active = state.Active
		}
		if mustSwitchOn(active, state, off) {
			plan.Active, touched = types.BoolValue(true), true
		}
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	service.SettlePlan(ctx, req, resp)
	if touched {
		// Where nothing else shows it, this is what makes the plan an update.
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("updated_at"), types.StringUnknown())...)
	}
}
