package masterpassword

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/path"
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
// can't delete it. Another one of the same name and scope can't be made then.
func (r *Resource) announceRemains(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state model
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	remains := r.AnnounceRemains(ctx, req, resp, state.remains(), (*client.Client).DeletesMasterPasswords)
	if !remains || resp.Plan.Raw.IsNull() {
		return
	}
	var plan model
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	if plan.Name.Equal(state.Name) && plan.Domain.Equal(state.Domain) && plan.WorkspaceID.Equal(state.WorkspaceID) {
		resp.Diagnostics.AddAttributeError(path.Root("name"), "Another secret needs another name here",
			fmt.Sprintf("The %s can't be deleted, and keeps its name; one with the new secret can't have the same name in the same scope. Give another name together with the new secret, and remove the old master password in the service's own control panel.", state.label()))
	}
}
