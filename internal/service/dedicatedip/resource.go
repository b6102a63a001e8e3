package dedicatedip

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

type Resource struct {
	service.Resource[api.DedicatedIP, model]
}

func NewResource() resource.Resource {
	return service.Chain(&Resource{service.Resource[api.DedicatedIP, model]{Definition: Definition}})
}

// releaseConsequence describes the loss of a released address.
const releaseConsequence = "The address is released together with the reputation that it has earned, and can't be claimed again; mail is then sent from other addresses."

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case req.State.Raw.IsNull():
		r.requireOption(ctx, req, resp)
		r.warnClaim(ctx, plan, &resp.Diagnostics)
	case req.Plan.Raw.IsNull():
	// The option of an imported address is unknown, and an unknown planned option may be the same.
	case !state.OptionID.IsNull() && !plan.OptionID.IsUnknown() && !plan.OptionID.Equal(state.OptionID):
		resp.RequiresReplace.Append(path.Root("option_id"))
	}
}

// losses returns the losses of a planned change.
func losses(_ context.Context, ch service.Change[model]) []service.Loss {
	switch ch.Fate {
	case service.Destroyed, service.Replaced:
		l := ch.Ending("releases", "the "+ch.Before.String(), service.Money)
		if l.Consequence = releaseConsequence; ch.Fate == service.Replaced {
			l.Because = "Another option_id claims another address and releases this one."
		}
		return []service.Loss{l}
	}
	return nil
}

// requireOption adds an error to the plan of a create without an option. Create checks an option
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
	c, country := r.ClientIfOpen(ctx), ""
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

// warnUnassigned warns in the plan of a claim about an unused address in the option's country that
// may be missing from the state, for example after a killed apply. It reports whether there is one.
// It compares countries, because the API does not return the option of an address.
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
		diags.AddAttributeWarning(path.Root("option_id"), "The account has the unassigned dedicated IP "+found.Name+", which the state may not have",
			"The apply claims and pays for another one. No domain uses the existing one, whose id is "+found.ID+". Unless a resource has it (an apply, and a plan with -target, do not see the whole state), an earlier apply may have claimed it and lost it. Use it instead then:\n\n"+
				report.ImportAdvice("mailhost_dedicated_ip", found.ID))
	}
	return found != nil
}

func (r *Resource) Create(ctx context.Context, c *client.Client, plan model, req resource.CreateRequest, resp *resource.CreateResponse) {
	if plan.OptionID.ValueString() == "" {
		addOptionMissing(ctx, c, &resp.Diagnostics)
		return
	}
	claimed, err := c.ClaimDedicatedIP(ctx, plan.OptionID.ValueString())
	if err != nil {
		addClaimError(ctx, c, &resp.Diagnostics, err, plan.OptionID.ValueString())
		return
	}
	// The address is charged from here on: its id goes into the state in any case.
	ready := r.AwaitReady(ctx, c, claimed, "dedicated IP "+claimed.Name, vocab.DedicatedIPProvisioning, func(d *api.DedicatedIP) string { return d.Status }, &resp.Diagnostics)
	r.SetModel(ctx, c.Domains.Get, &plan, ready)
	r.SetCreated(ctx, resp, c, &plan)
}

const maxOptions = 10

func addClaimError(ctx context.Context, c *client.Client, diags *diag.Diagnostics, err error, optionID string) {
	summary := "Can't claim a dedicated IP from the option " + optionID
	_, unknown := errors.AsType[*client.UnknownOutcomeError](err)
	switch {
	case unknown:
		report.ErrorWithAdvice(diags, err, summary, nil,
			"Check the account for an address that is in no Terraform state, and import it by its id or IP: otherwise you pay for it unused. If there is none, nothing was claimed: run apply again.")
	case client.IsConflict(err):
		var exhausted diag.Diagnostics
		report.ErrorWithAdvice(&exhausted, err, summary, nil, "Nothing was claimed. If the option is exhausted: "+optionAdvice(ctx, c))
		for _, d := range exhausted {
			diags.Append(diag.WithPath(path.Root("option_id"), d))
		}
	case len(client.ProblemsAt(err, "body", "option_id")) > 0:
		report.ErrorWithAdvice(diags, err, summary, report.Fields{}, optionAdvice(ctx, c))
	default:
		report.Error(diags, report.WithTimeoutAdvice(ctx, err), summary, report.Fields{})
	}
}

func addOptionMissing(ctx context.Context, c *client.Client, diags *diag.Diagnostics) {
	diags.AddAttributeError(path.Root("option_id"), "option_id is missing to claim a dedicated IP",
		"No address is in the state, so this resource has to claim one, and a claim needs an option.\n\n"+
			optionAdvice(ctx, c)+" If the account has the address already, import it: an import needs no option_id.")
}

// optionAdvice lists the options to choose from, or explains where to find them if the
// API can't list them.
func optionAdvice(ctx context.Context, c *client.Client) string {
	var left []string
	for o, err := range c.ListDedicatedIPOptions(ctx) {
		switch {
		case err != nil:
			return "Set option_id to an option that has addresses left; the service's own control panel shows them."
		case o.Available > 0 && len(left) < maxOptions:
			left = append(left, fmt.Sprintf("%s (%s, %s, %d left)", o.ID, o.Name, o.CountryCode, o.Available))
		}
	}
	if len(left) == 0 {
		return "No option has addresses left: release a dedicated IP that you no longer need, or try again later."
	}
	return "Set option_id to an option that has addresses left: " + strings.Join(left, "; ") + "."
}
