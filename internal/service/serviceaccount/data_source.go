package serviceaccount

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// NewDataSource returns data.mailhost_service_account.
func NewDataSource() datasource.DataSource {
	return service.NewDataSource(collection, service.Lookup[api.ServiceAccount, model]{
		Keys: []service.Filter{
			service.IDKey("service account", "`name`"),
			{
				Name: "name", Validators: []validator.String{validate.Length[api.CreateServiceAccountBody]("name")},
				MarkdownDescription: "Exact name of the service account. Exactly one that is not revoked must have it. Set it or `id`.",
			},
		},
		Get: (*client.Client).GetServiceAccount,
		Find: func(ctx context.Context, c *client.Client, by service.FilterValues) (*api.ServiceAccount, error) {
			return c.FindServiceAccount(ctx, by["name"])
		},
	}, "A service account that exists, by its UUID, or by its name among those that are not revoked. The token is not included: the API returns it only when the service account is created.")
}
