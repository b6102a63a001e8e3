package validate_test

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	bounded, open := validate.Duration(time.Minute, 24*time.Hour), validate.Duration(90*time.Minute, 0)
	const noDuration = "lifetime must be a duration of hours, minutes and seconds, such as 90m or 720h; a day is 24h."
	for _, tt := range []struct {
		v     validator.String
		value types.String
		want  string
	}{
		{bounded, types.StringValue("1m"), ""},
		{bounded, types.StringValue("24h"), ""},
		{bounded, types.StringValue("1h30m"), ""},
		{bounded, types.StringNull(), ""},
		{bounded, types.StringUnknown(), ""},
		{bounded, types.StringValue("59s"), "lifetime must be from 1m to 24h, got 59s."},
		{bounded, types.StringValue("24h0m1s"), "lifetime must be from 1m to 24h, got 24h0m1s."},
		{bounded, types.StringValue("-1h"), "lifetime must be from 1m to 24h, got -1h."},
		{bounded, types.StringValue("1d"), noDuration},
		{bounded, types.StringValue("3600"), noDuration},
		{bounded, types.StringValue(""), noDuration},
		{open, types.StringValue("87600h"), ""},
		{open, types.StringValue("1h"), "lifetime must be at least 1h30m, got 1h."},
	} {
		resp := &validator.StringResponse{}
		tt.v.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("lifetime"), ConfigValue: tt.value}, resp)
		got := ""
		for _, d := range resp.Diagnostics {
			got += d.Detail()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.value, got, tt.want)
		}
	}
	if got := bounded.Description(t.Context()); got != "a duration such as 90m or 720h, from 1m to 24h" {
		t.Errorf("the description is %q", got)
	}
}
