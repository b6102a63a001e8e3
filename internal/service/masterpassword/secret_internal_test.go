package masterpassword

import (
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	text    = types.StringValue("hunter22")
	unknown = types.StringUnknown()
	one     = types.Int64Value(1)
	yes     = types.BoolValue(true)
	no      = types.BoolValue(false)
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		secret secret
		want   []string // summaries
	}{
		"value":               {secret{Value: text}, nil},
		"value, not generate": {secret{Value: text, Generate: no}, nil},
		"value_wo":            {secret{ValueWO: text, ValueWOVersion: one}, nil},
		"generate":            {secret{Generate: yes}, nil},
		"nothing":             {secret{}, nil},
		"generate = false":    {secret{Generate: no}, nil},
		"two":                 {secret{Value: text, Generate: yes}, []string{"Two secrets for one master password"}},
		"three":               {secret{Value: text, ValueWO: text, ValueWOVersion: one, Generate: yes}, []string{"Two secrets for one master password"}},
		"two and unknown":     {secret{Value: text, ValueWO: unknown, ValueWOVersion: one, Generate: yes}, []string{"Two secrets for one master password"}},
		"no version":          {secret{ValueWO: text}, []string{"value_wo without value_wo_version"}},
		"version alone":       {secret{Generate: yes, ValueWOVersion: one}, []string{"value_wo_version without value_wo"}},
		"unknown value":       {secret{Value: unknown}, nil},
		"unknown beside":      {secret{Value: unknown, Generate: yes}, nil},
		"unknown generate":    {secret{Generate: types.BoolUnknown()}, nil},
		"unknown value_wo":    {secret{ValueWO: unknown, ValueWOVersion: types.Int64Unknown()}, nil},
		"unknown version":     {secret{Generate: yes, ValueWOVersion: types.Int64Unknown()}, nil},
	} {
		var got []string
		for _, d := range c.secret.check() {
			got = append(got, d.Summary())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestCheckCreate checks that a create without a secret is refused.
func TestCheckCreate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		secret secret
		fails  bool
	}{
		"nothing":          {secret{}, true},
		"generate = false": {secret{Generate: no}, true},
		"value":            {secret{Value: text, Generate: no}, false},
		"value_wo":         {secret{ValueWO: text, ValueWOVersion: one}, false},
		"generate":         {secret{Generate: yes}, false},
		"unknown value":    {secret{Value: unknown}, false},
		"unknown value_wo": {secret{ValueWO: unknown}, false},
		"unknown generate": {secret{Generate: types.BoolUnknown()}, false},
	} {
		diags := c.secret.checkCreate()
		if diags.HasError() != c.fails || c.secret.absent() != c.fails {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after secret
		want          []string
	}{
		"nothing":        {secret{Value: text}, secret{Value: text}, nil},
		"generate false": {secret{Value: text}, secret{Value: text, Generate: no}, nil},
		"value":          {secret{Value: text}, secret{Value: types.StringValue("hunter23")}, []string{"value"}},
		"unknown":        {secret{Value: text}, secret{Value: unknown}, []string{"value"}},
		"version":        {secret{ValueWOVersion: one}, secret{ValueWOVersion: types.Int64Value(2)}, []string{"value_wo_version"}},
		"other way":      {secret{Generate: yes}, secret{Value: text}, []string{"value", "generate"}},
		"maybe":          {secret{Generate: yes}, secret{Generate: types.BoolUnknown()}, []string{"generate"}},
	} {
		var got []string
		for _, p := range c.before.changes(c.after) {
			got = append(got, p.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSameSecret(t *testing.T) {
	t.Parallel()
	explicit, generated := model{secret: secret{Value: text}}, model{secret: secret{Generate: yes}, GeneratedSecret: text}
	for name, c := range map[string]struct {
		state, config model
		want          bool
	}{
		"moved out":            {explicit, model{secret: secret{ValueWO: text}}, true},
		"generated, moved out": {generated, model{secret: secret{ValueWO: text}}, true},
		"generated, taken up":  {generated, explicit, true},
		"another":              {explicit, model{secret: secret{ValueWO: types.StringValue("hunter23")}}, false},
		"unknown":              {explicit, model{secret: secret{ValueWO: unknown}}, false},
		"generate":             {explicit, model{secret: secret{Generate: yes}}, false},
		"nothing known":        {model{}, explicit, false},
	} {
		if got := c.state.sameSecretAs(c.config); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
