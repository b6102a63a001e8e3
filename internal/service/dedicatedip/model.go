package dedicatedip

import (
	"cmp"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// model is the resource as Terraform keeps it.
type model struct {
	record

	OptionID customtype.UUID `tfsdk:"option_id"`
	Timeouts timeouts.Value  `tfsdk:"timeouts"`
}

// record is what the API says of a dedicated IP. It never tells the option that
// it was claimed out of.
type record struct {
	ID          types.String `tfsdk:"id"`
	Name        types.String `tfsdk:"name"`
	Status      types.String `tfsdk:"status"`
	Type        types.String `tfsdk:"type"`
	ASN         types.Int64  `tfsdk:"asn"`
	CountryCode types.String `tfsdk:"country_code"`
	IPAddresses types.List   `tfsdk:"ip_addresses"`
	CreatedAt   types.String `tfsdk:"created_at"`
	UpdatedAt   types.String `tfsdk:"updated_at"`
}

var addressType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"ip": types.StringType, "fcrdns_confirmed": types.BoolType, "healthy": types.BoolType, "rdns": types.StringType,
}}

// display is how messages name the dedicated IP.
func (m record) display() string {
	return cmp.Or(m.Name.ValueString(), m.ID.ValueString())
}

// firstIP is the first of the addresses, or null where there is none.
func (m record) firstIP() types.String {
	for _, a := range m.IPAddresses.Elements() {
		if o, ok := a.(types.Object); ok {
			if ip, ok := o.Attributes()["ip"].(types.String); ok {
				return ip
			}
		}
	}
	return types.StringNull()
}

// fill takes over what the API says of the dedicated IP.
func (m *record) fill(d *api.DedicatedIP) {
	m.ID = types.StringValue(d.ID)
	m.Name = types.StringValue(d.Name)
	m.Status = types.StringValue(d.Status)
	m.Type = types.StringValue(d.Type)
	m.ASN = types.Int64PointerValue(d.ASN)
	m.CountryCode = types.StringPointerValue(d.CountryCode)
	addresses := make([]attr.Value, len(d.IPAddresses))
	for i, a := range d.IPAddresses {
		addresses[i] = types.ObjectValueMust(addressType.AttrTypes, map[string]attr.Value{
			"ip": types.StringValue(a.IP), "fcrdns_confirmed": types.BoolValue(a.FCrDNSConfirmed),
			"healthy": types.BoolPointerValue(a.Healthy), "rdns": types.StringPointerValue(a.RDNS),
		})
	}
	m.IPAddresses = types.ListValueMust(addressType, addresses)
	m.CreatedAt = types.StringPointerValue(d.CreatedAt)
	m.UpdatedAt = types.StringPointerValue(d.UpdatedAt)
}
