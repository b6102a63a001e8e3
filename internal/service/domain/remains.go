package domain

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// remains is the domain where the API can't delete it.
func (m model) remains() service.Remains {
	return service.Remains{
		Object: "domain " + m.display(), ID: m.ID.ValueString(),
		Consequence: goesOn(m),
	}
}

// announceRemains warns in a plan that gives the domain up, where the API can't
// delete it, and reports whether it did.
func (r *Resource) announceRemains(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) bool {
	var state model
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	return r.AnnounceRemains(ctx, req, resp, state.remains(), (*client.Client).DeletesDomains, "name")
}
