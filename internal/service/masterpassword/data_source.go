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
	return service.NewSingular(object, service.Lookup[api.MasterPassword, record]{
		Keys: []service.Filter{
			service.IDKey("master password", "`name`"),
			{
				Name: "name", Validators: []validator.String{validate.Length[api.CreateMasterPasswordBody]("name")},
				MarkdownDescription: "Name of the master password, in upper and lower case as it was given. Give it or `id`.",
			},
		},
		Within: service.ScopeWithin(noun, "name"),
		Get:    (*client.Client).GetMasterPassword,
		Find: func(ctx context.Context, c *client.Client, by service.Given) (*api.MasterPassword, error) {
			return c.FindMasterPassword(ctx, by["name"], by.Scope())
		},
		Model: func(found record, by service.Given) any {
			found.Keep(by)
			return &found
		},
	}, "A master password that exists, by its UUID, or by its name within its scope. Its secret is not told: the API tells a generated one once, and any other never.")
}
