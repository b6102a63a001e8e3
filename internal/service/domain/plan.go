package domain

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// loss says what it means to give a domain up.
const loss = "The domain goes with its DNS records, its mail stops, and what was paid for it is not paid back; once the registration is given up, somebody else may take the name."

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model
	if !req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	}
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	switch {
	case resp.Diagnostics.HasError():
	case req.Plan.Raw.IsNull():
		if !r.announceRemains(ctx, req, resp) {
			service.AnnounceLoss(&resp.Diagnostics, "domain "+state.display(), loss)
		}
	case req.State.Raw.IsNull():
		r.planCreate(ctx, plan, &resp.Diagnostics)
	case !plan.Name.Equal(state.Name):
		service.AnnounceReplacement(&resp.Diagnostics, "domain "+state.display(),
			"A domain can't be renamed: another name means that another domain is bought and this one is deleted.", loss,
			service.StillUnknown(resp.Plan.Raw, req.State.Raw, "name")...)
		r.announceRemains(ctx, req, resp)
	default:
		planUpdate(ctx, plan, state, resp)
	}
	service.SettlePlan(ctx, req, resp)
}

// planCreate says in the plan already that a domain can't be bought. What can't
// be told now the create will tell.
func (r *Resource) planCreate(ctx context.Context, plan model, diags *diag.Diagnostics) {
	if plan.Name.IsUnknown() {
		return
	}
	unsold := domainname.Registrable(plan.canonicalName())
	if unsold == nil && !plan.ContactInfo.IsNull() {
		return
	}
	c := r.ClientForWarning(ctx)
	if c == nil {
		return
	}
	if _, err := c.GetDomain(ctx, plan.canonicalName()); !client.IsNotFound(err) {
		return // it is adopted, or the look failed
	}
	switch {
	case errors.Is(unsold, domainname.ErrNotRegistrable):
		addNotRegistrable(diags, plan, unsold)
		return
	case unsold != nil:
		addProbablyNotSold(diags, plan, unsold)
	}
	if plan.ContactInfo.IsNull() {
		addContactMissing(diags, plan)
	}
}

// planUpdate plans what the API changes by itself in an update.
func planUpdate(ctx context.Context, plan, state model, resp *resource.ModifyPlanResponse) {
	if !plan.sameSettings(state.record) {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("updated_at"), types.StringUnknown())...)
	}
	switch before, redirect := state.RedirectURL, plan.RedirectURL; {
	case redirect.IsUnknown(), before.IsNull() && !redirect.IsNull():
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("redirect_mode"), types.StringUnknown())...)
	case redirect.IsNull() && !before.IsNull():
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("redirect_mode"), types.StringNull())...)
	}
	if contact := plan.ContactInfo; !contact.IsNull() && !contact.IsUnknown() && !contact.Equal(state.ContactInfo) {
		resp.Diagnostics.AddAttributeWarning(path.Root("contact_info"), "contact_info of "+state.display()+" is only stored",
			"It is sent when a domain is bought. The account owns this one already, so the new value goes into Terraform's state and nothing changes at the registrar. "+
				"Change the registrant in the service's own control panel.")
	}
}
