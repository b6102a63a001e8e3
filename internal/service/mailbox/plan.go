package mailbox

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	service.DropEmptyUpdate(req, resp)
	r.WarnMissingDomain(ctx, req, resp)
	switch {
	case r.WarnOrphaned(ctx, req, resp, "domain", "local_part") || req.State.Raw.IsNull():
	case resp.Plan.Raw.IsNull():
		warnDestroy(ctx, req, resp)
	default:
		warnReplace(ctx, req, resp)
	}
}

// warnDestroy warns in a plan that destroys the mailbox. The summary is the same for
// all mailboxes, so that Terraform shows thousands of them as one warning.
func warnDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.AddWarning("The plan deletes a mailbox with its mail",
		"The mail in the mailbox "+state.address()+" is lost, and somebody else in the account can use its address. "+
			"To keep the mailbox and only remove it from the state, use a removed block with destroy = false (or terraform state rm) instead.")
}

// warnReplace warns in a plan that deletes the mailbox and creates another one.
func warnReplace(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if plan.Domain.Equal(state.Domain) && plan.LocalPart.Equal(state.LocalPart) {
		return
	}
	service.WarnReplace(&resp.Diagnostics, state.String(),
		"An address can't be changed: another domain or local_part creates a new mailbox and deletes this one.",
		"The mail in it is lost.", service.UnknownChanges(resp.Plan.Raw, req.State.Raw, "domain", "local_part")...)
}
