// Package mailbox provides the resource mailhost_mailbox, its data sources and its list
// resource, and the export of mailboxes: as a data source, and as an action that
// writes a file.
package mailbox

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
)

var Definition = &service.Definition[api.Mailbox, model]{
	Name: "mailbox",
	Collection: service.Collection[api.Mailbox]{
		Names: "mailboxes", Noun: "mailbox", Nouns: "mailboxes",
		Attributes: attributes,
		List:       service.Listed((*client.Client).ListMailboxes),
	},
	Objects:             func(c *client.Client) *client.Objects[api.Mailbox] { return c.Mailboxes },
	Flatten:             (*model).flatten,
	Find:                (*client.Client).FindMailbox,
	ImportBy:            "address, such as jane@example.com, or by UUID",
	ResourceDescription: "A mailbox of a domain. Its address can't be changed: changing `domain` or `local_part` replaces the mailbox, and its mail is lost. A plan with `-replace`, or with a tainted mailbox, fails: run `terraform untaint`.",
	Volatile:            []string{"updated_at"},
	Settings:            settings,
	NaturalKeys: func(of attribute.Raw) []string {
		part, err := customtype.LocalPart.Normalize(of.Text("local_part"))
		if err != nil {
			return nil
		}
		return attribute.DomainKeys(of.Text, part+"@")
	},
	PlannedValues:   plannedValues,
	ReplacedBy:      []string{"domain", "local_part"},
	IsValuable:      true,
	CreateTimeout:   20 * time.Minute,
	Losses:          losses,
	DeleteOperation: api.DeleteMailbox.Spec,
	OrphanConsequence: func(context.Context, *client.Client, model) string {
		return "It keeps receiving mail, and it is still paid for."
	},
	Single: service.Single[api.Mailbox]{
		Description: "A mailbox that exists, by its UUID or its address.",
		Keys: []attribute.Filter{
			attribute.IDKey("mailbox", "`primary_email`"),
			attribute.NewFilter("primary_email", "Address of the mailbox, such as `jane@example.com`. Set it or `id`.",
				customtype.EmailAddress.Validator()),
		},
	},
}

func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"domain": attribute.Domain("Domain of the mailbox", "Changing it replaces the mailbox."),
		"local_part": schema.StringAttribute{
			Required:            true,
			CustomType:          customtype.LocalPart,
			MarkdownDescription: "Part of the address before the @, an RFC 5321 dot-atom. It is case-insensitive. Changing it replaces the mailbox.",
		},
		"first_name": attribute.Argument[api.CreateMailboxBody]("first_name", "First name of the person."),
		"last_name":  attribute.Argument[api.CreateMailboxBody]("last_name", "Last name of the person."),
	}
}

func settings() map[string]schema.Attribute {
	return map[string]schema.Attribute{"on_existing": service.OnExisting[api.UpdateMailboxBody]("a mailbox with this address", "")}
}

type model struct {
	service.InDomain

	ID            types.String      `tfsdk:"id"`
	Domain        customtype.String `tfsdk:"domain"`
	LocalPart     customtype.String `tfsdk:"local_part"`
	FirstName     types.String      `tfsdk:"first_name"`
	LastName      types.String      `tfsdk:"last_name"`
	DomainID      types.String      `tfsdk:"domain_id"`
	DomainName    types.String      `tfsdk:"domain_name"`
	PrimaryEmail  types.String      `tfsdk:"primary_email"`
	Status        types.String      `tfsdk:"status"`
	Quota         types.Object      `tfsdk:"quota"`
	Aliases       types.List        `tfsdk:"aliases"`
	WorkspaceID   types.String      `tfsdk:"workspace_id"`
	WorkspaceName types.String      `tfsdk:"workspace_name"`
	CreatedAt     types.String      `tfsdk:"created_at"`
	UpdatedAt     types.String      `tfsdk:"updated_at"`
	OnExisting    types.String      `tfsdk:"on_existing"`
	Timeouts      timeouts.Value    `tfsdk:"timeouts"`
}

func (m model) String() string { return "mailbox " + m.address() }

func (m model) address() string {
	if m.PrimaryEmail.ValueString() != "" {
		return m.PrimaryEmail.ValueString()
	}
	part := m.LocalPart.ValueString()
	if canonical, err := customtype.LocalPart.Normalize(part); err == nil {
		part = canonical
	}
	return part + "@" + m.DomainLabel(m.Domain.ValueString())
}

// aliases returns the further addresses of the mailbox.
func (m model) aliases() (addresses []string) {
	for _, alias := range m.Aliases.Elements() {
		if o, ok := alias.(types.Object); ok {
			address, _ := o.Attributes()["alias"].(types.String)
			addresses = append(addresses, address.ValueString())
		}
	}
	return addresses
}

// flatten sets the model from a response. The domain keeps its configured form.
func (m *model) flatten(b *api.Mailbox) {
	attribute.Flatten(m, b)
	m.Domain = customtype.KeepDomainRef(m.Domain, b.DomainID, b.DomainName)
}

func (m model) expandCreate() api.CreateMailboxBody {
	return api.CreateMailboxBody{
		Domain: m.Domain.ValueString(), LocalPart: m.LocalPart.ValueString(),
		FirstName: m.FirstName.ValueString(), LastName: m.LastName.ValueString(),
	}
}

func (m model) expandUpdate(state model) api.UpdateMailboxBody {
	return api.UpdateMailboxBody{
		FirstName: attribute.Changed(m.FirstName, state.FirstName, m.FirstName.ValueStringPointer()),
		LastName:  attribute.Changed(m.LastName, state.LastName, m.LastName.ValueStringPointer()),
	}
}
