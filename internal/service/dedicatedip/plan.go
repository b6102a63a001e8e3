package dedicatedip

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// releaseConsequence describes the loss of a released address.
const releaseConsequence = "The address is released together with the reputation that it has earned, and can't be claimed again; mail is then sent from other addresses."

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() {
		r.requireOption(ctx, req, resp)
	} else {
		r.warnRelease(ctx, req, resp)
	}
	service.DropEmptyUpdate(req, resp)
}

// requireOption adds an error to the plan of a create without an option. Create checks
// an option that is unknown in the plan.
func (r *Resource) requireOption(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var optionID customtype.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("option_id"), &optionID)...)
	if !optionID.IsNull() || resp.Diagnostics.HasError() {
		return
	}
	if c := r.Client(ctx, &resp.Diagnostics); c != nil {
		addOptionMissing(ctx, c, &resp.Diagnostics)
	}
}

// warnRelease warns in a plan that destroys or replaces the address. A change of an
// option_id that is null in the state, after an import, replaces nothing.
func (r *Resource) warnRelease(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if req.Plan.Raw.IsNull() {
		if !r.WarnOrphaned(ctx, req, resp) {
			service.WarnDestroy(&resp.Diagnostics, state.String(), releaseConsequence)
		}
		return
	}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if !state.OptionID.IsNull() && !plan.OptionID.Equal(state.OptionID) {
		service.WarnReplace(&resp.Diagnostics, state.String(), "Another option_id claims another address and releases this one.", releaseConsequence,
			service.UnknownChanges(resp.Plan.Raw, req.State.Raw, "option_id")...)
		r.WarnOrphaned(ctx, req, resp, "option_id")
	}
}
