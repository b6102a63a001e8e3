package dnsrecord

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		r.checkZone(state, true, &resp.Diagnostics)
		return
	}
	r.checkZone(plan, false, &resp.Diagnostics)
	switch {
	case resp.Diagnostics.HasError(), service.DestroysOrReplaces(resp): // a replacement is planned again as a create
	case req.State.Raw.IsNull():
		r.checkSecondPolicy(ctx, plan, &resp.Diagnostics)
		r.planExisting(ctx, plan, &resp.Diagnostics)
	default:
		if !plan.Value.Equal(state.Value) {
			r.checkSecondPolicy(ctx, plan, &resp.Diagnostics)
		}
		r.warnNoUpdate(ctx, plan, state, &resp.Diagnostics)
	}
}

// losses returns the losses of a planned change.
func losses(_ context.Context, ch service.Change[model]) []service.Loss {
	switch ch.Fate {
	case service.Destroyed, service.Replaced:
		l := ch.Ending("deletes", "the "+ch.Before.String(), service.DNS)
		l.Consequence = "The name can't be resolved any more with the value " + shortened(ch.Before.Value.ValueString()) + "."
		return []service.Loss{l}
	}
	return nil
}

// planExisting reports in the plan of a new record an existing identical record.
func (r *Resource) planExisting(ctx context.Context, plan model, diags *diag.Diagnostics) {
	domain := plan.Domain.ValueString()
	c := r.ClientIfOpen(ctx)
	if c == nil || diags.HasError() || plan.Domain.IsUnknown() || r.CreatesDomain(domain) {
		return
	}
	key := func(name, recordType string) string {
		if relative, err := dnsdata.NormalizeName(name, attribute.DomainName(domain)); err == nil {
			name = relative
		}
		return name + " " + recordType
	}
	found := service.FindListed(r.Notes(), domain, c.ListDNSRecords(ctx, api.ListDNSRecordsRequest{Domain: domain}),
		func(found *api.DNSRecord) string { return key(found.Name, found.Type) }, key(plan.Name.ValueString(), plan.Type.ValueString()), plan.isSame)
	if found == nil {
		return
	}
	unchanged := []string{"value", "priority"} // they mean the same
	if plan.TTL.IsUnknown() {
		unchanged = append(unchanged, "ttl")
	}
	r.AdoptOrRefuse(diags, plan.OnExisting, r.DescribeExisting(ctx, &located{DNSRecord: *found}, plan, plan.importID(), unchanged...))
}

// warnNoUpdate warns in a plan that changes the record, if the API can't. It adds no error,
// because the plan of a replacement also starts as a change.
func (r *Resource) warnNoUpdate(ctx context.Context, plan, state model, diags *diag.Diagnostics) {
	c := r.ClientIfOpen(ctx)
	if c == nil || diags.HasError() || expandUpdate(plan, state) == (api.UpdateDNSRecordBody{}) || c.Supports(ctx, api.UpdateDNSRecord.Spec, state.ID.ValueString()) {
		return
	}
	diags.AddWarning("The "+state.String()+" can't be changed in place",
		"According to its responses, this API has no operation that changes a DNS record. Unless this plan replaces the record, the apply will fail with the steps that lead to the configured record.")
}

// plannedValues returns the computed values of a new record that follow from its configuration. Only
// the API itself creates system-managed records.
func plannedValues(of attribute.Raw, _ string) map[string]attr.Value {
	values := map[string]attr.Value{"is_system_managed": types.BoolValue(false)}
	if domain := of.DomainName(); domain != "" {
		values["domain_name"] = types.StringValue(domain)
		if name := of.Text("name"); name != "" {
			values["fqdn"] = types.StringValue(fqdn(name, domain))
		}
	}
	return values
}

// ZoneAdvice explains how to give each record one resource.
const ZoneAdvice = "A mailhost_dns_zone has all records of its domain except those that ignore matches, and removes the others.\n\n" +
	"- To keep the record in the zone, put it into the zone's records, and remove the mailhost_dns_record from the configuration and, with a removed block with lifecycle { destroy = false }, from the state.\n" +
	"- To keep the mailhost_dns_record, add the record's name and type to the zone's ignore."

