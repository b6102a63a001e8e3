package mailbox

import (
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

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
