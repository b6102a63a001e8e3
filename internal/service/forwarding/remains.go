package forwarding

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

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
	r.AnnounceRemains(ctx, req, resp, state.remains(), (*client.Client).DeletesForwarding)
}
