package masterpassword

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
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

// NewDataSources returns data.mailhost_master_passwords.
func NewDataSources() datasource.DataSource {
	return service.NewPlural(object, "The master passwords of the account, or those of them that every filter lets through. Their secrets are not told.")
}
