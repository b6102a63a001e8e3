package mailbox

import (
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":     service.ComputedString("UUID of the mailbox."),
		"domain": service.Domain("domain_id", "Domain of the mailbox", "Changing it replaces the mailbox."),
		"local_part": schema.StringAttribute{
			Required:            true,
			CustomType:          customtype.LocalPart,
			PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			MarkdownDescription: "Part of the address before the @, an RFC 5321 dot-atom. It is case-insensitive. Changing it replaces the mailbox.",
		},
		"first_name": schema.StringAttribute{
			Required:            true,
			Validators:          []validator.String{validate.Length[api.CreateMailboxBody]("first_name")},
			MarkdownDescription: "First name of the person.",
		},
		"last_name": schema.StringAttribute{
			Required:            true,
			Validators:          []validator.String{validate.Length[api.CreateMailboxBody]("last_name")},
			MarkdownDescription: "Last name of the person.",
		},
		"domain_id":     service.ComputedString("UUID of the domain."),
		"domain_name":   service.ComputedString("Name of the domain, in ASCII."),
		"primary_email": service.ComputedString("Address of the mailbox."),
		"status":        service.ComputedString("State of the mailbox: provisioning, active, paused or deleting."),
		"quota": schema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Storage of the mailbox, with the usage at the last refresh.",
			Attributes: map[string]schema.Attribute{
				"allowed": schema.Int64Attribute{Computed: true, MarkdownDescription: "Maximum size in bytes."},
				"used":    schema.Int64Attribute{Computed: true, MarkdownDescription: "Used size in bytes."},
			},
		},
		"aliases": schema.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Further addresses of the mailbox.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"alias":        service.ComputedString("The address."),
				"is_catch_all": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether it receives all mail of the domain that no mailbox receives."},
			}},
		},
		"workspace_id":   service.ComputedString("UUID of the domain's workspace."),
		"workspace_name": service.ComputedString("Name of the domain's workspace."),
		"created_at":     service.ComputedString("When the mailbox was created (RFC 3339)."),
		"updated_at":     service.ComputedString("When the mailbox was last changed (RFC 3339)."),
	}
}

func settings() map[string]schema.Attribute {
	return map[string]schema.Attribute{"on_existing": service.OnExisting("a mailbox with this address", "sets its names")}
}

type model struct {
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
	return m.LocalPart.ValueString() + "@" + m.Domain.ValueString()
}

// flatten sets the model from a response. The domain keeps its configured form.
func (m *model) flatten(b *api.Mailbox) {
	service.Flatten(m, b)
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
		FirstName: service.Changed(m.FirstName, state.FirstName),
		LastName:  service.Changed(m.LastName, state.LastName),
	}
}

// keepPlanned restores the planned values of attributes that change without Terraform.
// The next refresh reads them.
func (m *model) keepPlanned(plan model) {
	m.Status, m.Quota, m.Aliases, m.WorkspaceID, m.WorkspaceName = plan.Status, plan.Quota, plan.Aliases, plan.WorkspaceID, plan.WorkspaceName
}
