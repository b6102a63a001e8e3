package dnsrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

type model struct {
	ID              types.String      `tfsdk:"id"`
	Domain          customtype.String `tfsdk:"domain"`
	Name            customtype.String `tfsdk:"name"`
	Type            types.String      `tfsdk:"type"`
	Value           customtype.String `tfsdk:"value"`
	TTL             types.Int64       `tfsdk:"ttl"`
	Priority        types.Int64       `tfsdk:"priority"`
	IsSystemManaged types.Bool        `tfsdk:"is_system_managed"`
	DomainID        types.String      `tfsdk:"domain_id"`
	DomainName      types.String      `tfsdk:"domain_name"`
	FQDN            types.String      `tfsdk:"fqdn"`
	OnExisting      types.String      `tfsdk:"on_existing"`
}

func (m model) String() string {
	if m.Type.ValueString() == "" { // an import found no record
		return "DNS record " + m.ID.ValueString()
	}
	return fmt.Sprintf("%s record %s of %s", m.Type.ValueString(), m.Name.ValueString(), m.Domain.ValueString())
}

// naturalKey returns the record's natural key as configured.
func (m model) naturalKey() recordKey {
	return recordKey{domain: m.Domain.ValueString(), recordType: m.Type.ValueString(), name: m.Name.ValueString(), value: m.Value.ValueString()}
}

// naturalKeys returns the keys of a record in the walk: its name, type and value in each form
// of its domain.
func naturalKeys(of service.Attributes) []string {
	name, recordType, value := of.Text("name"), of.Text("type"), of.Text("value")
	if name == "" || recordType == "" || value == "" {
		return nil
	}
	if relative, err := dnsdata.NormalizeName(name, cmp.Or(of.Text("domain_name"), ZoneName(of.Text("domain")))); err == nil {
		name = relative
	}
	if canonical, err := dnsdata.NormalizeValue(recordType, value); err == nil {
		value = canonical
	}
	return service.DomainKeys(of.Text, name+" "+recordType+" "+value+" ")
}

func (m model) importID() string {
	k := m.naturalKey()
	return strings.Join([]string{k.domain, k.recordType, k.name, k.value}, "/")
}

func (m model) sameName(a, b string) bool {
	return customtype.EqualInZone(m.DomainName.ValueString(), a, b)
}

func (m model) sameValue(a, b string) bool {
	return customtype.EqualFor(m.Type.ValueString(), a, b)
}

func (m *model) setZone(z zone) {
	m.Domain = customtype.KeepDomainRef(m.Domain, z.id, z.name)
	if m.DomainID = types.StringValue(z.id); z.id == "" {
		m.DomainID = types.StringNull()
	}
	m.DomainName = types.StringValue(z.name)
}

// flatten sets the model from a response, after setZone.
func (m *model) flatten(r *api.DNSRecord) {
	zone := m.DomainName.ValueString()
	m.ID = types.StringValue(strconv.FormatInt(r.ID, 10))
	m.Name = customtype.KeepName(m.Name, zone, r.Name)
	m.Type = types.StringValue(r.Type)
	m.Value = customtype.KeepValue(m.Value, r.Type, r.Value)
	m.TTL = types.Int64Value(r.TTL)
	m.Priority = types.Int64PointerValue(r.Priority)
	m.IsSystemManaged = types.BoolValue(r.IsSystemManaged)
	m.FQDN = types.StringValue(fqdn(r.Name, zone))
}

func fqdn(name, zone string) string {
	relative, err := dnsdata.NormalizeName(name, zone)
	switch {
	case err != nil:
		relative = name
	case relative == "@":
		return zone
	}
	return relative + "." + zone
}

// ValidateConfig checks attributes that depend on each other, if both are known.
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
	_, err := customtype.DNSValue.Normalize(m.Value.ValueString())
	if !m.Type.IsUnknown() {
		_, err = dnsdata.NormalizeValue(m.Type.ValueString(), m.Value.ValueString())
	}
	if err != nil {
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
