package validate

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Rule returns a validator that applies a rule of the API: a function that
// returns the canonical form of a value, or an error in words for the person
// who wrote it. noun says with its article what a value is, as in "an e-mail
// address".
func Rule(noun string, rule func(string) (string, error)) validator.String {
	return ruleValidator{words: words{plain: noun, markdown: noun}, rule: rule}
}

// Phone returns a validator of phone numbers.
func Phone() validator.String {
	return Rule("a phone number with its country code, such as +4930123456 (E.164)", api.CheckPhone)
}

// Country returns a validator of country codes, in any case.
func Country() validator.String {
	return Rule("a two-letter country code of ISO 3166, such as DE", api.CheckCountry)
}

// Diagnostic returns the error of an attribute whose value is not what noun
// says, for the reason that err gives. An empty path stands for a value that is
// no attribute's.
func Diagnostic(at path.Path, noun string, err error) diag.Diagnostic {
	reason := err.Error()
	if !strings.HasPrefix(reason, "must ") {
		reason = "must be " + noun + ": " + reason
	}
	return refusal(at, reason)
}

type ruleValidator struct {
	words
	rule func(string) (string, error)
}

// ValidateString implements validator.String.
func (v ruleValidator) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	_, err := v.rule(req.ConfigValue.ValueString())
	switch {
	case err == nil:
	case secret(ctx, req.Config, req.Path):
		// The rule's words may quote the value.
		resp.Diagnostics.Append(refusal(req.Path, "must be "+v.plain))
	default:
		resp.Diagnostics.Append(Diagnostic(req.Path, v.plain, err))
	}
}
