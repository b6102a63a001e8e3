package attribute

import (
	"testing"

	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

func TestArgument(t *testing.T) {
	t.Parallel()
	type body struct {
		Name   string   `json:"name" maxLength:"9"`
		Color  *string  `json:"color,omitempty" enum:"red,blue"`
		Weight int64    `json:"weight" minimum:"1" maximum:"3"`
		Loud   *bool    `json:"loud,omitempty"`
		List   []string `json:"list"`
	}
	limits := map[string]string{
		"name": "at most 9 characters long", "color": "one of red, blue", "weight": "between 1 and 3", "loud": "",
	}
	for name, want := range limits {
		a, limit := Argument[body](name, "It."), ""
		switch a := a.(type) {
		case schema.StringAttribute:
			limit = a.Validators[0].Description(t.Context())
		case schema.Int64Attribute:
			limit = a.Validators[0].Description(t.Context())
		}
		isOptional := name == "color" || name == "loud"
		assert.Check(t, limit == want && a.IsOptional() == isOptional && a.IsRequired() == !isOptional && a.GetMarkdownDescription() == "It.", "%s: %+v", name, a)
	}
	defer func() {
		assert.Check(t, is.Equal(recover(), `attribute: the field "list" of attribute.body is a slice, for which Argument has no attribute; add a case`))
	}()
	Argument[body]("list", "It.")
}

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