// checkZone adds an error if the same plan contains a mailhost_dns_zone for the record.
func (r *Resource) checkZone(m model, isDestroyed bool, diags *diag.Diagnostics) {
	if diags.HasError() || m.Name.IsUnknown() || m.Type.IsUnknown() {
		return
	}
	ref := m.Domain.ValueString()
	in := session.Domain{ID: cmp.Or(m.DomainID.ValueString(), ref), Name: cmp.Or(m.DomainName.ValueString(), attribute.DomainName(ref))}
	if r.Walk().PlanRecord(session.PlannedRecord{Domain: in, Name: m.Name.ValueString(), Type: m.Type.ValueString(), IsDestroyed: isDestroyed}) {
		diags.AddError("A DNS zone has the "+m.String()+" too",
			fmt.Sprintf("A mailhost_dns_zone of the same configuration manages the DNS records of %s. If this were applied, one of the two would change or delete what the other one manages. Nothing was changed.\n\n%s", m.naturalKey().domain, ZoneAdvice))
	}
}

// twoPolicies describes the effect of two policies of a purpose at one name.
var twoPolicies = map[dnsdata.Purpose]string{
	dnsdata.PurposeSPF:   "the check ends in permerror (RFC 7208, section 4.5), and mail may be refused",
	dnsdata.PurposeDMARC: "mail is treated as if there were none (RFC 9989)",
}

// checkSecondPolicy reports in a plan an existing policy of the same purpose at the name. It adds an
// error, because the API will refuse the second policy, but only a warning if the existing record may
// be in the state, because the same plan may replace or delete it. A system-managed policy yields to
// the new one. Nothing is reported if the API can't list records.
func (r *Resource) checkSecondPolicy(ctx context.Context, plan model, diags *diag.Diagnostics) {
	key := plan.naturalKey()
	purpose := dnsdata.PurposeOf(key.recordType, key.value)
	isKey := key.recordType == dnsdata.TypeTXT && strings.Contains(strings.ToLower(key.name), "._domainkey")
	c := r.ClientIfOpen(ctx)
	if c == nil || plan.Domain.IsUnknown() || plan.Name.IsUnknown() || !purpose.Single() && !isKey {
		return
	}
	found, err := c.FindDNSRecords(ctx, key.domain, key.recordType, key.name, "")
	if err != nil {
		return
	}
	for _, other := range found {
		if plan.sameValue(other.Value, key.value) {
			continue // the same record, to be replaced, or a conflict that the create reports
		}
		if isKey && other.IsSystemManaged {
			diags.AddAttributeError(path.Root("name"), fmt.Sprintf("A second DKIM record at %s of %s", key.name, key.domain),
				"The domain has a system-managed DKIM record there, which stays: with two keys at one selector, verifiers may take the wrong one. Choose another selector.")
			return
		}
		id := strconv.FormatInt(other.ID, 10)
		if purpose.Single() && !other.IsSystemManaged && dnsdata.PurposeOf(other.Type, other.Value) == purpose && id != plan.ID.ValueString() {
			addSecondPolicy(diags, key, purpose, other, r.Walk().MayBeInState(session.Object{Type: typeName, ID: id}))
			return
		}
	}
}

// addSecondPolicy reports a second policy; other is the existing one.
func addSecondPolicy(diags *diag.Diagnostics, key recordKey, purpose dnsdata.Purpose, other api.DNSRecord, isInState bool) {
	summary := fmt.Sprintf("A second %s record at %s of %s", purpose, key.name, key.domain)
	detail := fmt.Sprintf("There is one already, the record %d: %.200q. Receivers ignore both of two: %s.\n\n", other.ID, other.Value, twoPolicies[purpose])
	if !isInState {
		diags.AddAttributeError(path.Root("value"), summary, detail+
			fmt.Sprintf("Put all into one record: import that one (its id is %d) and change its value. Or remove it first, in an apply of its own.", other.ID))
		return
	}
	diags.AddAttributeWarning(path.Root("value"), summary, detail+
		"Put all into one record, unless that is the one which this plan replaces. To replace it, change the value of its resource in place, or write a moved block if the resource has another name now.")
}
