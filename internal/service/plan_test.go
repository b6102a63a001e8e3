package service

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
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

func TestKeepEqual(t *testing.T) {
	t.Parallel()
	value, null, unknown := types.StringValue, types.StringNull(), types.StringUnknown()
	for name, c := range map[string]struct{ state, config, want types.String }{
		"same words":    {value("Jane"), value("Jane"), value("Jane")},
		"other words":   {value("Jane"), value("JANE"), value("Jane")},
		"another":       {value("Jane"), value("John"), value("John")},
		"new":           {null, value("John"), value("John")},
		"removed":       {value("Jane"), null, null},
		"unknown":       {value("Jane"), unknown, unknown},
		"empty, not ''": {value(""), value("John"), value("John")},
	} {
		resp := planmodifier.StringResponse{PlanValue: c.config}
		KeepEqual(strings.EqualFold).PlanModifyString(t.Context(), planmodifier.StringRequest{StateValue: c.state, ConfigValue: c.config, PlanValue: c.config}, &resp)
		if !resp.PlanValue.Equal(c.want) {
			t.Errorf("%s: planned %s, want %s", name, resp.PlanValue, c.want)
		}
	}
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
		if !resp.Plan.Raw.Equal(want) {
			t.Errorf("%s: planned %s, want %s", name, resp.Plan.Raw, want)
		}
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
		if got := equalWhereKnown(c.a, c.b); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	if got := Changed(types.StringValue("b"), types.StringValue("a")); got == nil || *got != "b" {
		t.Errorf("a change: %v", got)
	}
	for name, plan := range map[string]types.String{"same": types.StringValue("a"), "unknown": types.StringUnknown(), "null": types.StringNull()} {
		if got := Changed(plan, types.StringValue("a")); got != nil {
			t.Errorf("%s: %q", name, *got)
		}
	}
}

func TestKeepDomainRef(t *testing.T) {
	t.Parallel()
	const id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	for name, c := range map[string]struct{ state, config, want types.String }{
		"by name, then id": {types.StringValue("bücher.com"), types.StringValue(strings.ToUpper(id)), types.StringValue("bücher.com")},
		"by id, then name": {types.StringValue(id), types.StringValue("Bücher.com."), types.StringValue(id)},
		"another":          {types.StringValue("bücher.com"), types.StringValue("example.com"), types.StringValue("example.com")},
		"unknown":          {types.StringValue("bücher.com"), types.StringUnknown(), types.StringUnknown()},
		"new":              {types.StringNull(), types.StringValue("bücher.com"), types.StringValue("bücher.com")},
	} {
		state := tfsdk.State{Schema: thing, Raw: thingOf(t, map[string]string{"domain_id": id, "domain_name": "xn--bcher-kva.com"})}
		resp := planmodifier.StringResponse{PlanValue: c.config}
		KeepDomainRef().PlanModifyString(t.Context(), planmodifier.StringRequest{State: state, StateValue: c.state, ConfigValue: c.config, PlanValue: c.config}, &resp)
		if resp.Diagnostics.HasError() || !resp.PlanValue.Equal(c.want) {
			t.Errorf("%s: planned %s, want %s; %v", name, resp.PlanValue, c.want, resp.Diagnostics)
		}
	}
}

func TestUnknownChanges(t *testing.T) {
	t.Parallel()
	state := map[string]string{"domain": "a.com", "name": "jane", "domain_id": "1"}
	for what, c := range map[string]struct {
		plan map[string]string
		want []string
	}{
		"nothing differs":          {state, nil},
		"another value":            {map[string]string{"domain": "b.com", "name": "jane"}, nil},
		"one unknown":              {map[string]string{"domain": "?", "name": "jane", "domain_id": "1"}, []string{"domain"}},
		"both unknown":             {map[string]string{"domain": "?", "name": "?"}, []string{"domain", "name"}},
		"unknown, another value":   {map[string]string{"domain": "?", "name": "john"}, nil},
		"unknown, other elsewhere": {map[string]string{"domain": "?", "name": "jane", "domain_id": "2"}, []string{"domain"}},
	} {
		if got := UnknownChanges(thingOf(t, c.plan), thingOf(t, state), "domain", "name"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	if got := UnknownChanges(tftypes.NewValue(thing.Type().TerraformType(t.Context()), nil), thingOf(t, state), "domain"); len(got) > 0 {
		t.Errorf("a destroy: %q", got)
	}
}

func TestWarnReplaceUnknown(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	WarnReplace(&diags, "mailbox jane", "Another name.", "It costs.", "domain", "name")
	const want = "Only the apply will know its domain and name, and until then that counts as a change: it is replaced even if the apply finds that nothing has changed.\n\n" +
		"It costs.\n\n" +
		"To keep the object, set domain and name to a value that the plan knows. The attributes of a data source are unknown while a change is planned to anything in its depends_on."
	if len(diags) != 1 || diags[0].Summary() != "The plan replaces the mailbox jane" || diags[0].Detail() != want {
		t.Errorf("%q", render(diags))
	}
}
