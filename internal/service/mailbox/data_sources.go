package mailbox

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

var collection = service.Collection[api.Mailbox, model]{
	Name: "mailbox", Names: "mailboxes", Noun: "mailbox", Nouns: "mailboxes",
	Attributes: func() map[string]schema.Attribute {
		return service.ComputedAttributes(modelAttributes(), map[string]string{
			"domain":     "Name of the domain, as `domain_name`.",
			"local_part": "Part of the address before the @, in lower case.",
		})
	},
	Filters: []service.Filter{
		service.DomainFilter("mailboxes"),
		service.WorkspaceFilter("mailboxes"),
		{
			Name: "status", Validators: []validator.String{validate.OneOf[api.ListMailboxesRequest]("status")},
			MarkdownDescription: "Only the mailboxes in this state: `provisioning`, `active`, `paused` or `deleting`.",
		},
		service.SearchFilter("mailboxes", "their address or the person's name"),
	},
	List: func(ctx context.Context, c *client.Client, by service.FilterValues) iter.Seq2[api.Mailbox, error] {
		return c.ListMailboxes(ctx, api.ListMailboxesRequest{
			Domain: by["domain"], WorkspaceID: by["workspace_id"], Status: by["status"], Search: by["search"],
		})
	},
	Flatten: func(_ context.Context, _ service.DomainReader, v *api.Mailbox) (m model) {
		m.flatten(v)
		return m
	},
}

// NewDataSources returns data.mailhost_mailboxes.
func NewDataSources() datasource.DataSource {
	return service.NewDataSources(collection, "The mailboxes of the account, or those that match every filter.")
}
