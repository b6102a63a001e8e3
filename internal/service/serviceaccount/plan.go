package serviceaccount

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	planExpiry(ctx, req, resp, func() time.Time { return r.serverNow(ctx) })
	service.SettlePlan(ctx, req, resp)
	r.refuseOwn(ctx, req, resp)
	r.announceRemains(ctx, req, resp)
	if !req.State.Raw.IsNull() || req.Plan.Raw.IsNull() {
		return
	}
	// A replacement is planned as a create too; only a create needs a future.
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if isGiven(plan.ExpiresAt.StringValue) && past(plan.ExpiresAt, r.serverNow(ctx)) {
		resp.Diagnostics.AddAttributeError(path.Root("expires_at"), "The service account would be born expired",
			fmt.Sprintf("expires_at is %s, which is over. Give a time in the future, or remove expires_at: then the token expires with the provider's own credential, or never.", plan.ExpiresAt.ValueString()))
	}
}

// remains is the service account where the API can't revoke it.
func (m model) remains(now time.Time) service.Remains {
	return service.Remains{
		Object: m.label(), ID: m.ID.ValueString(), Unread: true,
		Consequence: stillWorks(m, now),
	}
}

// announceRemains warns in a plan that gives the service account up, where the API can't
// revoke it.
func (r *Resource) announceRemains(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state, plan model
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	if !resp.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	}
	r.AnnounceRemains(ctx, req, resp, state.remains(r.serverNow(ctx)), api.RevokeServiceAccount.Spec, state.replacedBy(plan)...)
}

// stillWorks says what it means that a token can't be revoked.
func stillWorks(state model, now time.Time) string {
	switch {
	case past(state.ExpiresAt, now):
		return "Its token has expired and no longer works."
	case state.ExpiresAt.IsNull():
		return fmt.Sprintf("ITS TOKEN STILL WORKS, and it never expires: whoever has the token that ends in %s can use the account's API.", state.TokenLast4.ValueString())
	}
	return fmt.Sprintf("ITS TOKEN STILL WORKS until %s: whoever has the token that ends in %s can use the account's API.", state.ExpiresAt.ValueString(), state.TokenLast4.ValueString())
}

// refuseOwn refuses a plan that revokes the service account with whose token the
// provider authenticates: the run could not go on afterwards, nor could the next
// one. A plan does not see a replacement by -replace or of a tainted object, so
// Delete checks again.
func (r *Resource) refuseOwn(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state, plan model
	if req.State.Raw.IsNull() {
		return
	}
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if !resp.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	}
	if resp.Diagnostics.HasError() || !service.GivesUp(req, resp, state.replacedBy(plan)...) {
		return
	}
	if c := r.ClientForWarning(ctx); c != nil && state.authenticates(c) {
		addOwn(&resp.Diagnostics, state)
	}
}

// authenticates reports whether the client uses the service account's token.
func (m record) authenticates(c *client.Client) bool {
	return c.UsesServiceAccount(m.TokenPrefix.ValueString(), m.TokenPublicID.ValueString())
}

func addOwn(diags *diag.Diagnostics, state model) {
	diags.AddError(fmt.Sprintf("The %s is the provider's own credential", state.label()),
		fmt.Sprintf("The provider authenticates with the token of this service account, which ends in %s. Revoking it, to destroy or to replace it, would lock this run out and every later one. Nothing was revoked.\n\n"+
			"Give the provider another credential (MAILHOST_TOKEN, or token in the provider block), and run again. "+
			"To keep the service account and have Terraform forget it, use a removed block with destroy = false, or terraform state rm.", state.TokenLast4.ValueString()))
}
