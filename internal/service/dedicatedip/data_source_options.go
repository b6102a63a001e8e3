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

// option is the model of a dedicated IP option.
type option struct {
	ID          string `tfsdk:"id"`
	Name        string `tfsdk:"name"`
	Type        string `tfsdk:"type"`
	CountryCode string `tfsdk:"country_code"`
	Available   int64  `tfsdk:"available"`
}

// NewOptionsDataSource returns data.mailhost_dedicated_ip_options. A single option has no
// natural key, and so no data source.
func NewOptionsDataSource() datasource.DataSource {
	return service.NewDataSources(service.Collection[api.DedicatedIPOption, option]{
		Names: "dedicated_ip_options", Noun: "dedicated IP option", Nouns: "dedicated IP options",
		Attributes: optionAttributes,
		List: func(ctx context.Context, c *client.Client, _ service.FilterValues) iter.Seq2[api.DedicatedIPOption, error] {
			return c.ListDedicatedIPOptions(ctx)
		},
		Flatten: func(_ context.Context, _ service.DomainReader, o *api.DedicatedIPOption) option {
			return option{ID: o.ID, Name: o.Name, Type: o.Type, CountryCode: o.CountryCode, Available: int64(o.Available)}
		},
	}, "The options from which the account can claim dedicated IP addresses: the values of `option_id` of a `mailhost_dedicated_ip`. "+
		"An API with the published operations only can't list them; find them in the service's own control panel.")
}

func optionAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":           schema.StringAttribute{Computed: true, MarkdownDescription: "UUID of the option, for `option_id` of a `mailhost_dedicated_ip`."},
		"name":         schema.StringAttribute{Computed: true, MarkdownDescription: "Name of the option."},
		"type":         schema.StringAttribute{Computed: true, MarkdownDescription: "Type of the addresses."},
		"country_code": schema.StringAttribute{Computed: true, MarkdownDescription: "Country of the addresses (ISO 3166)."},
		"available":    schema.Int64Attribute{Computed: true, MarkdownDescription: "How many addresses can still be claimed."},
	}
}
