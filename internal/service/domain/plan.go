package domain

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
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
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("acquisition"), r.planCreate(ctx, req, plan, &resp.Diagnostics))...)
	case !plan.Name.Equal(state.Name):
		service.AnnounceReplacement(&resp.Diagnostics, "domain "+state.display(),
			"A domain can't be renamed: another name means that another domain is bought or adopted, and this one is deleted.", loss,
			service.StillUnknown(resp.Plan.Raw, req.State.Raw, "name")...)
		r.announceRemains(ctx, req, resp)
		r.planCreate(ctx, req, plan, &resp.Diagnostics) // core drops the warnings of the replacement's second plan
	default:
		planUpdate(ctx, plan, state, resp)
	}
	service.SettlePlan(ctx, req, resp)
}

// planCreate returns the acquisition of a domain that is to be created, with an
// error if neither is possible, and a warning about what it will cost or change. It
// is unknown where the plan doesn't know the name, or can't read the account's
// domains.
//
// Core plans once more in the apply, with nothing of what the first plan returned,
// and fails with an "inconsistent final plan" if the result differs. So the
// acquisition must depend on what the account owns alone, and only another run that
// buys or deletes the domain in between changes it: nothing is bought then. A domain
// of the state that would be replaced by itself, whose own replacement changes it,
// is an error.
func (r *Resource) planCreate(ctx context.Context, req resource.ModifyPlanRequest, plan model, diags *diag.Diagnostics) types.String {
	c := r.ClientForWarning(ctx)
	if plan.Name.IsUnknown() || c == nil {
		return types.StringUnknown()
	}
	owned, err := c.GetDomain(ctx, plan.canonicalName())
	switch {
	case client.IsNotFound(err) && r.deletedUnseen(plan):
		return types.StringValue(adoption) // as the first plan said; the create fails
	case client.IsNotFound(err):
		r.planPurchase(ctx, c, plan, diags)
		return types.StringValue(purchased)
	case err != nil:
		return types.StringUnknown() // the create finds out, or fails
	}
	inState := r.Walk().InState(typeName, owned.ID)
	switch {
	case inState && owned.Status == vocab.DomainFailed && req.State.Raw.IsNull():
		addPurchase(diags, plan, "The registry did not register it the first time, so the failed domain is deleted first. ", r.offer(ctx, c, plan))
		return types.StringValue(purchased)
	case inState:
		addInState(diags, plan, owned.ID)
	case owned.Status == vocab.DomainFailed:
		addFailed(diags, plan, false)
	case plan.OnExisting.ValueString() == refusal:
		addExists(diags, plan, owned.ID)
	default:
		if conflict := r.Walk().PlanAdoption(typeName, owned.ID); conflict != 0 {
			service.AddShared(diags, "domain "+plan.display(), owned.ID, conflict)
			break
		}
		addAdoption(diags, plan, *owned)
	}
	return types.StringValue(adoption)
}

// deletedUnseen reports whether this apply deleted the domain as a tainted one that
// its plan did not see, because of -refresh=false, and so took for one to adopt: a
// plan that sees it allows only the replacement of a failed one.
func (r *Resource) deletedUnseen(plan model) bool {
	status, deleted := r.Walk().WasDeleted(typeName, plan.canonicalName())
	return deleted && status != vocab.DomainFailed
}

// planPurchase adds an error to the plan if the domain can't be bought, and
// otherwise a warning with the price.
func (r *Resource) planPurchase(ctx context.Context, c *client.Client, plan model, diags *diag.Diagnostics) {
	unsold := domainname.Registrable(plan.canonicalName())
	if errors.Is(unsold, domainname.ErrNotRegistrable) {
		addNotRegistrable(diags, plan, unsold)
		return
	}
	offer := r.offer(ctx, c, plan)
	switch {
	case offer != nil && !offer.Available:
		addNotForSale(diags, plan, offer)
		return
	case unsold != nil && offer == nil:
		addProbablyNotSold(diags, plan, unsold)
	}
	if plan.ContactInfo.IsNull() {
		addContactMissing(diags, plan)
		return
	}
	because := ""
	if r.Walk().WasGone(typeName, plan.canonicalName()) {
		because = "It was in the state, but the account no longer has it: it was deleted outside Terraform, or its registration ended. "
	}
	addPurchase(diags, plan, because, offer)
}

// offer returns whether the domain can be bought and its price, or nil where this
// API has no operation for that or does not let the credential use it.
func (r *Resource) offer(ctx context.Context, c *client.Client, plan model) *api.DomainAvailability {
	offer, err := c.DomainAvailability(ctx, plan.canonicalName())
	if err != nil || offer.ErrorCode != nil && *offer.ErrorCode == api.PurchaseAlreadyOwned {
		return nil
	}
	return offer
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
	return r.AnnounceRemains(ctx, req, resp, state.remains(), api.DeleteDomain.Spec, "name")
}

// remains says what it means that a domain stays.
func goesOn(state model) string {
	if state.AutoRenew.ValueBool() {
		return "It keeps receiving mail and answering DNS queries, and as auto_renew is on, its registration renews itself and is paid for again."
	}
	return "It keeps receiving mail and answering DNS queries until its registration ends."
}
