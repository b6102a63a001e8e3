package dedicatedip

import (
	"cmp"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

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
