package dnsrecord

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// remains is the record where the API can't delete it.
func (m model) remains() service.Remains {
	return service.Remains{
		Object: m.String(), ID: m.ID.ValueString(), Unread: true,
		Consequence: "It is served as before, with the value " + shown(m.Value.ValueString()) + ".",
	}
}

// announceRemains warns in a plan that gives the record up, where the API can't
// delete it.
func (r *Resource) announceRemains(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state model
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	r.AnnounceRemains(ctx, req, resp, state.remains(), func(c *client.Client, ctx context.Context, id string) bool {
		number, err := parseID(id)
		return err != nil || c.DeletesDNSRecords(ctx, number)
	}, "domain", "name", "type")
}
