package customtype

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// read converts a value of the configuration or the state, as the framework does.
func read(t *testing.T, typ basetypes.StringTypable, in any) String {
	t.Helper()
	v, err := typ.ValueFromTerraform(t.Context(), tftypes.NewValue(tftypes.String, in))
	assert.NilError(t, err, "ValueFromTerraform")
	return v.(String)
}

// validationError returns the validator's error about the attribute thing.
func validationError(t *testing.T, tt testType, in any) string {
	t.Helper()
	s, _ := read(t, tt.typ, in).ToStringValue(t.Context())
	resp := validator.StringResponse{}
	tt.typ.Validator().ValidateString(t.Context(), validator.StringRequest{Path: path.Root("thing"), ConfigValue: s}, &resp)
	var text string
	for _, d := range resp.Diagnostics.Errors() {
		text += d.Summary() + "|" + d.Detail()
	}
	return text
}

func TestValidation(t *testing.T) {
	t.Parallel()
	for name, tt := range testTypes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []any{nil, tftypes.UnknownValue} {
				assert.Check(t, is.Equal(validationError(t, tt, in), ""), "%v", in)
			}
			for _, in := range tt.valid {
				assert.Check(t, is.Equal(validationError(t, tt, in), ""), "%q", in)
				once, err := tt.typ.Normalize(in)
				assert.Check(t, err, "Normalize(%q)", in)
				twice, err := tt.typ.Normalize(once)
				assert.Check(t, err == nil && twice == once && tt.typ.Same(in, once), "Normalize(%q) = %q, and of that %q, %v", in, once, twice, err)
			}
			for _, in := range tt.invalid {
				got := validationError(t, tt, in)
				assert.Check(t, strings.HasPrefix(got, "Invalid thing|thing must be ") && strings.HasSuffix(got, "."), "%q: %q", in, got)
				_, err := tt.typ.Normalize(in)
				assert.Check(t, err != nil, "Normalize(%q) has no error", in)
			}
		})
	}
}

func TestSemanticEquality(t *testing.T) {
	t.Parallel()
	for name, tt := range testTypes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := func(a, b string, want bool) {
				t.Helper()
				va, vb := read(t, tt.typ, a), tt.known(b)
				for _, pair := range [][2]String{{va, vb}, {vb, va}} {
					got, diags := pair[0].StringSemanticEquals(t.Context(), pair[1])
					assert.Check(t, got == want && !diags.HasError(), "%s ~ %s: %v %v, want %v", pair[0], pair[1], got, diags, want)
				}
				assert.Check(t, tt.typ.Same(a, b) == want && tt.typ.Same(b, a) == want, "Same(%q, %q) is not %v", a, b, want)
				assert.Check(t, va.Equal(vb) == (a == b), "(%s).Equal(%s) is not about the spelling", va, vb)
			}
			for _, p := range tt.examples.equal {
				check(p[0], p[1], true)
			}
			for _, p := range tt.unequal {
				check(p[0], p[1], false)
			}
			for _, s := range append(tt.valid, tt.invalid...) {
				check(s, s, true)
			}
			for _, s := range tt.invalid {
				check(s, s+"\x00", false)
				check(s, tt.valid[0], false)
			}
		})
	}
}

// TestValues converts values of each type as the framework does, null and unknown ones too.
func TestValues(t *testing.T) {
	t.Parallel()
	for name, tt := range testTypes {
		inputs := []any{nil, tftypes.UnknownValue, ""}
		for _, s := range append(tt.valid, tt.invalid...) {
			if s != "" {
				inputs = append(inputs, s)
			}
		}
		for i, in := range inputs {
			raw, v := tftypes.NewValue(tftypes.String, in), read(t, tt.typ, in)
			back, err := v.ToTerraformValue(t.Context())
			assert.Check(t, err == nil && back.Equal(raw), "%s: %s became %s, %v", name, raw, back, err)
			s, _ := v.ToStringValue(t.Context())
			again, diags := tt.typ.ValueFromString(t.Context(), s)
			assert.Check(t, !diags.HasError() && again == basetypes.StringValuable(v), "%s: %s became %s, %v", name, v, again, diags)
			assert.Check(t, v.Type(t.Context()) == attr.Type(tt.typ) && !v.Equal(s), "%s: %s has the type %#v, or equals a plain string", name, v, v.Type(t.Context()))
			for j, other := range inputs[:4] {
				o := read(t, tt.typ, other)
				equal, diags := v.StringSemanticEquals(t.Context(), o)
				assert.Check(t, v.Equal(o) == (i == j) && !diags.HasError() && (i >= 4 || equal == (i == j)), "%s: %s ~ %s: %v %v", name, v, o, equal, diags)
			}
		}
		_, err := tt.typ.ValueFromTerraform(t.Context(), tftypes.NewValue(tftypes.Bool, true))
		assert.Check(t, err != nil, "%s reads a bool", name)
		typ := tt.typ.ValueType(t.Context())
		assert.Check(t, typ == attr.Value(String{format: tt.typ.format}) && tt.typ.String() == "customtype."+name && !tt.typ.Equal(types.StringType), "%s: the values of %s are %#v", name, tt.typ, typ)
		for other, o := range testTypes {
			assert.Check(t, tt.typ.Equal(o.typ) == (other == name), "%s.Equal(%s) is wrong", name, other)
		}
	}
}
