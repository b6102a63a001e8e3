package dedicatedip

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// option is what the API says of a dedicated IP option.
type option struct {
	ID          string `tfsdk:"id"`
	Name        string `tfsdk:"name"`
	Type        string `tfsdk:"type"`
	CountryCode string `tfsdk:"country_code"`
	Available   int64  `tfsdk:"available"`
}

// NewOptionsDataSource returns data.mailhost_dedicated_ip_options. There is none
// of a single option, which has no natural key.
func NewOptionsDataSource() datasource.DataSource {
	return service.NewPlural(service.Object[api.DedicatedIPOption, option]{
		Names: "dedicated_ip_options", Noun: "dedicated IP option", Nouns: "dedicated IP options",
		Attributes: optionAttributes,
		List: func(ctx context.Context, c *client.Client, _ service.Given) iter.Seq2[api.DedicatedIPOption, error] {
			return c.ListDedicatedIPOptions(ctx)
		},
		Recorder: service.Recorded(func(o *api.DedicatedIPOption) option {
			return option{ID: o.ID, Name: o.Name, Type: o.Type, CountryCode: o.CountryCode, Available: int64(o.Available)}
		}),
	}, "The options out of which the account can claim dedicated IP addresses: the values of `option_id` of a `mailhost_dedicated_ip`. "+
		"An API with the published operations alone can't list them; look in the service's own control panel then.")
}

func optionAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":           schema.StringAttribute{Computed: true, MarkdownDescription: "UUID of the option, for `option_id` of a `mailhost_dedicated_ip`."},
		"name":         schema.StringAttribute{Computed: true, MarkdownDescription: "Name of the option."},
		"type":         schema.StringAttribute{Computed: true, MarkdownDescription: "Type of the addresses."},
		"country_code": schema.StringAttribute{Computed: true, MarkdownDescription: "Country of the addresses (ISO 3166)."},
		"available":    schema.Int64Attribute{Computed: true, MarkdownDescription: "How many addresses are left to be claimed."},
	}
}
