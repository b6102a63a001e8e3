package customtype_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func TestInterfaces(t *testing.T) {
	t.Parallel()
	// That types and values implement theirs the table of kinds shows.
	for name, k := range kinds {
		for _, typ := range []stringType{k.strict, k.lenient} {
			if typ.ValueType(t.Context()) != k.zero && typ == k.lenient {
				t.Errorf("%s: ValueType is %#v", name, typ.ValueType(t.Context()))
			}
			if got, want := typ.String(), "customtype."+name+"Type"; got != want {
				t.Errorf("String() = %s, want %s", got, want)
			}
			if !typ.TerraformType(t.Context()).Equal(tftypes.String) {
				t.Errorf("%s: TerraformType is %s", name, typ.TerraformType(t.Context()))
			}
			if typ.Equal(types.StringType) || types.StringType.Equal(typ) {
				t.Errorf("%s equals the plain string type", name)
			}
			for other, o := range kinds {
				if typ.Equal(o.strict) != (other == name) || typ.Equal(o.lenient) != (other == name) {
					t.Errorf("%s.Equal(%s) is wrong", name, other)
				}
			}
		}
	}
}

// read returns what the framework makes of a value of the configuration or the
// state.
func read(t *testing.T, typ stringType, in any) value {
	t.Helper()
	v, err := typ.ValueFromTerraform(t.Context(), tftypes.NewValue(tftypes.String, in))
	if err != nil {
		t.Fatalf("ValueFromTerraform: %v", err)
	}
	return v.(value)
}

// complaints returns what the value says of itself as an attribute, as an
// argument, and by the validator.
func complaints(ctx context.Context, typ stringType, v value) (attribute, parameter, configured string) {
	a := xattr.ValidateAttributeResponse{}
	v.ValidateAttribute(ctx, xattr.ValidateAttributeRequest{Path: path.Root("thing")}, &a)
	for _, d := range a.Diagnostics.Errors() {
		attribute += d.Summary() + "|" + d.Detail()
	}
	p := function.ValidateParameterResponse{}
	v.ValidateParameter(ctx, function.ValidateParameterRequest{Position: 2}, &p)
	if p.Error != nil {
		parameter = p.Error.Text
	}
	s, _ := v.ToStringValue(ctx)
	c := validator.StringResponse{}
	typ.Validator().ValidateString(ctx, validator.StringRequest{Path: path.Root("thing"), ConfigValue: s}, &c)
	for _, d := range c.Diagnostics.Errors() {
		configured += d.Summary() + "|" + d.Detail()
	}
	return attribute, parameter, configured
}

func TestValidation(t *testing.T) {
	t.Parallel()
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []any{nil, tftypes.UnknownValue} {
				for _, typ := range []stringType{k.strict, k.lenient} {
					if a, p, c := complaints(t.Context(), typ, read(t, typ, in)); a+p+c != "" {
						t.Errorf("%v: %s %s %s", in, a, p, c)
					}
				}
			}
			for _, in := range k.valid {
				if a, p, c := complaints(t.Context(), k.strict, read(t, k.strict, in)); a+p+c != "" {
					t.Errorf("%q: %s %s %s", in, a, p, c)
				}
				if _, err := k.normal(in); err != nil {
					t.Errorf("Normalize(%q): %v", in, err)
				}
			}
			for _, in := range k.invalid {
				checkInvalid(t, k, in)
			}
		})
	}
}

func checkInvalid(t *testing.T, k kind, in string) {
	t.Helper()
	a, p, c := complaints(t.Context(), k.strict, read(t, k.strict, in))
	if !strings.HasPrefix(a, "Invalid thing|thing must be ") || !strings.HasSuffix(a, ".") {
		t.Errorf("%q: as an attribute: %q", in, a)
	}
	if !strings.HasPrefix(p, "value must be ") {
		t.Errorf("%q: as an argument: %q", in, p)
	}
	if c != a {
		t.Errorf("%q: the validator says %q, the value %q", in, c, a)
	}
	if _, err := k.normal(in); err == nil {
		t.Errorf("Normalize(%q) has no error", in)
	}
	for what, v := range map[string]value{"lenient": read(t, k.lenient, in), "new": k.known(in)} {
		if a, p, _ := complaints(t.Context(), k.lenient, v); a != "" || p == "" {
			t.Errorf("%s %q: as an attribute %q, as an argument %q", what, in, a, p)
		}
	}
}

