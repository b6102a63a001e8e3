package dedicatedip

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":           service.ComputedString("UUID of the dedicated IP."),
		"name":         service.ComputedString("Name of the dedicated IP."),
		"status":       service.ComputedString("State of the dedicated IP: provisioning, active or releasing."),
		"type":         service.ComputedString("Type of the allocation."),
		"country_code": service.ComputedString("Country of the address (ISO 3166)."),
		"asn":          schema.Int64Attribute{Computed: true, MarkdownDescription: "Number of the autonomous system that announces the address."},
		"ip_addresses": schema.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Addresses, with their health at the last refresh.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"ip":               service.ComputedString("The public address."),
				"fcrdns_confirmed": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether its forward-confirmed reverse DNS passed."},
				"healthy":          schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether it is healthy; null if that is unknown."},
				"rdns":             service.ComputedString("Its host name in reverse DNS, if it has one."),
			}},
		},
		"created_at": service.ComputedString("When the dedicated IP was claimed (RFC 3339)."),
		"updated_at": service.ComputedString("When the dedicated IP was last changed (RFC 3339)."),
	}
}

// settings returns the attribute that the API does not return. It is computed, so that
// the state keeps it when it is omitted. Only a claim requires it, see requireOption.
func settings() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"option_id": schema.StringAttribute{
			Optional: true, Computed: true,
			CustomType: customtype.UUID,
			PlanModifiers: []planmodifier.String{
				stringplanmodifier.UseStateForUnknown(),
				stringplanmodifier.RequiresReplaceIf(replaceKnown, replaceDescription, replaceDescription),
			},
			MarkdownDescription: "UUID of the option that the address is claimed from: its type and location. The data source `mailhost_dedicated_ip_options` lists the options. " +
				"Required to claim an address, but not to import one; removing it later changes nothing. Changing it claims another address and releases this one. " +
				"The API does not return the option of an existing address, so an import leaves it null; the configured value is then stored without replacing anything.",
		},
	}
}

const replaceDescription = "replaces the dedicated IP if its known option changes"

// replaceKnown does not replace an imported address, because its option is unknown.
func replaceKnown(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}

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
	// The API does not return the option that the address was claimed from.
	OptionID customtype.String `tfsdk:"option_id"`
	Timeouts timeouts.Value    `tfsdk:"timeouts"`
}

func (m model) String() string {
	return "dedicated IP " + cmp.Or(m.Name.ValueString(), m.ID.ValueString())
}
