// Package mailboxset has the resource mailhost_mailbox_set: mailboxes of one domain as a
// map in one resource, for accounts with more mailboxes than Terraform handles well as
// single resources.
//
// A set manages the entries of its map and nothing else in its domain. The state has the
// id of each mailbox, so that a mailbox is only changed or deleted if it still has the
// address of its key. Keys are compared in the form that the API stores (lower case).
//
//	plan of                          the set
//	a key that the state lacks       creates the mailbox, or refuses or adopts one that exists
//	other names                      changes them in place
//	no key for an entry of the state deletes the mailbox, at most max_deletions of them
//	the same after an import         releases the mailbox: it stays, and becomes unmanaged
//
// What a plan contains depends only on the configuration and the state, because Terraform
// plans again in the apply, and both plans must be equal. What the API says beyond that
// leads to warnings and errors only.
//
// The large attributes are compact (see package compact).
package mailboxset

import (
	"context"
	"time"

	frameworklist "github.com/hashicorp/terraform-plugin-framework/list"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

func NewListResource() frameworklist.ListResource { return definition.ListResource() }

// definition describes a set. Its object in the API is the domain.
var definition = &service.Definition[api.Domain, model]{
	Name: "mailbox_set",
	Collection: service.Collection[api.Domain]{
		Noun: "mailbox set", Nouns: "mailbox sets", Attributes: attributes,
		Filters: service.DomainFilters(), List: service.Listed((*client.Client).ListDomains),
	},
	ID:       func(d *api.Domain) string { return d.ID },
	Flatten:  (*model).setDomain,
	Find:     (*client.Client).FindDomain,
	ImportBy: "the name of the domain, such as example.com, or by its UUID",
	Managing: service.Managing{
		ResourceDescription: "Mailboxes of one domain, as a map. Use it in place of many `mailhost_mailbox` resources: thousands of mailboxes are one resource, which Terraform plans and applies in a fraction of the time.\n\n" +
			"The set never changes or deletes a mailbox that is not in its map. Those are in `unmanaged`.",
		Settings:      settings,
		Volatile:      []string{"addresses", "ids", "unmanaged"},
		CreateTimeout: 20 * time.Minute,
		Shared:        true,
	},
	Listing: service.Listing[api.Domain, model]{
		Note:        "Each domain is one set, with all of its mailboxes.",
		DisplayName: func(d *api.Domain) string { return d.Name },
		Imported: func(ctx context.Context, c *client.Client, m *model) error {
			l, err := list(ctx, c, m.ID.ValueString())
			if err == nil {
				m.set(l.contents())
			}
			return err
		},
	},
}
