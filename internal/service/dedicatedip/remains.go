package dedicatedip

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

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
	return r.AnnounceRemains(ctx, req, resp, state.remains(), (*client.Client).ReleasesDedicatedIPs, replacing...)
}
