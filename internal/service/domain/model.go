package domain

import (
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

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
	// The rest is only in the configuration and in the state.
	ContactInfo types.Object `tfsdk:"contact_info"`
	OnExisting  types.String `tfsdk:"on_existing"`
	Acquisition types.String `tfsdk:"acquisition"`
	// PurchasePrice is what the plan of the purchase has shown.
	PurchasePrice types.String   `tfsdk:"purchase_price"`
	Timeouts      timeouts.Value `tfsdk:"timeouts"`
}

func (m model) String() string { return "domain " + m.display() }

func (m model) canonicalName() string { return canonical(m.Name.ValueString()) }

// canonical returns a domain's name in the API's spelling.
func canonical(name string) string {
	normal, err := customtype.DomainName.Normalize(name)
	if err != nil {
		return name // the API reports what is wrong with it
	}
	return normal
}

// naturalKeys returns the name of a domain. A domain that the registry has refused may be
// deleted and bought again.
func naturalKeys(of service.Attributes) []string {
	if name := of.Text("name"); name != "" && of.Text("status") != vocab.DomainFailed {
		return []string{canonical(name)}
	}
	return nil
}

// flatten sets the model from a response. The response to a purchase has only a few
// fields; the others become null.
func (m *model) flatten(d *api.Domain) {
	service.Flatten(m, d)
	m.WorkspaceID = customtype.NewPointer(nonEmpty(&d.WorkspaceID))
	m.RedirectURL = customtype.NewPointer(nonEmpty(d.RedirectURL))
	m.RedirectMode = types.StringPointerValue(nonEmpty(d.RedirectMode))
	m.CreatedAt = types.StringPointerValue(nonEmpty(&d.CreatedAt))
	m.UpdatedAt = types.StringPointerValue(nonEmpty(&d.UpdatedAt))
}

func nonEmpty(p *string) *string {
	if p == nil || *p == "" {
		return nil
	}
	return p
}

// keepPlanned restores the planned values. The next refresh shows a difference to the
// API: an error here would make Terraform replace a domain that has just been paid
// for, or blame the provider for what somebody else changed during the apply.
func (m *model) keepPlanned(plan model) {
	m.Name, m.AutoRenew, m.RedirectURL = plan.Name, plan.AutoRenew, plan.RedirectURL
	if !plan.WorkspaceID.IsUnknown() {
		m.WorkspaceID = plan.WorkspaceID
	}
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
