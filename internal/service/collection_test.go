package service

import (
	"testing"

	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

func TestComputedAttributes(t *testing.T) {
	t.Parallel()
	nested := map[string]schema.Attribute{"used": schema.Int64Attribute{Computed: true, MarkdownDescription: "Bytes."}}
	got := ComputedAttributes(map[string]schema.Attribute{
		"domain":  schema.StringAttribute{Required: true, CustomType: customtype.DomainRef, MarkdownDescription: "Changing it replaces."},
		"secret":  schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "Secret."},
		"active":  schema.BoolAttribute{Optional: true, MarkdownDescription: "Active."},
		"quota":   schema.SingleNestedAttribute{Computed: true, Attributes: nested, MarkdownDescription: "Quota."},
		"aliases": schema.ListNestedAttribute{Computed: true, NestedObject: schema.NestedAttributeObject{Attributes: nested}, MarkdownDescription: "Aliases."},
	}, map[string]string{"domain": "Domain."})

	want := map[string]string{"domain": "Domain.", "secret": "Secret.", "active": "Active.", "quota": "Quota.", "aliases": "Aliases."}
	for name, a := range got {
		if !a.IsComputed() || a.IsRequired() || a.IsOptional() || a.GetMarkdownDescription() != want[name] || a.IsSensitive() != (name == "secret") {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d attributes", len(got))
	}
	if !got["domain"].GetType().Equal(customtype.DomainRef) {
		t.Errorf("domain has the type %s", got["domain"].GetType())
	}
	for _, inner := range []data.Attribute{
		got["quota"].(data.SingleNestedAttribute).Attributes["used"],
		got["aliases"].(data.ListNestedAttribute).NestedObject.Attributes["used"],
	} {
		if !inner.IsComputed() || inner.GetMarkdownDescription() != "Bytes." {
			t.Errorf("nested: %+v", inner)
		}
	}
}

// What can't be answered is found when the provider is first asked for its
// schema, which every test does.
func TestComputedAttributesPanics(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(){
		"a description of nothing": func() { ComputedAttributes(nil, map[string]string{"x": "X."}) },
		"an unforeseen type": func() {
			ComputedAttributes(map[string]schema.Attribute{"x": schema.SetAttribute{ElementType: types.StringType}}, nil)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
