package dedicatedip

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() {
		r.requireOption(ctx, req, resp)
	} else {
		r.announce(ctx, req, resp)
	}
	service.SettlePlan(ctx, req, resp)
}

// requireOption says in the plan of a create that the option is missing. One that
// is only known in the apply is asked for again there.
func (r *Resource) requireOption(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var optionID customtype.UUID
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("option_id"), &optionID)...)
	if !optionID.IsNull() || resp.Diagnostics.HasError() {
		return
	}
	if c := r.Client(ctx, &resp.Diagnostics); c != nil {
		addOptionMissing(ctx, c, &resp.Diagnostics)
	}
}

// announce says in the plan that an address is given up.
func (r *Resource) announce(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	object := "dedicated IP " + state.display()
	if req.Plan.Raw.IsNull() {
		if !r.announceRemains(ctx, req, resp) {
			service.AnnounceLoss(&resp.Diagnostics, object, loss)
		}
		return
	}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if !state.OptionID.IsNull() && !plan.OptionID.Equal(state.OptionID) {
		service.AnnounceReplacement(&resp.Diagnostics, object, "Another option_id means that another address is claimed and this one is given back.", loss,
			service.StillUnknown(resp.Plan.Raw, req.State.Raw, "option_id")...)
		r.announceRemains(ctx, req, resp)
	}
}

// remains is the dedicated IP where the API can't take it back.
func (m model) remains() service.Remains {
	return service.Remains{
		Object: "dedicated IP " + m.display(), ID: m.ID.ValueString(),
		Consequence: "It stays claimed, and it is still paid for.",
	}
}

// announceRemains warns in a plan that gives the dedicated IP up, where the API
// can't take it back, and reports whether it did. A plan of another option_id
// replaces one whose option is known.
func (r *Resource) announceRemains(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) bool {
	var state model
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	var replacing []string
	if !state.OptionID.IsNull() {
		replacing = []string{"option_id"}
	}
	return r.AnnounceRemains(ctx, req, resp, state.remains(), api.ReleaseDedicatedIP.Spec, replacing...)
}
