package provider

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// fraction matches the framework's error for a fraction in place of a whole number.
var fraction = regexp.MustCompile(`\(\*big\.Float=([^)]+)\) is not an integer`)

// tooLarge matches the framework's error for a whole number of more than 64 bits.
var tooLarge = regexp.MustCompile(`cannot be represented as a 64-bit integer`)

var beyondRange = fmt.Sprintf("a number beyond the range of whole numbers here, which is from %d to %d", math.MinInt64, math.MaxInt64)

// largeAdvice is the next step for a number of more than 64 bits, by attribute.
var largeAdvice = map[string]string{
	"value_wo_version": "Of a hash take 15 hex digits, as in parseint(substr(sha256(x), 0, 15), 16).",
}

// required matches the framework's error for a null required attribute.
var required = regexp.MustCompile(`^Must set a configuration value for the (.+) attribute as the provider has marked it as required`)

// inWords rewords the framework's errors about mistakes in a configuration for its author, and drops
// duplicates. The framework calls them errors of the provider.
func inWords(diags []*tfprotov6.Diagnostic) []*tfprotov6.Diagnostic {
	var all []*tfprotov6.Diagnostic
	for _, d := range diags {
		number, missing := fraction.FindStringSubmatch(d.Detail), required.FindStringSubmatch(d.Detail)
		switch {
		case number != nil:
			d.Summary = "A number must be whole"
			d.Detail = fmt.Sprintf("%s has %s where a whole number is needed. To round the result of a division, use floor or ceil.", attributeName(d), number[1])
		case tooLarge.MatchString(d.Detail):
			name := attributeName(d)
			d.Summary = "A number is out of range"
			// The number may follow from a secret, so the text does not quote it.
			d.Detail = fmt.Sprintf("%s has %s. %s", name, beyondRange, cmp.Or(largeAdvice[name], "Set it to a number of this range."))
		case missing != nil:
			d.Summary = missing[1] + " is missing"
			d.Detail = "It is required, and its value here is null. Set it to another value."
		case d.Summary == "Invalid Configuration for Read-Only Attribute":
			d.Summary = attributeName(d) + " can't be set"
			d.Detail = "It is a result, which only the API sets. Remove it from the configuration."
		}
		if !slices.ContainsFunc(all, func(o *tfprotov6.Diagnostic) bool {
			return o.Summary == d.Summary && o.Detail == d.Detail && o.Attribute.Equal(d.Attribute)
		}) {
			all = append(all, d)
		}
	}
	return all
}

func attributeName(d *tfprotov6.Diagnostic) string {
	if steps := d.Attribute.Steps(); len(steps) > 0 {
		if name, ok := steps[0].(tftypes.AttributeName); ok {
			return string(name)
		}
	}
	return "A value"
}

// explained calls the framework, and rewords the diagnostics of its response.
func explained[Req, Resp any](ctx context.Context, req *Req, next func(context.Context, *Req) (*Resp, error), diagnostics func(*Resp) *[]*tfprotov6.Diagnostic) (*Resp, error) {
	resp, err := next(ctx, req)
	if err == nil {
		all := diagnostics(resp)
		*all = inWords(*all)
	}
	return resp, err
}

func (s *server) ValidateProviderConfig(ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return explained(ctx, req, s.Framework.ValidateProviderConfig, func(r *tfprotov6.ValidateProviderConfigResponse) *[]*tfprotov6.Diagnostic { return &r.Diagnostics })
}

func (s *server) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return explained(ctx, req, s.Framework.ValidateResourceConfig, func(r *tfprotov6.ValidateResourceConfigResponse) *[]*tfprotov6.Diagnostic { return &r.Diagnostics })
}

func (s *server) ValidateDataResourceConfig(ctx context.Context, req *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	return explained(ctx, req, s.Framework.ValidateDataResourceConfig, func(r *tfprotov6.ValidateDataResourceConfigResponse) *[]*tfprotov6.Diagnostic { return &r.Diagnostics })
}

func (s *server) ValidateEphemeralResourceConfig(ctx context.Context, req *tfprotov6.ValidateEphemeralResourceConfigRequest) (*tfprotov6.ValidateEphemeralResourceConfigResponse, error) {
	return explained(ctx, req, s.Framework.ValidateEphemeralResourceConfig, func(r *tfprotov6.ValidateEphemeralResourceConfigResponse) *[]*tfprotov6.Diagnostic {
		return &r.Diagnostics
	})
}

func (s *server) ValidateListResourceConfig(ctx context.Context, req *tfprotov6.ValidateListResourceConfigRequest) (*tfprotov6.ValidateListResourceConfigResponse, error) {
	return explained(ctx, req, s.Framework.ValidateListResourceConfig, func(r *tfprotov6.ValidateListResourceConfigResponse) *[]*tfprotov6.Diagnostic { return &r.Diagnostics })
}

func (s *server) ValidateActionConfig(ctx context.Context, req *tfprotov6.ValidateActionConfigRequest) (*tfprotov6.ValidateActionConfigResponse, error) {
	return explained(ctx, req, s.Framework.ValidateActionConfig, func(r *tfprotov6.ValidateActionConfigResponse) *[]*tfprotov6.Diagnostic { return &r.Diagnostics })
}

func (s *server) CallFunction(ctx context.Context, req *tfprotov6.CallFunctionRequest) (*tfprotov6.CallFunctionResponse, error) {
	resp, err := s.Framework.CallFunction(ctx, req)
	if err == nil && resp.Error != nil {
		switch e := resp.Error; { // core names the argument
		case fraction.MatchString(e.Text):
			e.Text = "It must be a whole number. To round the result of a division, use floor or ceil."
		case tooLarge.MatchString(e.Text):
			e.Text = "It is " + beyondRange
		}
	}
	return resp, err
}

func (s *server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return explained(ctx, req, s.Framework.PlanResourceChange, func(r *tfprotov6.PlanResourceChangeResponse) *[]*tfprotov6.Diagnostic { return &r.Diagnostics })
}

// MoveResourceState refuses: no kind of object can become another.
func (s *server) MoveResourceState(_ context.Context, req *tfprotov6.MoveResourceStateRequest) (*tfprotov6.MoveResourceStateResponse, error) {
	return &tfprotov6.MoveResourceStateResponse{Diagnostics: []*tfprotov6.Diagnostic{{
		Severity: tfprotov6.DiagnosticSeverityError, Summary: "A moved block can't change the type of a resource",
		Detail: fmt.Sprintf("It would make a %s of a %s. To hand the object over, remove the old resource from the state with a removed block with lifecycle { destroy = false }, "+
			"and import the object into the new one with an import block, in the same plan.", req.TargetTypeName, req.SourceTypeName),
	}}}, nil
}
