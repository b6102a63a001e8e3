package dnsrecord

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	service.SettlePlan(ctx, req, resp)
	r.announceRemains(ctx, req, resp)
	r.checkSecondPolicy(ctx, req, resp)
	r.warnOfNoUpdate(ctx, req, resp)
}

// warnOfNoUpdate warns in a plan that changes the record, where the API can't. It
// is no error: the way out is a plan that replaces the record, and Terraform begins
// that one as a change.
func (r *Resource) warnOfNoUpdate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model
	if req.State.Raw.IsNull() || resp.Plan.Raw.IsNull() || resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	replaced := !plan.Domain.Equal(state.Domain) || !plan.Name.Equal(state.Name) || !plan.Type.Equal(state.Type)
	if replaced || changes(plan, state) == (api.UpdateDNSRecordBody{}) {
		return
	}
	c := r.ClientForWarning(ctx)
	if c != nil && !c.Supports(ctx, api.UpdateDNSRecord.Spec, state.ID.ValueString()) {
		resp.Diagnostics.AddWarning("The "+state.String()+" can't be changed in place",
			"As far as this API's answers tell, it has no operation that changes a DNS record. Unless this plan replaces the record, the apply will fail at it, and say how to get the record that the configuration describes.")
	}
}

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
	r.AnnounceRemains(ctx, req, resp, state.remains(), api.DeleteDNSRecord.Spec, "domain", "name", "type")
}

// keep plans to keep the prior spelling of a value that is the same in the prior
// record. Put it before RequiresReplace.
func keep(same func(prior model, a, b string) bool) planmodifier.String { return keepSpelling{same} }

type keepSpelling struct {
	same func(prior model, a, b string) bool
}

// Description implements planmodifier.Describer.
func (keepSpelling) Description(context.Context) string {
	return "keeps the prior spelling of an equal value"
}

// MarkdownDescription implements planmodifier.Describer.
func (k keepSpelling) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

// PlanModifyString implements planmodifier.String.
func (k keepSpelling) PlanModifyString(ctx context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if req.StateValue.IsNull() || req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	var prior model
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	if k.same(prior, req.StateValue.ValueString(), req.ConfigValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}
