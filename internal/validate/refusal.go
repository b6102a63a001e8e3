package validate

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
)

// words are a validator's descriptions, each the end of "must be ...".
type words struct{ plain, markdown string }

// Description implements validator.Describer.
func (w words) Description(context.Context) string { return w.plain }

// MarkdownDescription implements validator.Describer.
func (w words) MarkdownDescription(context.Context) string { return w.markdown }

// stringValidator applies a check that tells, of a wrong value, what it got.
type stringValidator struct {
	words
	check func(string) (got string, ok bool)
}

// ValidateString implements validator.String.
func (v stringValidator) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	got, ok := v.check(req.ConfigValue.ValueString())
	if ok {
		return
	}
	if secret(ctx, req.Config, req.Path) {
		got = ""
	}
	resp.Diagnostics.Append(refusal(req.Path, "must be "+v.plain+got))
}

// refusal returns the error of an attribute.
func refusal(at path.Path, what string) diag.Diagnostic {
	name := display(at)
	return diag.NewAttributeErrorDiagnostic(at, "Invalid "+name, strings.TrimSuffix(name+" "+what, ".")+".")
}

// display returns a path to show to people. It ends where a set begins, whose
// elements are named by their values.
func display(at path.Path) string {
	var shown path.PathSteps
	for _, step := range at.Steps() {
		if _, isValue := step.(path.PathStepElementKeyValue); isValue {
			break
		}
		shown = append(shown, step)
	}
	if len(shown) == 0 {
		return "value"
	}
	return shown.String()
}

// secret reports whether the value at a path must not be shown: its attribute,
// or one around it, is sensitive or write-only.
func secret(ctx context.Context, config tfsdk.Config, at path.Path) bool {
	if config.Schema == nil {
		return false
	}
	for ; len(at.Steps()) > 0; at = at.ParentPath() {
		// The elements of a collection have no attribute of their own.
		attribute, diags := config.Schema.AttributeAtPath(ctx, at)
		if !diags.HasError() && (attribute.IsSensitive() || attribute.IsWriteOnly()) {
			return true
		}
	}
	return false
}
