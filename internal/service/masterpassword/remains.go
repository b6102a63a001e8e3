package masterpassword

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// remains is the master password where the API can't delete it.
func (m model) remains() service.Remains {
	return service.Remains{
		Object: m.label(), ID: m.ID.ValueString(),
		Consequence: fmt.Sprintf("THE PASSWORD STILL WORKS: whoever knows it can use every mailbox of %s. Its name stays taken there; to create another one, choose another name.", m.Client()),
	}
}

// announceRemains warns in a plan that gives the master password up, where the API
// can't delete it.
func (r *Resource) announceRemains(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state model
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	r.AnnounceRemains(ctx, req, resp, state.remains(), func(ctx context.Context, c *client.Client) bool {
		return c.DeletesMasterPasswords(ctx, state.ID.ValueString())
	})
}
