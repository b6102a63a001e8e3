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

// warnOfSecondSPF warns in a plan that publishes a sender policy where the name
// has one already: of two, receivers take neither. Where the API can't tell what
// there is, nothing is said.
func (r *Resource) warnOfSecondSPF(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model
	if resp.Plan.Raw.IsNull() || resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
		if plan.Value.Equal(state.Value) || !plan.Domain.Equal(state.Domain) || !plan.Name.Equal(state.Name) || !plan.Type.Equal(state.Type) {
			return // nothing new, or a replacement, which is planned once more as a create
		}
	}
	if plan.Domain.IsUnknown() || plan.Name.IsUnknown() || !isSPF(plan.Type.ValueString(), plan.Value.ValueString()) {
		return
	}
	// What is wrong with the connection is not for a warning to tell.
	var unconnected diag.Diagnostics
	c := r.Client(ctx, &unconnected)
	if c == nil {
		return
	}
	key := plan.naturalKey()
	found, err := c.FindDNSRecords(ctx, key.domain, key.recordType, key.name, "")
	if err != nil {
		return
	}
	for _, other := range found {
		// An equal one is this very record, about to be replaced, or a conflict that
		// the create tells.
		if isSPF(other.Type, other.Value) && strconv.FormatInt(other.ID, 10) != plan.ID.ValueString() && !plan.sameValue(other.Value, key.value) {
			addSecondSPF(&resp.Diagnostics, plan, other)
			return
		}
	}
}

func addSecondSPF(diags *diag.Diagnostics, plan model, other api.DNSRecord) {
	what, next := "the record "+strconv.FormatInt(other.ID, 10),
		"Put all senders into one record, unless that is the one which this plan replaces."
	if other.IsSystemManaged {
		what += ", which came with the domain and can't be changed"
		next = "Send from a subdomain with a policy of its own in place of this record; or have the service's operator change that record."
	}
	diags.AddAttributeWarning(path.Root("value"), fmt.Sprintf("A second SPF record at %s of %s", plan.Name.ValueString(), plan.Domain.ValueString()),
		fmt.Sprintf("There is one already, %s: %.200q. Of two, receivers take neither: the check ends in permerror (RFC 7208, section 4.5), and mail may be refused.\n\n%s", what, other.Value, next))
}

// isSPF reports whether a record is a sender policy (RFC 7208, section 4.5).
func isSPF(recordType, value string) bool {
	if recordType != dnsdata.TypeTXT {
		return false
	}
	text, err := dnsdata.Text(value)
	version, _, _ := strings.Cut(text, " ")
	return err == nil && strings.EqualFold(version, "v=spf1")
}
