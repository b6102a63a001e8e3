package provider_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
	"github.com/mailhost/terraform-provider-mailhost/internal/compact"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// described is a schema with the call that validates its configurations.
type described struct {
	name     string
	schema   *tfprotov6.Schema
	validate func(config *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic
}

// allSchemas returns the schemas of everything that a configuration can contain.
func allSchemas(t *testing.T) (all []described) {
	t.Helper()
	server, ctx, of := provider.NewServer(provider.New("test")()).(compact.Framework), t.Context(), schemas(t)
	all = append(all, described{"provider", of.Provider, func(c *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
		return core.Must(server.ValidateProviderConfig(ctx, &tfprotov6.ValidateProviderConfigRequest{Config: c})).Diagnostics
	}})
	for name, s := range of.ResourceSchemas {
		all = append(all, described{name, s, func(c *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
			return core.Must(server.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: name, Config: c})).Diagnostics
		}})
	}
	for name, s := range of.DataSourceSchemas {
		all = append(all, described{"data." + name, s, func(c *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
			return core.Must(server.ValidateDataResourceConfig(ctx, &tfprotov6.ValidateDataResourceConfigRequest{TypeName: name, Config: c})).Diagnostics
		}})
	}
	for name, s := range of.EphemeralResourceSchemas {
		all = append(all, described{"ephemeral." + name, s, func(c *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
			return core.Must(server.ValidateEphemeralResourceConfig(ctx, &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: name, Config: c})).Diagnostics
		}})
	}
	for name, s := range of.ListResourceSchemas {
		all = append(all, described{"list." + name, s, func(c *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
			return core.Must(server.ValidateListResourceConfig(ctx, &tfprotov6.ValidateListResourceConfigRequest{TypeName: name, Config: c})).Diagnostics
		}})
	}
	for name, s := range of.ActionSchemas {
		all = append(all, described{"action." + name, s.Schema, func(c *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
			return core.Must(server.ValidateActionConfig(ctx, &tfprotov6.ValidateActionConfigRequest{ActionType: name, Config: c})).Diagnostics
		}})
	}
	return all
}

// withNumber returns a value of an argument that contains a number, or nil if the argument has none.
func withNumber(a *tfprotov6.SchemaAttribute, n *big.Float) any {
	if a.NestedType == nil {
		if a.Type.Is(tftypes.Number) {
			return n
		}
		return nil
	}
	for _, field := range a.NestedType.Attributes {
		if value := withNumber(field, n); value != nil {
			fields := map[string]any{field.Name: value}
			switch a.NestedType.Nesting {
			case tfprotov6.SchemaObjectNestingModeMap:
				return map[string]any{"www A": fields}
			case tfprotov6.SchemaObjectNestingModeList, tfprotov6.SchemaObjectNestingModeSet:
				return []any{fields}
			}
			return fields
		}
	}
	return nil
}

// TestMistakesInWordsEverywhere sets each number of every configuration to one of more than 64 bits,
// and each required argument to null. The errors are the user's, at the argument.
func TestMistakesInWordsEverywhere(t *testing.T) {
	t.Parallel()
	huge, _ := new(big.Float).SetString("18446744073709551616")
	numbers := 0
	for _, d := range allSchemas(t) {
		for _, a := range d.schema.Block.Attributes {
			var want string
			config := map[string]any{}
			switch value := withNumber(a, huge); {
			case !a.Required && !a.Optional:
				continue
			case value != nil:
				numbers++
				config[a.Name] = value
				want = a.Name + " has a number beyond the range of whole numbers here, which is from -9223372036854775808 to 9223372036854775807. "
				if a.Name == "value_wo_version" {
					want += "Of a hash take 15 hex digits, as in parseint(substr(sha256(x), 0, 15), 16)."
				}
			case a.Required:
				want = a.Name + " is missing"
			default:
				continue
			}
			diags := d.validate(core.Dynamic(core.NewValue(d.schema.ValueType(), config)))
			text, found := acctest.Render(diags), 0
			for _, diag := range diags {
				if strings.Contains(diag.Summary+" "+diag.Detail, want) {
					found++
					isHere := diag.Attribute != nil && diag.Attribute.Steps()[0] == tftypes.AttributeName(a.Name)
					assert.Check(t, isHere, "%s.%s: not at the argument:\n%s", d.name, a.Name, text)
				}
			}
			assert.Check(t, found == 1 && !strings.Contains(text, "error in the provider") && !strings.Contains(text, "provider developer"),
				"%s.%s: want one error with %q, got:\n%s", d.name, a.Name, want, text)
		}
	}
	assert.Check(t, numbers >= 6, "the test found %d numbers", numbers)
}

// TestNumbersOfFunctionsInWords passes a number of more than 64 bits, and a fraction, for each whole number
// that a function takes.
func TestNumbersOfFunctionsInWords(t *testing.T) {
	t.Parallel()
	p, numbers := acctest.Unconfigured(t), 0
	for name, f := range p.Functions() {
		for i, parameter := range f.Parameters {
			if !parameter.Type.Is(tftypes.Number) {
				continue
			}
			numbers++
			for number, want := range map[string]string{"18446744073709551616": "from -9223372036854775808 to 9223372036854775807", "1.5": "must be a whole number"} {
				var arguments []any
				for _, other := range f.Parameters {
					arguments = append(arguments, tftypes.NewValue(other.Type, nil))
				}
				arguments[i], _ = new(big.Float).SetString(number)
				_, err := p.Call(name, arguments...)
				assert.Check(t, err != nil && strings.Contains(err.Text, want) && !strings.Contains(err.Text, "developer"), "%s(%s): %v", name, number, err)
			}
		}
	}
	assert.Check(t, numbers > 0, "no function takes a number")
}
