package mailbox

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	service.SettlePlan(ctx, req, resp)
	switch {
	case r.announceRemains(ctx, req, resp) || req.State.Raw.IsNull():
	case resp.Plan.Raw.IsNull():
		announceLoss(ctx, req, resp)
	default:
		announceReplacement(ctx, req, resp)
	}
}

// remains is the mailbox where the API can't delete it.
func (m model) remains() service.Remains {
	return service.Remains{
		Object: "mailbox " + m.address(), ID: m.ID.ValueString(),
		Consequence: "It keeps receiving mail, and it is still paid for.",
	}
}

// announceRemains warns in a plan that gives the mailbox up, where the API can't
// delete it, and reports whether it did.
func (r *Resource) announceRemains(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) bool {
	var state model
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	return r.AnnounceRemains(ctx, req, resp, state.remains(), api.DeleteMailbox.Spec, "domain", "local_part")
}

// announceLoss warns in a plan that destroys the mailbox. There may be thousands:
// Terraform shows warnings of one summary as one.
func announceLoss(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.AddWarning("The plan deletes a mailbox with its mail",
		"The mail in the mailbox "+state.address()+" is lost, and its address is free for somebody else of the account. "+
			"If Terraform should just forget it, use a removed block with destroy = false (or terraform state rm) instead.")
}

// announceReplacement warns in a plan that deletes the mailbox for another one.
func announceReplacement(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if plan.Domain.Equal(state.Domain) && plan.LocalPart.Equal(state.LocalPart) {
		return
	}
	service.AnnounceReplacement(&resp.Diagnostics, "mailbox "+state.address(),
		"An address can't be changed: another domain or local_part means that a new mailbox is made and this one is deleted.",
		"The mail in it is lost.", service.StillUnknown(resp.Plan.Raw, req.State.Raw, "domain", "local_part")...)
}
