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
	return service.NewSingular(object, service.Lookup[api.ServiceAccount, record]{
		Keys: []service.Filter{
			service.IDKey("service account", "`name`"),
			{
				Name: "name", Validators: []validator.String{validate.Length[api.CreateServiceAccountBody]("name")},
				MarkdownDescription: "Name of the service account, in its very spelling: of those that are not revoked, one must have it. Give it or `id`.",
			},
		},
		Get: (*client.Client).GetServiceAccount,
		Find: func(ctx context.Context, c *client.Client, by service.Given) (*api.ServiceAccount, error) {
			return c.FindServiceAccount(ctx, by["name"])
		},
	}, "A service account that exists, by its UUID, or by its name among those that are not revoked. It does not tell the token, which the API tells only whoever creates a service account.")
}
