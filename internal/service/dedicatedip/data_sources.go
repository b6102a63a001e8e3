package dedicatedip

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var collection = service.Collection[api.DedicatedIP, model]{
	Name: "dedicated_ip", Names: "dedicated_ips", Noun: "dedicated IP", Nouns: "dedicated IPs",
	Attributes: func() map[string]schema.Attribute { return service.ComputedAttributes(modelAttributes(), nil) },
	Filters: []service.Filter{
		{
			Name: "status", Validators: []validator.String{validate.OneOf[api.ListDedicatedIPsRequest]("status")},
			MarkdownDescription: "Only the dedicated IPs in this state: `provisioning`, `active` or `releasing`.",
		},
		{
			Name: "country_code", Validators: []validator.String{validate.Country()},
			MarkdownDescription: "Only the dedicated IPs in this country, by its two-letter code (ISO 3166), such as `DE`.",
		},
	},
	List: func(ctx context.Context, c *client.Client, by service.FilterValues) iter.Seq2[api.DedicatedIP, error] {
		country := by["country_code"]
		if code, err := api.CheckCountry(country); err == nil {
			country = code
		}
		return c.ListDedicatedIPs(ctx, api.ListDedicatedIPsRequest{Status: by["status"], CountryCode: country})
	},
	Flatten: func(_ context.Context, _ service.DomainReader, d *api.DedicatedIP) (m model) {
		m.flatten(d)
		return m
	},
}

// NewDataSources returns data.mailhost_dedicated_ips.
func NewDataSources() datasource.DataSource {
	return service.NewDataSources(collection, "The dedicated IP addresses of the account, or those that match every filter.")
}
