package mailbox

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var object = service.Object[api.Mailbox, record]{
	Name: "mailbox", Names: "mailboxes", Noun: "mailbox", Nouns: "mailboxes",
	Attributes: func() map[string]schema.Attribute {
		return service.Answered(recordAttributes(), map[string]string{
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
	List: func(ctx context.Context, c *client.Client, by service.Given) iter.Seq2[api.Mailbox, error] {
		return c.ListMailboxes(ctx, api.ListMailboxesRequest{
			Domain: by["domain"], WorkspaceID: by["workspace_id"], Status: by["status"], Search: by["search"],
		})
	},
	Recorder: service.Recorded(func(m *api.Mailbox) (r record) {
		r.fill(m)
		return r
	}),
}

// NewDataSource returns data.mailhost_mailbox.
func NewDataSource() datasource.DataSource {
	return service.NewSingular(object, service.Lookup[api.Mailbox, record]{
		Keys: []service.Filter{
			service.IDKey("mailbox", "`primary_email`"),
			{
				Name: "primary_email", Validators: []validator.String{customtype.EmailAddressType{}.Validator()},
				MarkdownDescription: "Address of the mailbox, such as `jane@example.com`. Give it or `id`.",
			},
		},
		Get: (*client.Client).GetMailbox,
		Find: func(ctx context.Context, c *client.Client, by service.Given) (*api.Mailbox, error) {
			return c.FindMailbox(ctx, by["primary_email"])
		},
	}, "A mailbox that exists, by its UUID or its address.")
}

// NewDataSources returns data.mailhost_mailboxes.
func NewDataSources() datasource.DataSource {
	return service.NewPlural(object, "The mailboxes of the account, or those of them that every filter lets through.")
}

// NewListResource returns the list resource mailhost_mailbox.
func NewListResource() list.ListResource {
	return service.NewListResource(object, service.Listed[api.Mailbox, record]{
		ID:          func(m *api.Mailbox) string { return m.ID },
		DisplayName: func(m *api.Mailbox) string { return m.PrimaryEmail },
		Model:       func(r record) any { return &model{record: r, Timeouts: service.NoTimeouts()} },
	}, "Lists the mailboxes of the account, or those of them that every filter lets through.")
}
