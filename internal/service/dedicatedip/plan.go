package dedicatedip

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// releaseConsequence describes the loss of a released address.
const releaseConsequence = "The address is released together with the reputation that it has earned, and can't be claimed again; mail is then sent from other addresses."

func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	plan, state, ok := r.Models(ctx, req, resp)
	switch {
	case !ok:
	case req.State.Raw.IsNull():
		r.requireOption(ctx, req, resp)
		r.warnClaim(ctx, plan, &resp.Diagnostics)
	case req.Plan.Raw.IsNull():
		if !r.WarnOrphaned(ctx, req, resp) {
			service.WarnDestroy(&resp.Diagnostics, state.String(), releaseConsequence)
		}
	case !state.OptionID.IsNull() && !plan.OptionID.IsUnknown() && !plan.OptionID.Equal(state.OptionID): // null after an import
		service.WarnReplace(&resp.Diagnostics, state.String(), "Another option_id claims another address and releases this one.", releaseConsequence)
		r.WarnOrphaned(ctx, req, resp, "option_id")
	}
}

// requireOption adds an error to the plan of a create without an option. Create checks one that is
// unknown in the plan.
func (r *Resource) requireOption(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var optionID customtype.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("option_id"), &optionID)...)
	if !optionID.IsNull() || resp.Diagnostics.HasError() {
		return
	}
	if c := r.Client(ctx, &resp.Diagnostics); c != nil {
		addOptionMissing(ctx, c, &resp.Diagnostics)
	}
}

// warnClaim warns in the plan of a claim, which costs money.
func (r *Resource) warnClaim(ctx context.Context, plan model, diags *diag.Diagnostics) {
	if diags.HasError() {
		return
	}
	option := "the option " + plan.OptionID.ValueString()
	c, country := r.ClientForWarning(ctx), ""
	switch {
	case plan.OptionID.IsUnknown():
		option = "an option that is known after the apply"
	case c != nil:
		for o, err := range c.ListDedicatedIPOptions(ctx) {
			if err == nil && customtype.UUID.Same(o.ID, plan.OptionID.ValueString()) {
				option, country = "the option "+o.Name, o.CountryCode
			}
		}
		if r.warnUnassigned(ctx, c, country, diags) {
			return
		}
	}
	diags.AddAttributeWarning(path.Root("option_id"), "The plan claims and pays for a dedicated IP of "+option,
		"The API does not return the price before the claim. If the address is released later, it can't be claimed again.")
}

// warnUnassigned warns in the plan of a claim that the account has an address of the option's
// country that no domain uses and the state does not have, for instance after an apply that
// was killed, and reports whether it has. The API does not return the option of an address.
func (r *Resource) warnUnassigned(ctx context.Context, c *client.Client, country string, diags *diag.Diagnostics) bool {
	isAssigned := map[string]bool{}
	for d, err := range c.ListDomains(ctx, api.ListDomainsRequest{}) {
		if err != nil {
			return false
		}
		if d.DedicatedIPID != nil {
			isAssigned[*d.DedicatedIPID] = true
		}
	}
	found := service.FindListed(r.Notes(), "", c.ListDedicatedIPs(ctx, api.ListDedicatedIPsRequest{}),
		func(*api.DedicatedIP) string { return "" }, "", func(ip *api.DedicatedIP) bool {
			o := session.Object{Type: "mailhost_dedicated_ip", ID: ip.ID}
			return !isAssigned[ip.ID] && ip.Status != vocab.DedicatedIPReleasing && (country == "" || ip.CountryCode == nil || *ip.CountryCode == country) &&
				!r.Walk().IsInState(o) && !r.Walk().IsGone(o)
		})
	if found != nil {
		diags.AddAttributeWarning(path.Root("option_id"), "The account has the unassigned dedicated IP "+found.Name+", which the state does not have",
			"The apply claims and pays for another one. No domain uses the existing one, whose id is "+found.ID+". If an earlier apply has claimed it and lost it, use it instead:\n\n"+
				service.ImportAdvice("mailhost_dedicated_ip", found.ID))
	}
	return found != nil
}
