package service

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"
)

// thing is the schema of these tests.
var thing = schema.Schema{Attributes: map[string]schema.Attribute{
	"name":        schema.StringAttribute{Optional: true},
	"domain":      schema.StringAttribute{Optional: true},
	"domain_id":   schema.StringAttribute{Computed: true},
	"domain_name": schema.StringAttribute{Computed: true},
	"updated_at":  schema.StringAttribute{Computed: true},
}}

// thingOf returns a value of the schema: omitted attributes are null, "?" is unknown.
func thingOf(t *testing.T, fields map[string]string) tftypes.Value {
	t.Helper()
	values := map[string]tftypes.Value{}
	for name := range thing.Attributes {
		values[name] = tftypes.NewValue(tftypes.String, nil)
	}
	for name, value := range fields {
		if value == "?" {
			values[name] = tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
		} else {
			values[name] = tftypes.NewValue(tftypes.String, value)
		}
	}
	return tftypes.NewValue(thing.Type().TerraformType(t.Context()), values)
}

func TestSettlePlan(t *testing.T) {
	t.Parallel()
	null := tftypes.NewValue(thing.Type().TerraformType(t.Context()), nil)
	state := thingOf(t, map[string]string{"name": "a", "updated_at": "1"})
	for name, c := range map[string]struct {
		config, state, plan tftypes.Value
		replaces            bool
		settled             bool
	}{
		"nothing but unknown": {thingOf(t, map[string]string{"name": "A"}), state, thingOf(t, map[string]string{"name": "a", "updated_at": "?"}), false, true},
		"a change":            {thingOf(t, map[string]string{"name": "b"}), state, thingOf(t, map[string]string{"name": "b", "updated_at": "?"}), false, false},
		"a removal":           {thingOf(t, nil), state, thingOf(t, map[string]string{"updated_at": "?"}), false, false},
		// The value may differ in the apply, so that the plan needs the update.
		"unknown in the configuration": {thingOf(t, map[string]string{"name": "?"}), state, thingOf(t, map[string]string{"name": "?", "updated_at": "?"}), false, false},
		"a replacement":                {thingOf(t, map[string]string{"name": "A"}), state, thingOf(t, map[string]string{"name": "a", "updated_at": "?"}), true, false},
		"a create":                     {thingOf(t, map[string]string{"name": "a"}), null, thingOf(t, map[string]string{"name": "a", "updated_at": "?"}), false, false},
		"a destroy":                    {null, state, null, false, false},
	} {
		req := resource.ModifyPlanRequest{
			Config: tfsdk.Config{Schema: thing, Raw: c.config}, State: tfsdk.State{Schema: thing, Raw: c.state}, Plan: tfsdk.Plan{Schema: thing, Raw: c.plan},
		}
		resp := resource.ModifyPlanResponse{Plan: req.Plan}
		if c.replaces {
			resp.RequiresReplace = path.Paths{path.Root("name")}
		}
		DropEmptyUpdate(req, &resp)
		want := c.plan
		if c.settled {
			want = c.state
		}
		assert.Check(t, resp.Plan.Raw.Equal(want), "%s: planned %s, want %s", name, resp.Plan.Raw, want)
	}
}

func TestEqualWhereKnown(t *testing.T) {
	t.Parallel()
	text := func(v any) tftypes.Value { return tftypes.NewValue(tftypes.String, v) }
	list := func(v ...tftypes.Value) tftypes.Value {
		return tftypes.NewValue(tftypes.List{ElementType: tftypes.String}, v)
	}
	object := func(v tftypes.Value) tftypes.Value {
		return tftypes.NewValue(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"a": v.Type()}}, map[string]tftypes.Value{"a": v})
	}
	unknown := text(tftypes.UnknownValue)
	for name, c := range map[string]struct {
		a, b tftypes.Value
		want bool
	}{
		"same":           {text("a"), text("a"), true},
		"other":          {text("a"), text("b"), false},
		"null":           {text(nil), text("a"), false},
		"was null":       {text("a"), text(nil), false},
		"unknown":        {unknown, text("a"), true},
		"was unknown":    {text("a"), unknown, false},
		"in an object":   {object(unknown), object(text("a")), true},
		"other, inside":  {object(text("b")), object(text("a")), false},
		"in a list":      {list(unknown, text("b")), list(text("a"), text("b")), true},
		"longer":         {list(unknown, unknown), list(text("a")), false},
		"shorter":        {list(unknown), list(text("a"), text("b")), false},
		"deep":           {object(list(unknown)), object(list(text("a"))), true},
		"deep and other": {object(list(unknown, text("c"))), object(list(text("a"), text("b"))), false},
	} {
		got := equalWhereKnown(c.a, c.b)
		assert.Check(t, got == c.want, "%s: %t", name, got)
	}
}
