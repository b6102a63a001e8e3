// Package mailbox has the resource mailhost_mailbox, its data sources and its list
// resource, and the export of mailboxes: as a data source, and as an action that
// writes a file.
package mailbox

import (
	"context"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var Definition = &service.Definition[api.Mailbox, model]{
	Name: "mailbox",
	Collection: service.Collection[api.Mailbox]{
		Names: "mailboxes", Noun: "mailbox", Nouns: "mailboxes",
		Attributes: attributes,
		Described: map[string]string{
			"domain":     "Name of the domain, as `domain_name`.",
			"local_part": "Part of the address before the @, in lower case.",
		},
		Filters: []service.Filter{
			service.DomainFilter("mailboxes"),
			service.WorkspaceFilter("mailboxes"),
			service.NewFilter("status", "Only the mailboxes in this state: `provisioning`, `active`, `paused` or `deleting`.",
				validate.OneOf[api.ListMailboxesRequest]("status")),
			service.SearchFilter("mailboxes", "their address or the person's name"),
		},
		List: service.Listed((*client.Client).ListMailboxes),
	},
	ID:       func(m *api.Mailbox) string { return m.ID },
	Get:      (*client.Client).GetMailbox,
	Flatten:  (*model).flatten,
	Find:     (*client.Client).FindMailbox,
	ImportBy: "address, such as jane@example.com, or by UUID",
	Managing: service.Managing{
		ResourceDescription: "A mailbox of a domain. Its address can't be changed: changing `domain` or `local_part` replaces the mailbox, and its mail is lost. A plan with `-replace`, or with a tainted mailbox, fails: run `terraform untaint`.",
		Volatile:            []string{"updated_at"},
		Settings:            settings,
		NaturalKeys: func(of service.Attributes) []string {
			part, err := customtype.LocalPart.Normalize(of.Text("local_part"))
			if err != nil {
				return nil
			}
			return service.DomainKeys(of.Text, part+"@")
		},
		Known:         known,
		ReplacedBy:    []string{"domain", "local_part"},
		IsValuable:    true,
		CreateTimeout: 20 * time.Minute,
	},
	Delete:          (*client.Client).DeleteMailbox,
	DeleteOperation: api.DeleteMailbox.Spec,
	Orphaned: func(context.Context, *client.Client, model) string {
		return "It keeps receiving mail, and it is still paid for."
	},
	Single: service.Single[api.Mailbox]{
		Description: "A mailbox that exists, by its UUID or its address.",
		Keys: []service.Filter{
			service.IDKey("mailbox", "`primary_email`"),
			service.NewFilter("primary_email", "Address of the mailbox, such as `jane@example.com`. Set it or `id`.",
				customtype.EmailAddress.Validator()),
		},
	},
	Listing: service.Listing[api.Mailbox, model]{
		DisplayName: func(m *api.Mailbox) string { return m.PrimaryEmail },
	},
}
