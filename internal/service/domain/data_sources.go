package domain

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

var collection = service.Collection[api.Domain, model]{
	Name: "domain", Names: "domains", Noun: "domain", Nouns: "domains",
	Attributes: func() map[string]schema.Attribute {
		return service.ComputedAttributes(modelAttributes(), map[string]string{
			"name":         "Name of the domain, in ASCII and lower case.",
			"workspace_id": "UUID of the workspace that the domain is in.",
			"auto_renew":   "Whether the registration is renewed automatically.",
			"redirect_url": "Where the domain's web traffic is redirected to; null without a redirect.",
		})
	},
	Filters: []service.Filter{
		service.WorkspaceFilter("domains"),
		{
			Name: "status", Validators: []validator.String{validate.OneOf[api.ListDomainsRequest]("status")},
			MarkdownDescription: "Only the domains in this state: `pending_payment`, `pending`, `active` or `failed`.",
		},
		{Name: "tag", MarkdownDescription: "Only the domains with this label, by its name or UUID."},
		service.SearchFilter("domains", "their name, an internationalized one in either form"),
	},
	List: func(ctx context.Context, c *client.Client, by service.FilterValues) iter.Seq2[api.Domain, error] {
		return c.ListDomains(ctx, api.ListDomainsRequest{
			WorkspaceID: by["workspace_id"], Status: by["status"], Tag: by["tag"], Search: by["search"],
		})
	},
	Flatten: func(_ context.Context, _ service.DomainReader, d *api.Domain) (m model) {
		m.flatten(d)
		return m
	},
}

// NewDataSources returns data.mailhost_domains.
func NewDataSources() datasource.DataSource {
	return service.NewDataSources(collection, "The domains of the account, or those that match every filter.")
}
