package domain

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewDataSource returns data.mailhost_domain.
func NewDataSource() datasource.DataSource {
	return service.NewDataSource(collection, service.Lookup[api.Domain, model]{
		Keys: []service.Filter{
			service.IDKey("domain", "`name`"),
			{
				Name: "name", Validators: []validator.String{customtype.DomainName.Validator()},
				MarkdownDescription: "Name of the domain, such as `example.com`, in any spelling. Give it or `id`.",
			},
		},
		Get: (*client.Client).GetDomain,
		Find: func(ctx context.Context, c *client.Client, by service.FilterValues) (*api.Domain, error) {
			return c.FindDomain(ctx, by["name"])
		},
	}, "A domain of the account, by its UUID or its name. Nothing is bought: a domain that the account does not own is an error.")
}
