package dnsrecord

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	service.DropEmptyUpdate(req, resp)
	r.WarnMissingDomain(ctx, req, resp)
	r.checkZone(ctx, req, resp)
	r.WarnOrphaned(ctx, req, resp, r.ReplacedBy...)
	r.checkSecondPolicy(ctx, req, resp)
	r.planExisting(ctx, req, resp)
	r.warnNoUpdate(ctx, req, resp)
}

// listed is the key of a domain's list in the walk's notes.
type listed struct{ domain string }

// planExisting reports in the plan of a new record that an identical one exists.
func (r *Resource) planExisting(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan model
	if !req.State.Raw.IsNull() || resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	domain := plan.Domain.ValueString()
	c := r.ClientForWarning(ctx)
	if c == nil || plan.Domain.IsUnknown() || plan.Name.IsUnknown() || plan.Type.IsUnknown() || plan.Value.IsUnknown() || r.CreatesDomain(domain) {
		return
	}
	key := func(name, recordType string) string {
		if relative, err := dnsdata.NormalizeName(name, ZoneName(domain)); err == nil {
			name = relative
		}
		return name + " " + recordType
	}
	found := service.FindListed(ctx, r.Notes(), listed{domain}, c.ListDNSRecords(ctx, api.ListDNSRecordsRequest{Domain: domain}),
		func(found *api.DNSRecord) string { return key(found.Name, found.Type) }, key(plan.Name.ValueString(), plan.Type.ValueString()), plan.isSame)
	if found == nil {
		return
	}
	e := service.Existing{Label: plan.String(), Type: "mailhost_dns_record", ID: strconv.FormatInt(found.ID, 10), ImportKey: plan.importID()}
	if !plan.TTL.IsUnknown() {
		e.Changes = service.Change("ttl", found.TTL, plan.TTL.ValueInt64())
	}
	r.PlanExisting(&resp.Diagnostics, plan.OnExisting, e)
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

// known returns what the configuration of a new record decides. Only the API itself creates
// system-managed records.
func known(of service.Attributes, _ string) map[string]attr.Value {
	values := map[string]attr.Value{"is_system_managed": types.BoolValue(false)}
	if domain := of.DomainName(); domain != "" {
		values["domain_name"] = types.StringValue(domain)
		if name := of.Text("name"); name != "" {
			values["fqdn"] = types.StringValue(fqdn(name, domain))
		}
	}
	return values
}