func TestSemanticEquality(t *testing.T) {
	t.Parallel()
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := func(a, b string, want bool) {
				t.Helper()
				va, vb := read(t, k.strict, a), k.known(b)
				for _, pair := range [][2]value{{va, vb}, {vb, va}} {
					got, diags := pair[0].StringSemanticEquals(t.Context(), pair[1])
					if got != want || diags.HasError() {
						t.Errorf("%s ~ %s: %v %v, want %v", pair[0], pair[1], got, diags, want)
					}
				}
				if k.same(a, b) != want || k.same(b, a) != want {
					t.Errorf("Equal(%q, %q) is not %v", a, b, want)
				}
				if va.Equal(vb) != (a == b) {
					t.Errorf("(%s).Equal(%s) is not about the spelling", va, vb)
				}
			}
			for _, p := range k.equal {
				check(p[0], p[1], true)
			}
			for _, p := range k.unequal {
				check(p[0], p[1], false)
			}
			for _, s := range append(k.valid, k.invalid...) {
				check(s, s, true)
			}
			for _, s := range k.invalid {
				check(s, s+"\x00", false)
				check(s, k.valid[0], false)
			}
		})
	}
}

func TestSemanticEqualityOfNoValue(t *testing.T) {
	t.Parallel()
	for name, k := range kinds {
		values := []value{k.zero, k.unknown(), k.known(""), k.known(k.valid[0])}
		for i, a := range values {
			for j, b := range values {
				if got, diags := a.StringSemanticEquals(t.Context(), b); got != (i == j) || diags.HasError() {
					t.Errorf("%s: %s ~ %s: %v %v", name, a, b, got, diags)
				}
				if got := a.Equal(b); got != (i == j) {
					t.Errorf("%s: (%s).Equal(%s) = %v", name, a, b, got)
				}
			}
		}
		if k.zero.Equal(types.StringNull()) || k.known("x").Equal(types.StringValue("x")) {
			t.Errorf("%s equals a plain string", name)
		}
	}
}

func TestNormalizeIsIdempotent(t *testing.T) {
	t.Parallel()
	for name, k := range kinds {
		for _, in := range k.valid {
			once, err := k.normal(in)
			if err != nil {
				t.Errorf("%s: Normalize(%q): %v", name, in, err)
				continue
			}
			if twice, err := k.normal(once); err != nil || twice != once {
				t.Errorf("%s: Normalize(%q) = %q, and of that %q, %v", name, in, once, twice, err)
			}
			if !k.same(in, once) {
				t.Errorf("%s: %q is not equal to its canonical form %q", name, in, once)
			}
		}
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for name, k := range kinds {
		inputs := []any{nil, tftypes.UnknownValue}
		for _, s := range append(k.valid, k.invalid...) {
			inputs = append(inputs, s)
		}
		for _, typ := range []stringType{k.strict, k.lenient} {
			for _, in := range inputs {
				raw := tftypes.NewValue(tftypes.String, in)
				v := read(t, typ, in)
				back, err := v.ToTerraformValue(t.Context())
				if err != nil || !back.Equal(raw) {
					t.Errorf("%s: %s became %s, %v", name, raw, back, err)
				}
				if v.IsNull() != raw.IsNull() || v.IsUnknown() != !raw.IsKnown() {
					t.Errorf("%s: %s reads as %s", name, raw, v)
				}
				if !v.Type(t.Context()).Equal(typ) || v.Type(t.Context()) != attr.Type(typ) {
					t.Errorf("%s: the type of %s is %#v", name, v, v.Type(t.Context()))
				}
				s, _ := v.ToStringValue(t.Context())
				again, diags := typ.ValueFromString(t.Context(), s)
				if diags.HasError() || again != basetypes.StringValuable(v) {
					t.Errorf("%s: %s became %s, %v", name, v, again, diags)
				}
			}
			if _, err := typ.ValueFromTerraform(t.Context(), tftypes.NewValue(tftypes.Bool, true)); err == nil {
				t.Errorf("%s reads a bool", name)
			}
		}
	}
}

func TestConstructors(t *testing.T) {
	t.Parallel()
	for name, k := range kinds {
		s := "as it is"
		for v, want := range map[value]string{
			k.known(s): `"as it is"`, k.pointer(&s): `"as it is"`,
			k.zero: "<null>", k.pointer(nil): "<null>", k.unknown(): "<unknown>",
		} {
			if v.String() != want {
				t.Errorf("%s: %s, want %s", name, v, want)
			}
		}
		if got := k.known(s).ValueString(); got != s {
			t.Errorf("%s: ValueString() = %q", name, got)
		}
	}
}
