package serviceaccount

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

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
	r.AnnounceRemains(ctx, req, resp, state.remains(r.serverNow(ctx)), (*client.Client).RevokesServiceAccounts, state.replacedBy(plan)...)
}
