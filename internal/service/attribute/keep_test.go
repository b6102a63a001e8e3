package attribute

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

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
		assert.Check(t, resp.PlanValue.Equal(c.want), "%s: planned %s, want %s", name, resp.PlanValue, c.want)
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	text, null, unknown := types.StringValue, types.StringNull(), types.StringUnknown()
	for name, c := range map[string]struct {
		plan, state types.String
		want        api.Nullable[string]
	}{
		"same":    {text("a"), text("a"), api.Nullable[string]{}},
		"none":    {null, null, api.Nullable[string]{}},
		"unknown": {unknown, text("a"), api.Nullable[string]{}},
		"added":   {text("a"), null, api.NullableFrom(new("a"))},
		"other":   {text("b"), text("a"), api.NullableFrom(new("b"))},
		"removed": {null, text("a"), api.NullableFrom[string](nil)},
	} {
		got := ChangedNullable(c.plan, c.state, c.plan.ValueStringPointer())
		assert.Check(t, got == c.want, "%s: %+v", name, got)
		value := Changed(c.plan, c.state, c.plan.ValueStringPointer())
		assert.Check(t, (value != nil) == (c.want.Sent && !c.want.Null), "%s: %v", name, value)
	}
	url, err := customtype.RedirectURL.ValueFromTerraform(t.Context(), tftypes.NewValue(tftypes.String, "HTTPS://www.example.com:443/"))
	assert.NilError(t, err)
	other := customtype.New("https://www.example.com")
	assert.Check(t, Changed(url, other, new("")) == nil, "another spelling is a change")
}
