package dedicatedip

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewOptionsDataSource returns data.mailhost_dedicated_ip_options. A single option has no
// natural key, and so no data source.
func NewOptionsDataSource() datasource.DataSource {
	return service.Collection[api.DedicatedIPOption]{
		Names: "dedicated_ip_options", Nouns: "dedicated IP options",
		Note: "Addresses are claimed from them: set `option_id` of a `mailhost_dedicated_ip`. " +
			"An API with the published operations only can't list them; find them in the service's own control panel.",
		Attributes: func() map[string]schema.Attribute {
			return map[string]schema.Attribute{
				"id":           service.ComputedString("UUID of the option, for `option_id` of a `mailhost_dedicated_ip`."),
				"name":         service.ComputedString("Name of the option."),
				"type":         service.ComputedString("Type of the addresses."),
				"country_code": service.ComputedString("Country of the addresses (ISO 3166)."),
				"available":    schema.Int64Attribute{Computed: true, MarkdownDescription: "How many addresses can still be claimed."},
			}
		},
		List: func(ctx context.Context, c *client.Client, _ service.FilterValues) iter.Seq2[api.DedicatedIPOption, error] {
			return c.ListDedicatedIPOptions(ctx)
		},
	}.DataSources()
}
