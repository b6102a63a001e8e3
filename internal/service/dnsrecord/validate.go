package dnsrecord

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// ValidateConfig implements resource.ResourceWithValidateConfig: it checks
// attributes that depend on each other, if both are known.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	config.checkName(&resp.Diagnostics)
	config.checkValue(&resp.Diagnostics)
	config.checkPriority(&resp.Diagnostics)
}

// checkName checks the name in its zone. The attribute's own validator reports
// everything else.
func (m model) checkName(diags *diag.Diagnostics) {
	name, zone := m.Name.ValueString(), ZoneName(m.Domain.ValueString())
	if zone == "" || dnsdata.ValidateName(name) != nil {
		return
	}
	if _, err := dnsdata.NormalizeName(name, zone); err != nil {
		service.AddInvalidValue(diags, "name", err)
	}
}

func (m model) checkValue(diags *diag.Diagnostics) {
	if m.Value.IsNull() || m.Value.IsUnknown() || m.typeIsInvalid() {
		return
	}
	value := m.Value.ValueString()
	if m.Type.IsUnknown() {
		if _, err := customtype.DNSValue.Normalize(value); err != nil {
			service.AddInvalidValue(diags, "value", err)
		}
		return
	}
	if _, err := dnsdata.NormalizeValue(m.Type.ValueString(), value); err != nil {
		service.AddInvalidValue(diags, "value", err)
	}
}

func (m model) checkPriority(diags *diag.Diagnostics) {
	if m.Priority.IsUnknown() || m.Type.IsUnknown() || m.typeIsInvalid() {
		return
	}
	p := api.CheckPriority(m.Type.ValueString(), !m.Priority.IsNull())
	switch {
	case p == nil:
	case p.Type == api.TypeMissing:
		diags.AddAttributeError(path.Root("priority"), "Missing priority",
			fmt.Sprintf("A record of the type %s needs a priority, for instance priority = 10. The record with the lowest priority comes first.", m.Type.ValueString()))
	default:
		service.AddInvalidValue(diags, "priority", errors.New(p.Msg))
	}
}

// typeIsInvalid reports whether the attribute's own validator refused the type.
func (m model) typeIsInvalid() bool {
	_, err := dnsdata.NormalizeType(m.Type.ValueString())
	return !m.Type.IsUnknown() && err != nil
}
