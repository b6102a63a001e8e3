package attribute

import (
	"testing"

	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

func TestForDataSource(t *testing.T) {
	t.Parallel()
	nested := map[string]schema.Attribute{"used": schema.Int64Attribute{Computed: true, MarkdownDescription: "Bytes."}}
	got := ForDataSource(map[string]schema.Attribute{
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
