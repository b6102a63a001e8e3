// Package mailboxset provides the resource mailhost_mailbox_set: mailboxes of one domain as a
// map in one resource, for accounts with more mailboxes than Terraform handles well as
// single resources.
//
// A set manages the entries of its map and nothing else in its domain. The state contains the
// id of each mailbox, so that a mailbox is only changed or deleted if the id still belongs to the
// address of its key. Keys are compared in the form that the API stores (lower case).
//
//	plan of                          the set
//	a key that the state lacks       creates the mailbox; if it exists, refuses or adopts it
//	other names                      changes them in place
//	no key for an entry of the state deletes the mailbox, at most max_deletions of them
//	the same after an import         releases the mailbox: it stays, and becomes unmanaged
//
// The planned values depend only on the configuration and the state, because Terraform plans
// again in the apply, and both plans must be equal. Other responses of the API lead to warnings
// and errors only.
//
// The large attributes are compact (see package compact).
package mailboxset

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/compact"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
)

// Definition describes a set. Its object in the API is the domain.
var Definition = &service.Definition[api.Domain, model]{
	Name: "mailbox_set",
	Collection: service.Collection[api.Domain]{
		Noun: "mailbox set", Nouns: "mailbox sets", Attributes: attributes,
		List: service.Listed((*client.Client).ListDomains),
	},
	Flatten:  (*model).setDomain,
	Find:     (*client.Client).FindDomain,
	ImportBy: "the name of the domain, such as example.com, or by its UUID",
	Validate: validateConfig,
	ResourceDescription: "Mailboxes of one domain, as a map. Use it in place of many `mailhost_mailbox` resources: thousands of mailboxes are one resource, which Terraform plans and applies in a fraction of the time.\n\n" +
		"The set never changes or deletes a mailbox that is not in its map. Those are in `unmanaged`.",
	Settings:      settings,
	Volatile:      []string{"addresses", "ids", "unmanaged"},
	CreateTimeout: 20 * time.Minute,
	ImportNotes:   map[string]any{importedKey: true},
	Losses:        losses,
	ReplacedBy:    []string{"domain"},
	IsValuable:    true,
	Shared:        true,
	Listing: service.Listing[api.Domain, model]{
		Note: "Each domain is one set, with all of its mailboxes.",
		Imported: func(ctx context.Context, c *client.Client, m *model) error {
			l, err := list(ctx, c, m.ID.ValueString())
			if err == nil {
				m.set(l.contents())
			}
			return err
		},
	},
}

var (
	textsType     = tftypes.Map{ElementType: tftypes.String}
	addressesType = tftypes.List{ElementType: tftypes.String}
)

func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":          attribute.ComputedString("UUID of the domain."),
		"domain":      attribute.Domain("Domain of the mailboxes", "Changing it replaces the set: it deletes every mailbox of the set, as far as `max_deletions` allows, and creates them in the other domain."),
		"domain_name": attribute.ComputedString("Name of the domain, in ASCII."),
		"mailboxes": schema.StringAttribute{
			Required:   true,
			CustomType: compact.Type{Wire: tftypes.DynamicPseudoType, Partial: true},
			MarkdownDescription: "The mailboxes, as a map or an object: from the part of the address before the @ (an RFC 5321 dot-atom, case-insensitive) to `{ first_name, last_name }`, the names of the person, each 1 to 100 characters long. " +
				"Adding an entry creates a mailbox, changed names are changed in place, and removing an entry deletes the mailbox. A changed key is a removed and an added entry.",
		},
		"addresses": schema.StringAttribute{Computed: true, CustomType: compact.Type{Wire: textsType}, MarkdownDescription: "Address of each mailbox, by the key in `mailboxes`."},
		"ids":       schema.StringAttribute{Computed: true, CustomType: compact.Type{Wire: textsType}, MarkdownDescription: "UUID of each mailbox, by the key in `mailboxes`."},
		"unmanaged": schema.StringAttribute{
			Computed: true, CustomType: compact.Type{Wire: addressesType},
			MarkdownDescription: "Addresses of the mailboxes in the domain that are not in `mailboxes`, also if another set or a `mailhost_mailbox` manages them, in alphabetical order, as of the last refresh. The set does not change or delete them.",
		},
	}
}

func settings() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"max_deletions": schema.Int64Attribute{
			Optional:            true,
			Validators:          []validator.Int64{int64validator.AtLeast(0)},
			MarkdownDescription: "How many mailboxes a plan may delete that `retired` does not name. A plan that deletes more is an error that names them. For a destroy of the set or a change of `domain`, the value of the last apply counts: change it in an apply of its own first. Default: `0`.",
		},
		"retired": schema.MapAttribute{
			Optional:    true,
			ElementType: types.StringType,
			Validators:  []validator.Map{mapvalidator.KeysAre(customtype.LocalPart.Validator())}, // the values: checkRetired
			MarkdownDescription: "Entries that may leave `mailboxes`, by key: `\"delete\"` deletes the mailbox, without counting for `max_deletions`; `\"keep\"` leaves it in the domain without this set, so that another set or a `mailhost_mailbox` can take it over in the same apply, with `on_existing = \"adopt\"` or an `import` block. " +
				"Remove a key after the apply: when somebody gets the address again, it would retire that mailbox too, and each plan warns of it. For a destroy of the set or a change of `domain`, the value of the last apply counts.",
		},
		"on_existing": service.OnExisting[entry]("a mailbox", ""),
	}
}
