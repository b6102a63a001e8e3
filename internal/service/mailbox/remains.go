package mailbox

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// remains is the mailbox where the API can't delete it.
func (m model) remains() service.Remains {
	return service.Remains{
		Object: "mailbox " + m.address(), ID: m.ID.ValueString(),
		Consequence: "It keeps receiving mail, and it is still paid for.",
	}
}

// announceRemains warns in a plan that gives the mailbox up, where the API can't
// delete it.
func (r *Resource) announceRemains(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state model
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	r.AnnounceRemains(ctx, req, resp, state.remains(), func(ctx context.Context, c *client.Client) bool {
		return c.DeletesMailboxes(ctx, state.ID.ValueString())
	}, "domain", "local_part")
}
