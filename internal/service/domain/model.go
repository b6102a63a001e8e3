package domain

import (
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// model is the resource as Terraform keeps it.
type model struct {
	record

	ContactInfo types.Object   `tfsdk:"contact_info"`
	OnExisting  types.String   `tfsdk:"on_existing"`
	Acquisition types.String   `tfsdk:"acquisition"`
	Timeouts    timeouts.Value `tfsdk:"timeouts"`
}

// record is what the API says of a domain.
type record struct {
	ID                      types.String           `tfsdk:"id"`
	Name                    customtype.DomainName  `tfsdk:"name"`
	WorkspaceID             customtype.UUID        `tfsdk:"workspace_id"`
	AutoRenew               types.Bool             `tfsdk:"auto_renew"`
	RedirectURL             customtype.RedirectURL `tfsdk:"redirect_url"`
	Status                  types.String           `tfsdk:"status"`
	OutboundRoutingReady    types.Bool             `tfsdk:"outbound_routing_ready"`
	DedicatedIPID           types.String           `tfsdk:"dedicated_ip_id"`
	InboundTenantID         types.String           `tfsdk:"inbound_tenant_id"`
	InboundTenantExternalID types.String           `tfsdk:"inbound_tenant_external_id"`
	InboundTenantName       types.String           `tfsdk:"inbound_tenant_name"`
	InboundTenantType       types.String           `tfsdk:"inbound_tenant_type"`
	RedirectMode            types.String           `tfsdk:"redirect_mode"`
	Tags                    types.List             `tfsdk:"tags"`
	CreatedAt               types.String           `tfsdk:"created_at"`
	UpdatedAt               types.String           `tfsdk:"updated_at"`
}

var tagType = types.ObjectType{AttrTypes: map[string]attr.Type{"id": types.StringType, "name": types.StringType}}

// canonicalName is the name in the API's spelling.
func (m record) canonicalName() string { return canonical(m.Name.ValueString()) }

// canonical returns a domain's name in the API's spelling.
func canonical(name string) string {
	normal, err := customtype.Normalize[customtype.DomainName](name)
	if err != nil {
		return name // the API's message says what is wrong with it
	}
	return normal
}

// fill takes over what the API says of the domain.
func (m *record) fill(d *api.Domain) {
	m.ID = types.StringValue(d.ID)
	m.Name = customtype.New[customtype.DomainName](d.Name)
	m.WorkspaceID = customtype.NewPointer[customtype.UUID](given(&d.WorkspaceID))
	m.AutoRenew = types.BoolValue(d.AutoRenew)
	m.RedirectURL = customtype.NewPointer[customtype.RedirectURL](given(d.RedirectURL))
	m.Status = types.StringValue(d.Status)
	m.OutboundRoutingReady = types.BoolValue(d.OutboundRoutingReady)
	m.DedicatedIPID = types.StringPointerValue(d.DedicatedIPID)
	m.InboundTenantID = types.StringPointerValue(d.InboundTenantID)
	m.InboundTenantExternalID = types.StringPointerValue(d.InboundTenantExternalID)
	m.InboundTenantName = types.StringPointerValue(d.InboundTenantName)
	m.InboundTenantType = types.StringPointerValue(d.InboundTenantType)
	m.RedirectMode = types.StringPointerValue(given(d.RedirectMode))
	tags := make([]attr.Value, len(d.Tags))
	for i, t := range d.Tags {
		tags[i] = types.ObjectValueMust(tagType.AttrTypes, map[string]attr.Value{
			"id": types.StringValue(t.ID), "name": types.StringValue(t.Name),
		})
	}
	m.Tags = types.ListValueMust(tagType, tags)
	m.CreatedAt = types.StringPointerValue(given(&d.CreatedAt))
	m.UpdatedAt = types.StringPointerValue(given(&d.UpdatedAt))
}

// given returns p, or nil where it points to nothing worth telling.
func given(p *string) *string {
	if p == nil || *p == "" {
		return nil
	}
	return p
}

// keepPlanned takes back what the plan promised. That the API says otherwise is
// for the next refresh to tell: an error here would make Terraform replace a
// domain that has just been paid for.
func (m *model) keepPlanned(plan model) {
	m.Name, m.AutoRenew, m.RedirectURL = plan.Name, plan.AutoRenew, plan.RedirectURL
	if !plan.WorkspaceID.IsUnknown() {
		m.WorkspaceID = plan.WorkspaceID
	}
}

// fillSettings takes over the answer to an update.
func (m *record) fillSettings(s *api.DomainSettings) {
	if s.WorkspaceID != "" {
		m.WorkspaceID = customtype.New[customtype.UUID](s.WorkspaceID)
	}
	m.AutoRenew = types.BoolValue(s.AutoRenew)
	m.RedirectURL = customtype.NewPointer[customtype.RedirectURL](given(s.RedirectURL))
}

// changes returns the update that leads from other to m: what means the same,
// and what m does not say, is not in it.
func (m record) changes(other record) api.UpdateDomainBody {
	var body api.UpdateDomainBody
	if id := m.WorkspaceID; !id.IsUnknown() && !customtype.Equal[customtype.UUID](id.ValueString(), other.WorkspaceID.ValueString()) {
		body.WorkspaceID = id.ValueStringPointer()
	}
	if !m.AutoRenew.Equal(other.AutoRenew) {
		body.AutoRenew = m.AutoRenew.ValueBoolPointer()
	}
	if url := m.RedirectURL; !customtype.Equal[customtype.RedirectURL](url.ValueString(), other.RedirectURL.ValueString()) {
		body.RedirectURL = api.NullableFrom(url.ValueStringPointer())
	}
	return body
}

// sameSettings reports whether nothing that an update sends differs, or may.
func (m record) sameSettings(other record) bool {
	return m.WorkspaceID.Equal(other.WorkspaceID) && m.AutoRenew.Equal(other.AutoRenew) && m.RedirectURL.Equal(other.RedirectURL)
}
