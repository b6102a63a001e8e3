package dedicatedip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

type Resource struct {
	service.Resource[api.DedicatedIP, model]
}

func NewResource() resource.Resource {
	return service.Chain(&Resource{service.Resource[api.DedicatedIP, model]{Definition: Definition}})
}

// releaseConsequence describes the loss of a released address.
const releaseConsequence = "The address is released together with the reputation that it has earned, and can't be claimed again; mail is then sent from other addresses."

// Create claims an address, or adopts one if the plan does.
func (r *Resource) Create(ctx context.Context, c *client.Client, plan model, req resource.CreateRequest, resp *resource.CreateResponse) {
	if plan.Acquisition.ValueString() == acquisitionAdopt {
		r.adopt(ctx, c, plan, resp)
		return
	}
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
	ready := r.awaitReady(ctx, c, claimed, &resp.Diagnostics)
	r.SetModel(ctx, c.Domains.Get, &plan, ready)
	plan.Acquisition = types.StringValue(acquisitionPurchase)
	r.SetCreated(ctx, resp, c, &plan)
}

func (r *Resource) awaitReady(ctx context.Context, c *client.Client, ip *api.DedicatedIP, diags *diag.Diagnostics) *api.DedicatedIP {
	return r.AwaitReady(ctx, c, ip, "dedicated IP "+ip.Name, vocab.DedicatedIPProvisioning, func(d *api.DedicatedIP) string { return d.Status }, diags)
}

// adopt puts the planned address into the state, or the next one that the walk's plans adopt. It claims nothing.
func (r *Resource) adopt(ctx context.Context, c *client.Client, plan model, resp *resource.CreateResponse) {
	id := plan.ID.ValueString()
	if id == "" {
		id = r.nextAdopted(ctx, c, plan)
	}
	found, err := c.DedicatedIPs.Get(ctx, id)
	if err == nil && found.Status == vocab.DedicatedIPReleasing {
		err = fmt.Errorf("its status is %s", found.Status)
	}
	if err != nil {
		report.ErrorWithAdvice(&resp.Diagnostics, err, "Can't adopt the dedicated IP "+cmp.Or(plan.Name.ValueString(), id), nil,
			"Nothing was claimed or changed. Plan again: the new plan shows what the account has by now.")
		return
	}
	ready := r.awaitReady(ctx, c, found, &resp.Diagnostics)
	r.SetModel(ctx, c.Domains.Get, &plan, ready)
	r.SetCreated(ctx, resp, c, &plan)
}

// nextAdopted returns the id of the oldest unused address that no create of this walk has taken yet, or "".
func (r *Resource) nextAdopted(ctx context.Context, c *client.Client, plan model) string {
	type taken struct{ id string }
	unused, _ := unusedOf(ctx, r.Session, c, plan.OptionID.ValueString()) // empty after an error
	for _, ip := range unused {
		if _, isTaken := r.Notes().LoadOrStore(taken{ip.ID}, true); !isTaken {
			return ip.ID
		}
	}
	return ""
}

// ImportState imports by UUID, name, address, or identity. An imported address counts as adopted.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Resource.ImportState(ctx, req, resp)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("acquisition"), acquisitionAdopt)...)
	}
}

// Delete does not release a tainted address that the same apply would replace. A plan can't detect that: core
// plans the create of the successor alone.
func (r *Resource) Delete(ctx context.Context, c *client.Client, state model, req resource.DeleteRequest, resp *resource.DeleteResponse) error {
	id, s := state.ID.ValueString(), service.GetPrivate[*successor](ctx, req.Private, successorKey)
	// After an error, core keeps the private state of the plan in the state.
	resp.Diagnostics.Append(service.SetPrivate(ctx, resp.Private, successorKey, nil)...)
	if s != nil && !strings.EqualFold(s.Replaces, id) {
		resp.Diagnostics.AddError("The "+state.String()+" was not released",
			"It is tainted in Terraform's state, so the apply would release it and claim another one. A released address can't be claimed again. Nothing was released or claimed. Its id is "+id+".\n\n"+
				"To keep it, run terraform untaint with its address. To release it and claim another one, use two applies: remove the resource, apply, and add it again.")
		return nil
	}
	return r.Resource.Delete(ctx, c, state, req, resp)
}

const maxOptions = 10

func addClaimError(ctx context.Context, c *client.Client, diags *diag.Diagnostics, err error, optionID string) {
	summary := "Can't claim a dedicated IP from the option " + optionID
	_, unknown := errors.AsType[*client.UnknownOutcomeError](err)
	switch {
	case unknown:
		report.ErrorWithAdvice(diags, err, summary, nil,
			"Check the account for an address that is in no Terraform state, and import it by its id or IP: otherwise you pay for it unused. If there is still none after some minutes, nothing was claimed: run apply again.")
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
