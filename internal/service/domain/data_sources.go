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

var object = service.Object[api.Domain, record]{
	Name: "domain", Names: "domains", Noun: "domain", Nouns: "domains",
	Attributes: func() map[string]schema.Attribute {
		return service.Answered(recordAttributes(), map[string]string{
			"name":         "Name of the domain, in ASCII and lower case.",
			"workspace_id": "UUID of the workspace that the domain is in.",
			"auto_renew":   "Whether the registration is renewed by itself.",
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
		service.SearchFilter("domains", "their name, an international one in either form"),
	},
	List: func(ctx context.Context, c *client.Client, by service.Given) iter.Seq2[api.Domain, error] {
		return c.ListDomains(ctx, api.ListDomainsRequest{
			WorkspaceID: by["workspace_id"], Status: by["status"], Tag: by["tag"], Search: by["search"],
		})
	},
	Recorder: service.Recorded(func(d *api.Domain) (r record) {
		r.fill(d)
		return r
	}),
}

// NewDataSources returns data.mailhost_domains.
func NewDataSources() datasource.DataSource {
	return service.NewPlural(object, "The domains of the account, or those of them that every filter lets through.")
}
