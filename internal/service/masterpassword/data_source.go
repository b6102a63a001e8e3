package masterpassword

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// NewDataSource returns data.mailhost_master_password.
func NewDataSource() datasource.DataSource {
	return service.NewDataSource(collection, service.Lookup[api.MasterPassword, model]{
		Keys: []service.Filter{
			service.IDKey("master password", "`name`"),
			{
				Name: "name", Validators: []validator.String{validate.Length[api.CreateMasterPasswordBody]("name")},
				MarkdownDescription: "Name of the master password, which is case-sensitive. Set it or `id`.",
			},
		},
		Qualifiers: service.ScopeQualifiers(noun, "name"),
		Get:        (*client.Client).GetMasterPassword,
		Find: func(ctx context.Context, c *client.Client, by service.FilterValues) (*api.MasterPassword, error) {
			return c.FindMasterPassword(ctx, by["name"], by.Scope())
		},
		Model: func(found model, by service.FilterValues) any {
			found.KeepDomain(by)
			return &found
		},
	}, "A master password that exists, by its UUID, or by its name within its scope. Its secret is not included: the API returns only a generated one, and only once.")
}
