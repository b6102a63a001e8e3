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

// noun names a master password in messages, with its article.
const noun = "a master password"

var collection = service.Collection[api.MasterPassword, model]{
	Name: "master_password", Names: "master_passwords", Noun: "master password", Nouns: "master passwords",
	Attributes: func() map[string]schema.Attribute {
		return service.ComputedAttributes(modelAttributes(), map[string]string{
			"name":         "Name of the master password, unique within its scope.",
			"domain":       "Name of the domain that it applies to; null for another scope.",
			"workspace_id": "UUID of the workspace that it applies to; null for another scope.",
		})
	},
	Filters: append(service.ScopeFilters[api.ListMasterPasswordsRequest](noun, "master passwords"), service.SearchFilter("master passwords", "their name")),
	List: func(ctx context.Context, c *client.Client, by service.FilterValues) iter.Seq2[api.MasterPassword, error] {
		return c.ListMasterPasswords(ctx, api.ListMasterPasswordsRequest{
			Domain: by["domain"], WorkspaceID: by["workspace_id"], ScopeType: by["scope_type"], Search: by["search"],
		})
	},
	Flatten: func(ctx context.Context, domains service.DomainReader, p *api.MasterPassword) (m model) {
		m.flatten(ctx, domains, p)
		return m
	},
}

// NewDataSources returns data.mailhost_master_passwords.
func NewDataSources() datasource.DataSource {
	return service.NewDataSources(collection, "The master passwords of the account, or those that match every filter. Their secrets are not included.")
}
