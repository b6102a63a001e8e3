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
	service.DropEmptyUpdate(req, resp)
	var plan, state model
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	if !resp.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	}
	replacing := state.replacedBy(plan)
	r.refuseOwn(ctx, req, resp, state, replacing)
	if !r.WarnOrphaned(ctx, req, resp, replacing...) && !resp.Diagnostics.HasError() {
		warnRevoked(req, resp, plan, state)
	}
	if !resp.Plan.Raw.IsNull() && (req.State.Raw.IsNull() || !plan.Permissions.Equal(state.Permissions)) {
		r.checkRights(ctx, plan, &resp.Diagnostics)
	}
	if !req.State.Raw.IsNull() || req.Plan.Raw.IsNull() {
		return
	}
	r.warnSameName(ctx, plan, &resp.Diagnostics)
	// A replacement is planned as a create too.
	if isSet(plan.ExpiresAt.StringValue) && past(plan.ExpiresAt, r.serverNow(ctx)) {
		resp.Diagnostics.AddAttributeError(path.Root("expires_at"), "The service account would be expired when it is created",
			fmt.Sprintf("expires_at is %s, which is in the past. Set a time in the future, or remove expires_at: then the token expires with the provider's own credential, or never.", plan.ExpiresAt.ValueString()))
	}
}

// listed is the key of the account's list in the walk's notes.
type listed struct{}

// warnSameName warns in the plan of a new service account that an active one of its name
// exists and is not in the state, for instance after an apply that was killed: names are not
// unique, so that nothing else shows that its token is left over.
func (r *Resource) warnSameName(ctx context.Context, plan model, diags *diag.Diagnostics) {
	c := r.ClientForWarning(ctx)
	if c == nil || plan.Name.IsUnknown() {
		return
	}
	found := service.FindListed(ctx, r.Notes(), listed{}, c.ListServiceAccounts(ctx),
		func(a *api.ServiceAccount) string { return a.Name }, plan.Name.ValueString(), func(a *api.ServiceAccount) bool {
			return a.RevokedAt == nil && !r.Walk().IsInState(service.Object{Type: "mailhost_service_account", ID: a.ID})
		})
	if found != nil {
		diags.AddAttributeWarning(path.Root("name"), fmt.Sprintf("An active %s exists that the state does not have", plan.String()),
			fmt.Sprintf("Its id is %s, it was created at %s, and its token ends in %s. The apply creates another one with the same name.\n\n"+
				"If an earlier apply has created it and lost it, revoke it: nobody may have its token, but whoever has can use it.", found.ID, found.CreatedAt, found.TokenLast4))
	}
}

// warnRevoked warns in a plan that destroys the service account, or replaces it because of
// another name: a rotation is meant to end a token.
func warnRevoked(req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, plan, state model) {
	does := "replaces"
	switch {
	case req.State.Raw.IsNull(), !resp.Plan.Raw.IsNull() && plan.Name.Equal(state.Name):
		return
	case resp.Plan.Raw.IsNull():
		does = "revokes"
	}
	resp.Diagnostics.AddWarning("The plan "+does+" the "+state.String(),
		fmt.Sprintf("Its token, which ends in %s, stops working with the apply. Give those who use it another one before.", state.TokenLast4.ValueString()))
}

// stillWorks describes the consequence of a token that can't be revoked.
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
// provider authenticates, because neither this run nor a later one could continue. A
// plan does not see a replacement by -replace or of a tainted object, so Delete checks
// again.
func (r *Resource) refuseOwn(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, state model, replacing []string) {
	if resp.Diagnostics.HasError() || !service.DestroysOrReplaces(req, resp, replacing...) {
		return
	}
	if c := r.ClientForWarning(ctx); c != nil && state.authenticates(c) {
		addOwn(&resp.Diagnostics, state)
	}
}

// authenticates reports whether the client uses the service account's token.
func (m model) authenticates(c *client.Client) bool {
	return c.UsesServiceAccount(m.TokenPrefix.ValueString(), m.TokenPublicID.ValueString())
}

func addOwn(diags *diag.Diagnostics, state model) {
	diags.AddError(fmt.Sprintf("The %s is the provider's own credential", state.String()),
		fmt.Sprintf("The provider authenticates with the token of this service account, which ends in %s. Revoking it, to destroy or to replace it, would lock out this run and every later one. Nothing was revoked.\n\n"+
			"Set another credential for the provider (MAILHOST_TOKEN, or token in the provider block), and run again. "+
			"To keep the service account and only remove it from the state, use a removed block with destroy = false, or terraform state rm.", state.TokenLast4.ValueString()))
}
