package masterpassword

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// secret says where a master password's secret comes from.
type secret struct {
	Value          types.String `tfsdk:"value"`
	ValueWO        types.String `tfsdk:"value_wo"` // null but in a configuration
	ValueWOVersion types.Int64  `tfsdk:"value_wo_version"`
	Generate       types.Bool   `tfsdk:"generate"`
}

// choice says what a configuration may say of the secret.
const choice = "Set value, value_wo with value_wo_version, or generate = true: exactly one of the three."

// recorded reports whether a state says where the secret comes from. It does not
// after an import, nor after the configuration has stopped giving the secret.
func (s secret) recorded() bool {
	return !s.Value.IsNull() || !s.ValueWOVersion.IsNull() || s.Generate.ValueBool()
}

// given returns the secret that a configuration gives, or nil where it is
// generated or not known.
func (s secret) given() *string {
	for _, v := range []types.String{s.Value, s.ValueWO} {
		if !v.IsNull() && !v.IsUnknown() {
			return v.ValueStringPointer()
		}
	}
	return nil
}

// givenAt names the attribute that gives the secret.
func (s secret) givenAt() string {
	if s.Value.IsNull() && !s.ValueWO.IsNull() {
		return "value_wo"
	}
	return "value"
}

// changes returns what differs between a prior state and a plan. That generate is
// false or null is the same.
func (s secret) changes(plan secret) (changed []path.Path) {
	if !plan.Value.Equal(s.Value) {
		changed = append(changed, path.Root("value"))
	}
	if !plan.ValueWOVersion.Equal(s.ValueWOVersion) {
		changed = append(changed, path.Root("value_wo_version"))
	}
	if plan.Generate.IsUnknown() || plan.Generate.ValueBool() != s.Generate.ValueBool() {
		changed = append(changed, path.Root("generate"))
	}
	return changed
}

// absent reports whether a configuration says nothing of the secret: then one that
// exists stays as it is. What is not known yet may turn out to say something.
func (s secret) absent() bool {
	return s.Value.IsNull() && s.ValueWO.IsNull() && !s.Generate.IsUnknown() && !s.Generate.ValueBool()
}

// checkCreate returns what is wrong with a configuration that creates a master
// password.
func (s secret) checkCreate() (diags diag.Diagnostics) {
	if s.absent() {
		diags.AddError("A master password without a secret",
			"Nothing says what the secret is, which only one that exists can do without, after an import for instance. "+choice)
	}
	return diags
}

// check returns what is wrong with any configuration. It leaves alone what is not
// known yet.
func (s secret) check() (diags diag.Diagnostics) {
	var ways []string
	for _, v := range []struct {
		name string
		set  bool
	}{
		{"value", !s.Value.IsNull() && !s.Value.IsUnknown()},
		{"value_wo", !s.ValueWO.IsNull() && !s.ValueWO.IsUnknown()},
		{"generate", s.Generate.ValueBool()},
	} {
		if v.set {
			ways = append(ways, v.name)
		}
	}
	if len(ways) > 1 {
		diags.AddAttributeError(path.Root(ways[1]), "Two secrets for one master password",
			"The secret comes from "+ways[0]+" and from "+ways[1]+". "+choice)
	}
	if !s.ValueWO.IsNull() && s.ValueWOVersion.IsNull() {
		diags.AddAttributeError(path.Root("value_wo"), "value_wo without value_wo_version",
			"Terraform does not keep value_wo, so it can't see that it has changed. Set value_wo_version = 1 beside it, and another number whenever you change value_wo.")
	}
	if !s.absent() {
		diags.Append(s.checkVersion(secret{})...)
	}
	return diags
}

// checkVersion returns what is wrong with a value_wo_version that comes without
// value_wo and is another than that of the prior secret, if there is one. A plan
// that changes nothing need not know the secret.
func (s secret) checkVersion(prior secret) (diags diag.Diagnostics) {
	if version := s.ValueWOVersion; s.ValueWO.IsNull() && !version.IsNull() && !version.IsUnknown() && !version.Equal(prior.ValueWOVersion) {
		diags.AddAttributeError(path.Root("value_wo_version"), "value_wo_version without value_wo",
			"value_wo_version says that value_wo is new. Set value_wo too, or leave value_wo_version out or as it was.")
	}
	return diags
}
