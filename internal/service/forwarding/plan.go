package forwarding

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	isUpdate := !req.State.Raw.IsNull() && !req.Plan.Raw.IsNull()
	if req.Plan.Raw.IsNull() {
		return
	}
	if req.State.Raw.IsNull() {
		r.planExisting(ctx, plan, &resp.Diagnostics)
	}
	if isUpdate && !resp.Diagnostics.HasError() && len(resp.RequiresReplace) == 0 {
		r.planUpdate(ctx, req, plan, state, resp)
	}
}

// planExisting reports in the plan of a new rule an existing rule with the same scope and target.
func (r *Resource) planExisting(ctx context.Context, plan model, diags *diag.Diagnostics) {
	c := r.ClientIfOpen(ctx)
	if c == nil || plan.TargetEmail.IsUnknown() || plan.Domain.IsUnknown() || plan.WorkspaceID.IsUnknown() || r.CreatesDomain(plan.Domain.ValueString()) {
		return
	}
	address := func(s string) string { canonical, _ := customtype.EmailAddress.Normalize(s); return canonical }
	target := plan.TargetEmail.ValueString()
	if service.FindListed(r.Notes(), "", c.ListForwarding(ctx, api.ListForwardingRequest{}),
		func(f *api.Forwarding) string { return address(f.TargetEmail) }, address(target), func(*api.Forwarding) bool { return true }) == nil {
		return
	}
	found, err := c.FindForwarding(ctx, target, plan.Expand()) // in this scope
	if err != nil {
		return
	}
	unchanged := []string{"target_email"}
	if plan.Active.IsUnknown() || !confirmed(found.VerificationState) {
		unchanged = append(unchanged, "active")
	}
	e := r.DescribeExisting(ctx, found, plan, plan.ImportKey(plan.target()), unchanged...)
	if isFalse(plan.Active) && !confirmed(found.VerificationState) { // the response does not contain the switch
		e.Changes = append(e.Changes, "active to false, so that the rule stays off when the recipient confirms")
	}
	r.AdoptOrRefuse(diags, plan.OnExisting, e)
}

// losses returns the losses of a planned change. A new rule counts, because people expect a rule for one
// address, and it forwards the mail of a whole scope.
func losses(_ context.Context, ch service.Change[model]) []service.Loss {
	switch ch.Fate {
	case service.Destroyed:
		l := ch.Ending("deletes", "the "+ch.Before.String(), service.Reach)
		l.Consequence = "Mail is no longer forwarded to " + ch.Before.TargetEmail.ValueString() + "."
		return []service.Loss{l}
	case service.Created, service.Replaced, service.Updated:
		if isFalse(ch.After.Active) || ch.Fate == service.Updated && ch.After.TargetEmail.Equal(ch.Before.TargetEmail) {
			return nil
		}
		return []service.Loss{forwardsAll(ch.After)}
	}
	return nil
}

// forwardsAll is the loss of a rule that begins to forward the mail of its scope.
func forwardsAll(plan model) service.Loss {
	target := "an address that is known after the apply"
	if !plan.TargetEmail.IsUnknown() {
		target = plan.target()
	}
	scope := plan.Label()
	if scope != (client.Scope{}).String() {
		scope = "the " + scope
	}
	switch {
	case plan.Domain.IsUnknown():
		scope = "its domain"
	case plan.WorkspaceID.IsUnknown():
		scope = "its workspace"
	}
	return service.Loss{
		Of: []service.Asset{service.Reach}, At: path.Root("target_email"), Does: "forwards all mail of " + scope + " to " + target,
		Consequence: "The target gets the mail of every address of " + scope + ", and not that of one mailbox. If it is an address of the account, that begins with the apply; otherwise when the recipient has confirmed.",
	}
}

// planUpdate plans an update in place.
func (r *Resource) planUpdate(ctx context.Context, req resource.ModifyPlanRequest, plan, state model, resp *resource.ModifyPlanResponse) {
	var active types.Bool
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("active"), &active)...)
	known := service.GetPrivate[switchState](ctx, req.Private, switchKey)
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
			plan.Active, touched = types.BoolValue(false), true // the API's value
		}
		if isFalse(active) && known.Imported && !state.confirmed() && !touched {
			warnUnknownSwitch(&resp.Diagnostics, state)
		}
		if state.released() {
			warnReleased(&resp.Diagnostics, state)
		}
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	service.DropEmptyUpdate(req, resp)
	if touched {
		r.warnNoSwitch(ctx, resp, state)
		// This makes the plan an update if nothing else differs.
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("updated_at"), types.StringUnknown())...)
	}
}

// warnReleased warns about a rule that stopped forwarding when its target was deleted.
// No plan repairs it, because the address of the verification message may belong to somebody
// else by now.
func warnReleased(diags *diag.Diagnostics, state model) {
	diags.AddAttributeWarning(path.Root("target_email"), "The "+state.String()+" forwards no mail",
		"The target "+state.target()+" is not confirmed, and no verification message was sent. A rule is in this state after its target was deleted, even if that was created again.\n\n"+
			"To forward mail there again, invoke the action mailhost_resend_forwarding_verification, or replace the rule with terraform apply -replace. "+
			"An address of the account then receives mail at once; any other address gets a verification message. Otherwise change target_email or remove the rule.")
}

func warnUnknownSwitch(diags *diag.Diagnostics, state model) {
	diags.AddAttributeWarning(path.Root("active"), "The "+state.String()+" is not switched off yet",
		"It was imported while its verification is pending, and the API does not return whether a pending rule is switched off. After the recipient has confirmed, the next apply switches it off.\n\n"+
			"If active = false comes from a generated configuration, remove it: without it, the rule is on as soon as the recipient has confirmed.")
}

func (r *Resource) warnNoSwitch(ctx context.Context, resp *resource.ModifyPlanResponse, state model) {
	if c := r.ClientIfOpen(ctx); c != nil && !c.Supports(ctx, api.SetForwardingActive.Spec, state.ID.ValueString()) {
		resp.Diagnostics.AddAttributeWarning(path.Root("active"), "The "+state.String()+" can't be switched on or off",
			"According to its responses, this API has no operation for that: the apply will fail. Leave active as it was.")
	}
}
