// Package dedicatedip provides the resource mailhost_dedicated_ip, its data sources and
// its list resource, and the data source of the options for a claim.
package dedicatedip

import (
	"cmp"
	"context"
	"net/netip"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var Definition = &service.Definition[api.DedicatedIP, model]{
	Name: "dedicated_ip",
	Collection: service.Collection[api.DedicatedIP]{
		Names: "dedicated_ips", Noun: "dedicated IP", Nouns: "dedicated IPs",
		List: service.Listed((*client.Client).ListDedicatedIPs),
	},
	Objects:             func(c *client.Client) *client.Objects[api.DedicatedIP] { return c.DedicatedIPs },
	Find:                (*client.Client).FindDedicatedIP,
	ResourceDescription: description,
	Settings:            settings,
	CreateTimeout:       30 * time.Minute,
	IsValuable:          true,
	Losses:              losses,
	DeleteOperation:     api.ReleaseDedicatedIP.Spec,
	DeleteVerb:          "release",
	DeleteConflict:      "Nothing was released. Unassign the address from those domains in the service's own control panel, and run destroy again.",
	OrphanConsequence: func(context.Context, *client.Client, model) string {
		return "It stays claimed, and it is still paid for."
	},
	Single: service.Single[api.DedicatedIP]{
		Description: "A dedicated IP address of the account, by its UUID, its name or the address itself. Nothing is claimed.",
		Keys: []attribute.Filter{
			attribute.IDKey("dedicated IP", "`name` or `ip`"),
			attribute.NewFilter("name", "Name of the dedicated IP. Set it, `id` or `ip`.",
				stringvalidator.LengthAtLeast(1)),
			attribute.NewFilter("ip", "Public address, one of `ip_addresses`; the first of them if `id` or `name` is set. Set it, `id` or `name`.",
				validate.Rule("an IP address such as 198.51.100.1", checkIP)),
		},
		Argument: func(d *api.DedicatedIP) (name string, value *string) {
			if len(d.IPAddresses) > 0 {
				value = &d.IPAddresses[0].IP
			}
			return "ip", value
		},
	},
	Listing: service.Listing[api.DedicatedIP, model]{
		Imported: func(_ context.Context, _ *client.Client, m *model) error {
			m.Acquisition = types.StringValue(acquisitionAdopt)
			return nil
		},
	},
}

const typeName = "mailhost_dedicated_ip"

// createAnother is the value of on_existing that claims another address.
const createAnother = "create"

// The values of acquisition.
const (
	acquisitionPurchase = "purchase"
	acquisitionAdopt    = "adopt"
)

const description = "A dedicated IP address for the account's outgoing mail. Creating it **claims** an address from an option, which costs money; destroying it releases the address together with the reputation that it has earned. " +
	"Use `lifecycle { prevent_destroy = true }` for an address that is in use.\n\n" +
	"No address is bought twice by mistake: while the account has an address that no domain uses, the plan of a claim fails. An apply that was killed may have claimed it. Import it, or set `on_existing`. " +
	"This also holds for an unused address that the state has, because an apply does not see the whole state. " +
	"The API does not return the option of an address, so the provider compares countries: every unused address in the option's country counts, and every unused address of the account if the API can't list the options.\n\n" +
	"An address is never replaced by itself, which would release it and claim another one: with `-replace` or `replace_triggered_by` the plan fails, and with a tainted address the plan or the apply, before anything is released (but not with `create_before_destroy`, so don't set that). Only another `option_id` replaces it. " +
	"A plan warns of an address that no domain uses: you pay for it, and the mail host has to assign it."

func checkIP(s string) (string, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return "", err
	}
	return a.String(), nil
}

// NewOptionsDataSource returns data.mailhost_dedicated_ip_options. There is no data source for a
// single option, because an option lacks a natural key.
func NewOptionsDataSource() datasource.DataSource {
	return service.Collection[api.DedicatedIPOption]{
		Names: "dedicated_ip_options", Noun: "dedicated IP option", Nouns: "dedicated IP options",
		Note: "Addresses are claimed from them: set `option_id` of a `mailhost_dedicated_ip`. " +
			"An API with the published operations only can't list them; find them in the service's own control panel.",
		List: service.ListedAll((*client.Client).ListDedicatedIPOptions),
	}.DataSources()
}

// settings returns the attribute that the API does not return. The attribute is computed, so that
// the state keeps its value if it is omitted. Only a claim requires it, see requireOption.
func settings() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"option_id": schema.StringAttribute{
			Optional: true, Computed: true,
			CustomType: customtype.UUID,
			MarkdownDescription: "UUID of the option that the address is claimed from: its type and location. The data source `mailhost_dedicated_ip_options` lists the options. " +
				"Required to claim an address, but not to import one; removing it later changes nothing. Changing it claims another address and releases this one. " +
				"The API does not return the option of an existing address, so an import leaves it null; the configured value is then stored without replacing anything.",
		},
		"on_existing": schema.StringAttribute{
			Optional:   true,
			Validators: []validator.String{stringvalidator.OneOf(service.AdoptExisting, service.RefuseExisting, createAnother)},
			MarkdownDescription: "What happens if the account has an address in the country of the option that no domain uses: `error` makes the plan fail, and prints the `import` block; " +
				"`adopt` manages that address from now on, the oldest one first, changes nothing and claims nothing; `create` claims and pays for another one, and the plan warns of it. Several resources adopt different addresses. Default: `error`.",
		},
		"acquisition": attribute.ComputedString("How Terraform got the address: `purchase`, or `adopt` for an address that the account had already, including an imported one. The plan of a new address shows it, " +
			"and the apply does nothing else. Null for an address that an earlier version of the provider created."),
	}
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
	// The API does not return the option of an address.
	OptionID    customtype.String `tfsdk:"option_id"`
	OnExisting  types.String      `tfsdk:"on_existing"`
	Acquisition types.String      `tfsdk:"acquisition"`
	Timeouts    timeouts.Value    `tfsdk:"timeouts"`
}

func (m model) String() string {
	return "dedicated IP " + cmp.Or(m.Name.ValueString(), m.ID.ValueString())
}
