package service

import (
	"testing"

	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

func TestReadOnly(t *testing.T) {
	t.Parallel()
	nested := map[string]schema.Attribute{"used": schema.Int64Attribute{Computed: true, MarkdownDescription: "Bytes."}}
	got := readOnly(map[string]schema.Attribute{
		"domain":  schema.StringAttribute{Required: true, CustomType: customtype.DomainRef, MarkdownDescription: "Changing it replaces."},
		"secret":  schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "Secret."},
		"active":  schema.BoolAttribute{Optional: true, MarkdownDescription: "Active."},
		"quota":   schema.SingleNestedAttribute{Computed: true, Attributes: nested, MarkdownDescription: "Quota."},
		"aliases": schema.ListNestedAttribute{Computed: true, NestedObject: schema.NestedAttributeObject{Attributes: nested}, MarkdownDescription: "Aliases."},
	}, map[string]string{"domain": "Domain."})

	want := map[string]string{"domain": "Domain.", "secret": "Secret.", "active": "Active.", "quota": "Quota.", "aliases": "Aliases."}
	for name, a := range got {
		assert.Check(t, a.IsComputed() && !a.IsRequired() && !a.IsOptional() && a.GetMarkdownDescription() == want[name] && a.IsSensitive() == (name == "secret"), "%s: %+v", name, a)
	}
	assert.Check(t, len(got) == len(want), "there are %d attributes", len(got))
	assert.Check(t, got["domain"].GetType().Equal(customtype.DomainRef), "domain has the type %s", got["domain"].GetType())
	for _, inner := range []data.Attribute{
		got["quota"].(data.SingleNestedAttribute).Attributes["used"],
		got["aliases"].(data.ListNestedAttribute).NestedObject.Attributes["used"],
	} {
		assert.Check(t, inner.IsComputed() && inner.GetMarkdownDescription() == "Bytes.", "nested: %+v", inner)
	}
}

func TestPlanned(t *testing.T) {
	t.Parallel()
	got := planned(map[string]schema.Attribute{
		"id":         ComputedString("Id."),
		"ready":      schema.BoolAttribute{Computed: true},
		"updated_at": ComputedString("Time."),
		"name":       schema.StringAttribute{Required: true},
		"owner":      schema.StringAttribute{Optional: true, Computed: true, CustomType: customtype.UUID},
		"value":      schema.StringAttribute{Required: true, CustomType: customtype.DNSValue},
	}, []string{"updated_at"})
	for name, want := range map[string]struct{ modifiers, validators int }{
		"id": {1, 0}, "updated_at": {0, 0}, "name": {0, 0}, "owner": {1, 1}, "value": {1, 0},
	} {
		a := got[name].(schema.StringAttribute)
		assert.Check(t, len(a.PlanModifiers) == want.modifiers && len(a.Validators) == want.validators, "%s has %d plan modifiers and %d validators", name, len(a.PlanModifiers), len(a.Validators))
	}
	assert.Check(t, is.Equal(len(got["ready"].(schema.BoolAttribute).PlanModifiers), 1), "ready")
}
