package forwarding

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if !req.State.Raw.IsNull() && !req.Plan.Raw.IsNull() {
		r.PlanScope(ctx, req, resp)
	}
	r.announceRemains(ctx, req, resp)
	if resp.Diagnostics.HasError() || req.State.Raw.IsNull() || req.Plan.Raw.IsNull() || len(resp.RequiresReplace) > 0 {
		return
	}
	r.planUpdate(ctx, req, resp)
}

// planUpdate plans the change of a rule that stays.
func (r *Resource) planUpdate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model
	var active types.Bool
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("active"), &active)...)
	known := readNote(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	touched := mustSwitchOff(active, state, known)
	if plan.TargetEmail.Equal(state.TargetEmail) {
		plan.keepVerification(state)
		if active.IsNull() || active.ValueBool() && !state.confirmed() {
			plan.Active = state.Active
		}
		if mustSwitchOn(active, state, known) {
			plan.Active, touched = types.BoolValue(true), true
		}
		if active.IsNull() && known.On && !state.confirmed() && state.Active.ValueBool() {
			plan.Active, touched = types.BoolValue(false), true // what the API says
		}
		if isFalse(active) && known.Imported && !state.confirmed() && !touched {
			addUntold(&resp.Diagnostics, state)
		}
		if state.released() {
			addReleased(&resp.Diagnostics, state)
		}
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	service.SettlePlan(ctx, req, resp)
	if touched {
		r.warnOfNoSwitch(ctx, resp, state)
		// Where nothing else shows it, this is what makes the plan an update.
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("updated_at"), types.StringUnknown())...)
	}
}

// addReleased warns of a rule that stopped forwarding when its target was deleted.
// No plan repairs that by itself: the address may belong to somebody else by now,
// who would get the verification message.
func addReleased(diags *diag.Diagnostics, state model) {
	diags.AddAttributeWarning(path.Root("target_email"), "The "+state.String()+" forwards no mail",
		"The target "+state.TargetEmail.ValueString()+" is not confirmed, and no verification message was sent. A rule to a mailbox or an alias of the account is in this state after that address was deleted, even if it was created again.\n\n"+
			"If mail is still to be forwarded there, invoke the action mailhost_resend_forwarding_verification, or replace the rule with terraform apply -replace. "+
			"An address of the account then receives mail at once; any other address gets a verification message. Otherwise change target_email or remove the rule.")
}

// addUntold warns of what active = false means for an imported rule that waits.
func addUntold(diags *diag.Diagnostics, state model) {
	diags.AddAttributeWarning(path.Root("active"), "The "+state.String()+" is not switched off yet",
		"It was imported while it waits for its recipient, and then the API does not tell whether it is switched off. Once the recipient has confirmed, the next apply switches it off.\n\n"+
			"If active = false comes from a generated configuration, remove it: left out, the rule is on as soon as the recipient has confirmed.")
}

// warnOfNoSwitch warns in a plan that switches a rule on or off, where the API
// can't.
func (r *Resource) warnOfNoSwitch(ctx context.Context, resp *resource.ModifyPlanResponse, state model) {
	if c := r.ClientForWarning(ctx); c != nil && !c.Supports(ctx, api.SetForwardingActive.Spec, state.ID.ValueString()) {
		resp.Diagnostics.AddAttributeWarning(path.Root("active"), "The "+state.String()+" can't be switched on or off",
			"As far as this API's answers tell, it has no operation for that: the apply will fail at it. Leave active as it was.")
	}
}

// remains is the rule where the API can't delete it.
func (m model) remains() service.Remains {
	return service.Remains{
		Object: m.String(), ID: m.ID.ValueString(),
		Consequence: m.goesOn(),
	}
}

// announceRemains warns in a plan that gives the rule up, where the API can't
// delete it.
func (r *Resource) announceRemains(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state model
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	r.AnnounceRemains(ctx, req, resp, state.remains(), api.DeleteForwarding.Spec)
}
