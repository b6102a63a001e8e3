package serviceaccount

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

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
