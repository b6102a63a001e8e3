package masterpassword

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// noun is what messages call it, with its article.
const noun = "a master password"

var object = service.Object[api.MasterPassword, record]{
	Name: "master_password", Names: "master_passwords", Noun: "master password", Nouns: "master passwords",
	Attributes: func() map[string]schema.Attribute {
		return service.Answered(recordAttributes(), map[string]string{
			"name":         "Name of the master password, unique within its scope.",
			"domain":       "Name of the domain that it applies to; null where it applies to none alone.",
			"workspace_id": "UUID of the workspace that it applies to; null where it applies to none alone.",
		})
	},
	Filters: append(service.ScopeFilters[api.ListMasterPasswordsRequest](noun, "master passwords"), service.SearchFilter("master passwords", "their name")),
	List: func(ctx context.Context, c *client.Client, by service.Given) iter.Seq2[api.MasterPassword, error] {
		return c.ListMasterPasswords(ctx, api.ListMasterPasswordsRequest{
			Domain: by["domain"], WorkspaceID: by["workspace_id"], ScopeType: by["scope_type"], Search: by["search"],
		})
	},
	Recorder: func(c *client.Client) func(context.Context, *api.MasterPassword) record {
		domains := service.RememberDomains(c)
		return func(ctx context.Context, p *api.MasterPassword) (r record) {
			r.fill(ctx, domains, p)
			return r
		}
	},
}

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

// NewDataSources returns data.mailhost_master_passwords.
func NewDataSources() datasource.DataSource {
	return service.NewPlural(object, "The master passwords of the account, or those of them that every filter lets through. Their secrets are not told.")
}

// NewListResource returns the list resource mailhost_master_password.
func NewListResource() list.ListResource {
	return service.NewListResource(object, service.Listed[api.MasterPassword, record]{
		ID:          func(p *api.MasterPassword) string { return p.ID },
		DisplayName: func(p *api.MasterPassword) string { return service.ScopedName(p.Name, p.ScopeType) },
		Model:       func(r record) any { return &model{record: r} },
	}, "Lists the master passwords of the account, or those of them that every filter lets through. A configuration that is generated from it has no secret: the one in use stays as it is.")
}
