package dnszone

import (
	"cmp"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

type model struct {
	ID         types.String      `tfsdk:"id"`
	Domain     customtype.String `tfsdk:"domain"`
	Records    types.Map         `tfsdk:"records"`
	Ignore     types.List        `tfsdk:"ignore"`
	Purged     types.List        `tfsdk:"purged"`
	DomainID   types.String      `tfsdk:"domain_id"`
	DomainName types.String      `tfsdk:"domain_name"`
	Timeouts   timeouts.Value    `tfsdk:"timeouts"`
}

// String names the zone in messages.
func (m model) String() string {
	return "DNS zone of " + cmp.Or(m.Domain.ValueString(), m.ID.ValueString())
}

// mixedTTL is the TTL of an entry whose records have different ones, as no record can have it.
const mixedTTL = 0

// entries returns the entries of records in a state, where a missing TTL means different ones.
func (m model) entries() []entry {
	all := entriesOf(m.Records, m.DomainName.ValueString())
	for i := range all {
		if all[i].ttl.IsNull() {
			all[i].ttl = types.Int64Value(mixedTTL)
		}
	}
	return all
}

// ignored returns the known patterns of ignore.
func (m model) ignored() patterns {
	all, _ := patternsOf(m.Ignore, m.DomainName.ValueString())
	return all
}

// setDomain sets the attributes of the domain.
func (m *model) setDomain(id, name string) {
	m.ID, m.DomainID, m.DomainName = types.StringValue(id), types.StringValue(id), types.StringValue(name)
	m.Domain = customtype.KeepDomainRef(m.Domain, id, name)
}
