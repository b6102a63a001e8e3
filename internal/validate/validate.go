// Package validate provides the validators of the provider's schemas. Their limits come from the API's
// contract, so that a plan refuses the same values as the API, and no limit is written twice.
//
// A validator accepts null and unknown values. Its error names the attribute, and does not quote a
// sensitive or write-only value. Its description completes "must be ...", in plain text or Markdown, for
// the schema's documentation.
//
// The package may import the plugin framework and, of this module, apiserver/api.
package validate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Rule returns a validator that applies a rule of the API: a function that returns the canonical form of
// a value, or an error for users. noun describes a value with its article, as in "an e-mail address".
func Rule(noun string, rule func(string) (string, error)) validator.String {
	return stringValidator{description{noun, noun}, func(s string) string {
		_, err := rule(s)
		if err == nil {
			return ""
		}
		reason := err.Error()
		if !strings.HasPrefix(reason, "must ") {
			reason = "must be " + noun + ": " + reason
		}
		// The value may come from a reference, whose value the CLI does not show.
		switch quoted := fmt.Sprintf("%.64q", s); {
		case s == "":
			return strings.TrimSuffix(reason, ".") + "; it is empty"
		case strings.Contains(reason, quoted), strings.Contains(s, "://") && strings.Contains(s, "@"): // a URL may contain a password
			return reason
		default:
			return strings.TrimSuffix(reason, ".") + ", got " + quoted
		}
	}}
}

// Phone returns a validator of phone numbers.
func Phone() validator.String {
	return Rule("a phone number with its country code, such as +4930123456 (E.164)", api.CheckPhone)
}

// Country returns a validator of country codes in any case.
func Country() validator.String {
	return Rule("a two-letter country code of ISO 3166, such as DE", api.CheckCountry)
}

// Duration returns a validator of durations between low and high, such as 90m or 720h. A high of 0 means
// no upper bound.
func Duration(low, high time.Duration) validator.String {
	bounds := "at least " + shortDuration(low)
	if high > 0 {
		bounds = fmt.Sprintf("from %s to %s", shortDuration(low), shortDuration(high))
	}
	return Rule("a duration such as 90m or 720h, "+bounds, func(s string) (string, error) {
		d, err := time.ParseDuration(s)
		switch {
		case err != nil:
			return "", errors.New("must be a duration of hours, minutes and seconds, such as 90m or 720h; a day is 24h")
		case d < low, high > 0 && d > high:
			return "", errors.New("must be " + bounds)
		}
		return s, nil
	})
}

// shortDuration formats a duration without trailing zeros: 1h instead of 1h0m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Length returns a validator of the length limits, in characters, and the format of the field name in
// the request body T. The contract must set an upper limit.
func Length[T any](name string) validator.String {
	f := fieldOf[T](name, `maxLength:"…"`, func(f *api.Field) bool { return f.MaxLength != nil })
	plain := fmt.Sprintf("at most %d characters long", *f.MaxLength)
	if f.MinLength != nil {
		plain = fmt.Sprintf("%d to %d characters long", *f.MinLength, *f.MaxLength)
	}
	return stringValidator{description{plain, plain}, func(s string) string {
		switch p := f.Check(s); {
		case p == nil:
			return ""
		case p.Type == api.TypeStringTooShort, p.Type == api.TypeStringTooLong:
			return fmt.Sprintf("must be %s; it has %d", plain, utf8.RuneCountInString(s))
		default:
			return p.Rule().Error()
		}
	}}
}

// OneOf returns a validator of the values that the contract allows for the field name
// in T, a request body or the query of a list.
func OneOf[T any](name string) validator.String {
	f := fieldOf[T](name, `enum:"…"`, func(f *api.Field) bool { return f.Enum != nil })
	return Choice(f.Enum...)
}

// Choice returns a validator of some values, for an attribute that the contract does not have.
func Choice(values ...string) validator.String {
	plain := "one of " + strings.Join(values, ", ")
	return stringValidator{description{plain, "one of `" + strings.Join(values, "`, `") + "`"}, func(s string) string {
		if slices.Contains(values, s) {
			return ""
		}
		for _, v := range values {
			if strings.EqualFold(v, strings.TrimSpace(s)) {
				return fmt.Sprintf("must be %s, got %q; write %q", plain, s, v)
			}
		}
		return fmt.Sprintf("must be %s, got %.64q", plain, s)
	}}
}

// Range returns a validator of the bounds of the number name in the request body T. The
// contract must set both.
func Range[T any](name string) validator.Int64 {
	f := fieldOf[T](name, `minimum:"…" maximum:"…"`, func(f *api.Field) bool { return f.Minimum != nil && f.Maximum != nil })
	plain := fmt.Sprintf("between %d and %d", *f.Minimum, *f.Maximum)
	return rangeValidator{description{plain, plain}, f}
}

// fieldOf returns the field name of T. It panics if the field lacks the tags that limit it.
func fieldOf[T any](name, tags string, limited func(*api.Field) bool) *api.Field {
	f := api.FieldOf[T](name)
	if !limited(f) {
		panic(fmt.Sprintf("validate: the field %q of %s has no limit to validate; declare it there with the tags %s, or remove the validator", name, reflect.TypeFor[T](), tags))
	}
	return f
}

// description describes valid values. Both forms complete "must be ...".
type description struct{ plain, markdown string }

func (d description) Description(context.Context) string { return d.plain }

func (d description) MarkdownDescription(context.Context) string { return d.markdown }

// attributeError returns the error for an invalid value. For a secret value, it replaces problem, which
// may quote it.
func (d description) attributeError(ctx context.Context, config tfsdk.Config, at path.Path, problem string) diag.Diagnostic {
	if isSecret(ctx, config, at) {
		problem = "must be " + d.plain
	}
	name := display(at)
	return diag.NewAttributeErrorDiagnostic(at, "Invalid "+name, strings.TrimSuffix(name+" "+problem, ".")+".")
}

// display formats a path for users. It omits set elements, because their path contains their value.
func display(at path.Path) string {
	var shown path.PathSteps
	for _, step := range at.Steps() {
		if _, isValue := step.(path.PathStepElementKeyValue); !isValue {
			shown = append(shown, step)
		}
	}
	return shown.String()
}

// isSecret reports whether the attribute at a path, or an attribute around it, is sensitive or
// write-only.
func isSecret(ctx context.Context, config tfsdk.Config, at path.Path) bool {
	if config.Schema == nil {
		return false
	}
	for ; len(at.Steps()) > 0; at = at.ParentPath() {
		// Elements of a collection are not attributes.
		attribute, diags := config.Schema.AttributeAtPath(ctx, at)
		if !diags.HasError() && (attribute.IsSensitive() || attribute.IsWriteOnly()) {
			return true
		}
	}
	return false
}

type stringValidator struct {
	description
	// check returns the problem of a value, which begins with "must", or "" for a valid value.
	check func(string) string
}

func (v stringValidator) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if problem := v.check(req.ConfigValue.ValueString()); problem != "" {
		resp.Diagnostics.Append(v.attributeError(ctx, req.Config, req.Path, problem))
	}
}

type rangeValidator struct {
	description
	field *api.Field
}

func (v rangeValidator) ValidateInt64(ctx context.Context, req validator.Int64Request, resp *validator.Int64Response) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if n := req.ConfigValue.ValueInt64(); v.field.Check(n) != nil {
		resp.Diagnostics.Append(v.attributeError(ctx, req.Config, req.Path, fmt.Sprintf("must be %s, got %d", v.plain, n)))
	}
}
