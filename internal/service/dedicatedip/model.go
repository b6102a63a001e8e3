package dedicatedip

import (
	"cmp"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// resourceModel is the model of the resource: model, and what only the configuration
// and the state have.
type resourceModel struct {
	model

	OptionID customtype.String `tfsdk:"option_id"`
	Timeouts timeouts.Value    `tfsdk:"timeouts"`
}

// model has the attributes of a dedicated IP in the API, which the data sources return.
// The API does not return the option that it was claimed from.
type model struct {
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

// display names the dedicated IP in messages.
func (m model) display() string {
	return cmp.Or(m.Name.ValueString(), m.ID.ValueString())
}

// firstIP returns the first of the addresses, or null.
func (m model) firstIP() types.String {
	for _, a := range m.IPAddresses.Elements() {
		if o, ok := a.(types.Object); ok {
			if ip, ok := o.Attributes()["ip"].(types.String); ok {
				return ip
			}
		}
	}
	return types.StringNull()
}

// flatten sets the model from the dedicated IP.
func (m *model) flatten(d *api.DedicatedIP) {
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
