package dnsrecord

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	service.DropEmptyUpdate(req, resp)
	r.WarnMissingDomain(ctx, req, resp)
	r.checkZone(ctx, req, resp)
	r.WarnOrphaned(ctx, req, resp, "domain", "name", "type")
	r.checkSecondPolicy(ctx, req, resp)
	r.warnNoUpdate(ctx, req, resp)
}

// warnNoUpdate warns in a plan that changes the record, if the API can't. It is no
// error, because the plan that replaces the record starts as a change too.
func (r *Resource) warnNoUpdate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model
	if req.State.Raw.IsNull() || resp.Plan.Raw.IsNull() || resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	replaced := !plan.Domain.Equal(state.Domain) || !plan.Name.Equal(state.Name) || !plan.Type.Equal(state.Type)
	if replaced || expandUpdate(plan, state) == (api.UpdateDNSRecordBody{}) {
		return
	}
	c := r.ClientForWarning(ctx)
	if c != nil && !c.Supports(ctx, api.UpdateDNSRecord.Spec, state.ID.ValueString()) {
		resp.Diagnostics.AddWarning("The "+state.String()+" can't be changed in place",
			"According to its responses, this API has no operation that changes a DNS record. Unless this plan replaces the record, the apply will fail with the steps that lead to the configured record.")
	}
}

// keepEqual is a plan modifier that keeps the prior spelling of a value that is the
// same for the prior record. Put it before RequiresReplace.
func keepEqual(same func(prior model, a, b string) bool) planmodifier.String {
	return service.KeepPrior(func(ctx context.Context, req planmodifier.StringRequest, a, b string) (bool, diag.Diagnostics) {
		var prior model
		diags := req.State.Get(ctx, &prior)
		return same(prior, a, b), diags
	})
}
