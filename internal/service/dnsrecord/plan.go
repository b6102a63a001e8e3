package dnsrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
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
	if key := plan.naturalKey(); key.recordType == dnsdata.TypeTXT && !plan.Value.IsUnknown() && (req.State.Raw.IsNull() || !plan.sameValue(key.value, state.Value.ValueString())) {
		WarnEncoded(&resp.Diagnostics, path.Root("value"), key.name, key.domain, key.value)
	}
	switch {
	case resp.Diagnostics.HasError(), service.DestroysOrReplaces(resp): // a replacement is planned again as a create
	case req.State.Raw.IsNull():
		r.checkSecondPolicy(ctx, plan, &resp.Diagnostics)
		r.planCreate(ctx, plan, req, resp)
	default:
		if !plan.Value.Equal(state.Value) {
			r.checkSecondPolicy(ctx, plan, &resp.Diagnostics)
		}
		r.warnNoUpdate(ctx, plan, state, &resp.Diagnostics)
	}
}

// planCreate plans the TTL of a new record, and reports an existing identical record. A record that the
// configuration adopts keeps its TTL, unless the configuration sets one; the API's default is for a new record.
func (r *Resource) planCreate(ctx context.Context, plan model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var ttl types.Int64
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("ttl"), &ttl)...)
	isOmitted := ttl.IsNull()
	found, isKnown := r.findExisting(ctx, plan)
	switch mayKeep := isOmitted && service.Adopts(plan.OnExisting); {
	case !isOmitted, mayKeep && !isKnown:
	case mayKeep && found != nil && r.Walk().MayBeInState(session.Object{Type: typeName, ID: strconv.FormatInt(found.ID, 10)}):
		// The same apply may delete the record of the other resource first.
	case mayKeep && found != nil:
		plan.TTL = types.Int64Value(found.TTL)
	default:
		plan.TTL = types.Int64Value(api.DefaultDNSTTL)
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("ttl"), plan.TTL)...)
	if found == nil || resp.Diagnostics.HasError() {
		return
	}
	unchanged := []string{"value", "priority"} // they mean the same
	if isOmitted {
		unchanged = append(unchanged, "ttl")
	}
	r.AdoptOrRefuse(&resp.Diagnostics, plan.OnExisting, r.DescribeExisting(ctx, &located{DNSRecord: *found}, plan, plan.importID(), unchanged...))
}

// findExisting returns an existing record that is identical to a planned one, or nil. isKnown is false if the plan
// can't look it up.
func (r *Resource) findExisting(ctx context.Context, plan model) (found *api.DNSRecord, isKnown bool) {
	domain := plan.Domain.ValueString()
	c := r.ClientIfOpen(ctx)
	if c == nil || plan.Domain.IsUnknown() || plan.Name.IsUnknown() || plan.Type.IsUnknown() || plan.Value.IsUnknown() {
		return nil, false
	}
	if r.CreatesDomain(domain) {
		return nil, true
	}
	all, err := listed(ctx, c, r.Notes(), domain)
	if err != nil { // the create then detects an existing record
		return nil, errors.Is(err, client.ErrReadUnsupported)
	}
	candidates := all[listKey(plan.Name.ValueString(), plan.Type.ValueString(), attribute.DomainName(domain))]
	i := slices.IndexFunc(candidates, func(found api.DNSRecord) bool { return plan.isSame(&found) })
	if i < 0 {
		return nil, true
	}
	return &candidates[i], true
}

// listed returns the records of a domain by their [listKey]. The list is read once in a walk.
func listed(ctx context.Context, c *client.Client, notes *sync.Map, domain string) (map[string][]api.DNSRecord, error) {
	type listOf struct{ domain string }
	return service.OnceResult(notes, listOf{domain}, func() (map[string][]api.DNSRecord, error) {
		all := map[string][]api.DNSRecord{}
		for r, err := range c.ListDNSRecords(ctx, api.ListDNSRecordsRequest{Domain: domain}) {
			if err != nil {
				return nil, err
			}
			key := listKey(r.Name, r.Type, attribute.DomainName(domain))
			all[key] = append(all[key], r)
		}
		return all, nil
	})
}

