package domain

import (
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// resourceModel is the model of the resource: model, and what only the configuration
// and the state have.
type resourceModel struct {
	model

	ContactInfo types.Object   `tfsdk:"contact_info"`
	OnExisting  types.String   `tfsdk:"on_existing"`
	Acquisition types.String   `tfsdk:"acquisition"`
	Timeouts    timeouts.Value `tfsdk:"timeouts"`
}

// model has the attributes of a domain in the API, which the data sources return.
type model struct {
	ID                      types.String      `tfsdk:"id"`
	Name                    customtype.String `tfsdk:"name"`
	WorkspaceID             customtype.String `tfsdk:"workspace_id"`
	AutoRenew               types.Bool        `tfsdk:"auto_renew"`
	RedirectURL             customtype.String `tfsdk:"redirect_url"`
	Status                  types.String      `tfsdk:"status"`
	OutboundRoutingReady    types.Bool        `tfsdk:"outbound_routing_ready"`
	DedicatedIPID           types.String      `tfsdk:"dedicated_ip_id"`
	InboundTenantID         types.String      `tfsdk:"inbound_tenant_id"`
	InboundTenantExternalID types.String      `tfsdk:"inbound_tenant_external_id"`
	InboundTenantName       types.String      `tfsdk:"inbound_tenant_name"`
	InboundTenantType       types.String      `tfsdk:"inbound_tenant_type"`
	RedirectMode            types.String      `tfsdk:"redirect_mode"`
	Tags                    types.List        `tfsdk:"tags"`
	CreatedAt               types.String      `tfsdk:"created_at"`
	UpdatedAt               types.String      `tfsdk:"updated_at"`
}

var tagType = types.ObjectType{AttrTypes: map[string]attr.Type{"id": types.StringType, "name": types.StringType}}

// canonicalName returns the name in the API's spelling.
func (m model) canonicalName() string { return canonical(m.Name.ValueString()) }

// canonical returns a domain's name in the API's spelling.
func canonical(name string) string {
	normal, err := customtype.DomainName.Normalize(name)
	if err != nil {
		return name // the API reports what is wrong with it
	}
	return normal
}

// flatten sets the model from the domain.
func (m *model) flatten(d *api.Domain) {
	m.ID = types.StringValue(d.ID)
	m.Name = customtype.New(d.Name)
	m.WorkspaceID = customtype.NewPointer(nonEmpty(&d.WorkspaceID))
	m.AutoRenew = types.BoolValue(d.AutoRenew)
	m.RedirectURL = customtype.NewPointer(nonEmpty(d.RedirectURL))
	m.Status = types.StringValue(d.Status)
	m.OutboundRoutingReady = types.BoolValue(d.OutboundRoutingReady)
	m.DedicatedIPID = types.StringPointerValue(d.DedicatedIPID)
	m.InboundTenantID = types.StringPointerValue(d.InboundTenantID)
	m.InboundTenantExternalID = types.StringPointerValue(d.InboundTenantExternalID)
	m.InboundTenantName = types.StringPointerValue(d.InboundTenantName)
	m.InboundTenantType = types.StringPointerValue(d.InboundTenantType)
	m.RedirectMode = types.StringPointerValue(nonEmpty(d.RedirectMode))
	tags := make([]attr.Value, len(d.Tags))
	for i, t := range d.Tags {
		tags[i] = types.ObjectValueMust(tagType.AttrTypes, map[string]attr.Value{
			"id": types.StringValue(t.ID), "name": types.StringValue(t.Name),
		})
	}
	m.Tags = types.ListValueMust(tagType, tags)
	m.CreatedAt = types.StringPointerValue(nonEmpty(&d.CreatedAt))
	m.UpdatedAt = types.StringPointerValue(nonEmpty(&d.UpdatedAt))
}

// nonEmpty returns p, or nil if it points to "".
func nonEmpty(p *string) *string {
	if p == nil || *p == "" {
		return nil
	}
	return p
}

// keepPlanned restores the planned values. The next refresh shows a difference to the
// API: an error here would make Terraform replace a domain that has just been paid
// for, or blame the provider for what somebody else changed during the apply.
func (m *resourceModel) keepPlanned(plan resourceModel) {
	m.Name, m.AutoRenew, m.RedirectURL = plan.Name, plan.AutoRenew, plan.RedirectURL
	if !plan.WorkspaceID.IsUnknown() {
		m.WorkspaceID = plan.WorkspaceID
	}
}

// flattenSettings sets the model from the response to an update.
func (m *model) flattenSettings(s *api.DomainSettings) {
	if s.WorkspaceID != "" {
		m.WorkspaceID = customtype.New(s.WorkspaceID)
	}
	m.AutoRenew = types.BoolValue(s.AutoRenew)
	m.RedirectURL = customtype.NewPointer(nonEmpty(s.RedirectURL))
}

// changes returns the update that changes other to m. It omits equal values and those
// that are unknown in m.
func (m model) changes(other model) api.UpdateDomainBody {
	var body api.UpdateDomainBody
	if id := m.WorkspaceID; !id.IsUnknown() && !customtype.UUID.Same(id.ValueString(), other.WorkspaceID.ValueString()) {
		body.WorkspaceID = id.ValueStringPointer()
	}
	if !m.AutoRenew.Equal(other.AutoRenew) {
		body.AutoRenew = m.AutoRenew.ValueBoolPointer()
	}
	if url := m.RedirectURL; !customtype.RedirectURL.Same(url.ValueString(), other.RedirectURL.ValueString()) {
		body.RedirectURL = api.NullableFrom(url.ValueStringPointer())
	}
	return body
}

// sameSettings reports whether an update has nothing to send.
func (m model) sameSettings(other model) bool {
	return m.WorkspaceID.Equal(other.WorkspaceID) && m.AutoRenew.Equal(other.AutoRenew) && m.RedirectURL.Equal(other.RedirectURL)
}
