package dnsrecord

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// policy is a kind of TXT record that a name has at most once: receivers ignore both of
// two.
type policy struct {
	// version is the record's first tag in any case, because v=dmarc1, which receivers
	// ignore, is meant as the same policy. noun names the record.
	version, noun string
	// effect describes what two of them cause, with the RFC.
	effect string
}

var policies = []policy{
	{"v=spf1", "SPF", "the check ends in permerror (RFC 7208, section 4.5), and mail may be refused"},
	{"v=DMARC1", "DMARC", "mail is treated as if there were none (RFC 9989)"},
	{"v=STSv1", "MTA-STS", "mail is sent as if there were no policy (RFC 8461, section 3.1)"},
	{"v=TLSRPTv1", "TLS-RPT", "nobody reports (RFC 8460, section 3)"},
}

// checkSecondPolicy reports in a plan that the name has a policy of the kind already.
// It is an error, because the API will refuse the second one, except for a
// system-managed policy, which the new one replaces. It is only a warning if Terraform
// has refreshed the other record, because the same plan may replace or delete it.
// Nothing is reported if the API can't list records.
func (r *Resource) checkSecondPolicy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model
	if resp.Plan.Raw.IsNull() || resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
		if plan.Value.Equal(state.Value) || !plan.Domain.Equal(state.Domain) || !plan.Name.Equal(state.Name) || !plan.Type.Equal(state.Type) {
			return // no change, or a replacement, which is planned again as a create
		}
	}
	kind := policyOf(plan.Type.ValueString(), plan.Value.ValueString())
	isKey := plan.Type.ValueString() == dnsdata.TypeTXT && strings.Contains(strings.ToLower(plan.Name.ValueString()), "._domainkey")
	if plan.Domain.IsUnknown() || plan.Name.IsUnknown() || kind == nil && !isKey {
		return
	}
	c := r.ClientForWarning(ctx)
	if c == nil {
		return
	}
	key := plan.naturalKey()
	found, err := c.FindDNSRecords(ctx, key.domain, key.recordType, key.name, "")
	if err != nil {
		return
	}
	for _, other := range found {
		if isKey && other.IsSystemManaged && !plan.sameValue(other.Value, key.value) {
			resp.Diagnostics.AddAttributeError(path.Root("name"), fmt.Sprintf("A second DKIM record at %s of %s", plan.Name.ValueString(), plan.Domain.ValueString()),
				"The domain has a system-managed DKIM record there, which stays: with two keys at one selector, verifiers may take the wrong one. Choose another selector.")
			return
		}
		// An identical record is this one, which is replaced, or a conflict that the create
		// reports.
		if kind != nil && !other.IsSystemManaged && policyOf(other.Type, other.Value) == kind && strconv.FormatInt(other.ID, 10) != plan.ID.ValueString() && !plan.sameValue(other.Value, key.value) {
			kind.addSecond(&resp.Diagnostics, plan, other, c.RefreshedDNSRecord(other.ID))
			return
		}
	}
}

// addSecond reports a second policy; other is the first.
func (p *policy) addSecond(diags *diag.Diagnostics, plan model, other api.DNSRecord, refreshed bool) {
	summary := fmt.Sprintf("A second %s record at %s of %s", p.noun, plan.Name.ValueString(), plan.Domain.ValueString())
	detail := fmt.Sprintf("There is one already, the record %d: %.200q. Of two, receivers take neither: %s.\n\n", other.ID, other.Value, p.effect)
	if single := dnsdata.PurposeOf(other.Type, other.Value).Single() && dnsdata.PurposeOf(plan.Type.ValueString(), plan.Value.ValueString()).Single(); single && !refreshed {
		diags.AddAttributeError(path.Root("value"), summary, detail+
			fmt.Sprintf("Put all into one record: import that one (its id is %d) and change its value. Or remove it first, in an apply of its own.", other.ID))
		return
	}
	diags.AddAttributeWarning(path.Root("value"), summary, detail+
		"Put all into one record, unless that is the one which this plan replaces. To replace it, change the value of its resource in place, or write a moved block if the resource has another name now.")
}

// policyOf returns the kind of policy of a record, or nil. The first tag ends with a
// blank or a semicolon.
func policyOf(recordType, value string) *policy {
	text, err := dnsdata.Text(value)
	if recordType != dnsdata.TypeTXT || err != nil {
		return nil
	}
	version := text
	if end := strings.IndexAny(text, " ;"); end >= 0 {
		version = text[:end]
	}
	for i := range policies {
		if strings.EqualFold(version, policies[i].version) {
			return &policies[i]
		}
	}
	return nil
}
