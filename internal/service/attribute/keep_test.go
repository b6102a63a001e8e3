package attribute

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"gotest.tools/v3/assert"
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
