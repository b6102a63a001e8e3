package mailbox

import (
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// resourceModel is the model of the resource: model and timeouts.
type resourceModel struct {
	model

	Timeouts timeouts.Value `tfsdk:"timeouts"`
}

// model has the attributes of a mailbox in the API, which the data sources return. Its
// domain keeps the configured form.
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
}

var (
	quotaType = map[string]attr.Type{"allowed": types.Int64Type, "used": types.Int64Type}
	aliasType = types.ObjectType{AttrTypes: map[string]attr.Type{"alias": types.StringType, "is_catch_all": types.BoolType}}
)

// address names the mailbox in messages.
func (m model) address() string {
	if m.PrimaryEmail.ValueString() != "" {
		return m.PrimaryEmail.ValueString()
	}
	return m.LocalPart.ValueString() + "@" + m.Domain.ValueString()
}

// flatten sets the model from the mailbox.
func (m *model) flatten(b *api.Mailbox) {
	m.ID = types.StringValue(b.ID)
	m.Domain = customtype.KeepDomainRef(m.Domain, b.DomainID, b.DomainName)
	m.LocalPart = customtype.New(b.LocalPart)
	m.FirstName = types.StringValue(b.FirstName)
	m.LastName = types.StringValue(b.LastName)
	m.DomainID = types.StringValue(b.DomainID)
	m.DomainName = types.StringValue(b.DomainName)
	m.PrimaryEmail = types.StringValue(b.PrimaryEmail)
	m.Status = types.StringValue(b.Status)
	m.Quota = types.ObjectValueMust(quotaType, map[string]attr.Value{
		"allowed": types.Int64Value(b.Quota.Allowed), "used": types.Int64Value(b.Quota.Used),
	})
	aliases := make([]attr.Value, len(b.Aliases))
	for i, a := range b.Aliases {
		aliases[i] = types.ObjectValueMust(aliasType.AttrTypes, map[string]attr.Value{
			"alias": types.StringValue(a.Alias), "is_catch_all": types.BoolValue(a.IsCatchAll),
		})
	}
	m.Aliases = types.ListValueMust(aliasType, aliases)
	m.WorkspaceID = types.StringPointerValue(b.WorkspaceID)
	m.WorkspaceName = types.StringPointerValue(b.WorkspaceName)
	m.CreatedAt = types.StringValue(b.CreatedAt)
	m.UpdatedAt = types.StringValue(b.UpdatedAt)
}

// keepPlanned restores the planned values of attributes that change without Terraform.
// The next refresh reads them.
func (m *resourceModel) keepPlanned(plan resourceModel) {
	m.Status, m.Quota, m.Aliases, m.WorkspaceID, m.WorkspaceName = plan.Status, plan.Quota, plan.Aliases, plan.WorkspaceID, plan.WorkspaceName
}