// listKey identifies the records of a name, in any form, and a type.
func listKey(name, recordType, domain string) string {
	if relative, err := dnsdata.NormalizeName(name, domain); err == nil {
		name = relative
	}
	return name + " " + recordType
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
// be in the state, because the same plan may replace or delete it: once the walk has refreshed any object,
// the refresh of the record may follow. A walk without a refresh may be an apply, so the record gets some
// time to disappear. A system-managed policy yields to the new one. Nothing is reported if the API can't
// list records.
func (r *Resource) checkSecondPolicy(ctx context.Context, plan model, diags *diag.Diagnostics) {
	key := plan.naturalKey()
	purpose := dnsdata.PurposeOf(key.recordType, key.value)
	isKey := key.recordType == dnsdata.TypeTXT && strings.Contains(strings.ToLower(key.name), "._domainkey")
	c := r.ClientIfOpen(ctx)
	if c == nil || plan.Domain.IsUnknown() || plan.Name.IsUnknown() || !purpose.Single() && !isKey {
		return
	}
	var other *api.DNSRecord
	mayBeInState := false
	outlast(ctx, func() bool {
		if other = secondPolicy(ctx, c, plan, isKey); other != nil {
			mayBeInState = r.HasRefreshed() || r.Walk().MayBeInState(session.Object{Type: typeName, ID: strconv.FormatInt(other.ID, 10)})
		}
		return other != nil && !other.IsSystemManaged && !mayBeInState
	})
	switch {
	case other == nil:
	case other.IsSystemManaged:
		diags.AddAttributeError(path.Root("name"), fmt.Sprintf("A second DKIM record at %s of %s", key.name, key.domain),
			"The domain has a system-managed DKIM record there, which stays: with two keys at one selector, verifiers may take the wrong one. Choose another selector.")
	default:
		addSecondPolicy(diags, key, purpose, *other, mayBeInState)
	}
}

// secondPolicy returns the record of the domain that the planned one must not stand beside, or nil: a
// policy of the same purpose, or a system-managed DKIM key.
func secondPolicy(ctx context.Context, c *client.Client, plan model, isKey bool) *api.DNSRecord {
	key := plan.naturalKey()
	purpose := dnsdata.PurposeOf(key.recordType, key.value)
	found, err := c.FindDNSRecords(ctx, key.domain, key.recordType, key.name, "")
	if err != nil {
		return nil
	}
	for _, other := range found {
		switch {
		case plan.sameValue(other.Value, key.value): // the same record, to be replaced, or a conflict that the create reports
		case isKey && other.IsSystemManaged,
			purpose.Single() && !other.IsSystemManaged && dnsdata.PurposeOf(other.Type, other.Value) == purpose && strconv.FormatInt(other.ID, 10) != plan.ID.ValueString():
			return &other
		}
	}
	return nil
}

// addSecondPolicy reports a second policy; other is the existing one.
func addSecondPolicy(diags *diag.Diagnostics, key recordKey, purpose dnsdata.Purpose, other api.DNSRecord, mayBeInState bool) {
	summary := fmt.Sprintf("A second %s record at %s of %s", purpose, key.name, key.domain)
	detail := fmt.Sprintf("There is one already, the record %d: %.200q. Receivers ignore both of two: %s.\n\n", other.ID, other.Value, twoPolicies[purpose])
	next := fmt.Sprintf("Put all into one record: import that one (its id is %d) and change its value.", other.ID)
	if !mayBeInState {
		diags.AddAttributeError(path.Root("value"), summary, detail+next+" Or remove it first. If this apply removes it too, run apply again.")
		return
	}
	diags.AddAttributeWarning(path.Root("value"), summary, detail+
		"If this plan deletes or changes that record, apply it. If the resource only has another name now, write a moved block instead, so that the record is changed in place. Otherwise the apply will fail. "+next)
}
