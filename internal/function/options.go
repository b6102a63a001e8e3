package function

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/maildns"
)

// optionsName is the argument that holds what a caller may leave out. It comes
// last and may be left out itself.
const optionsName = "options"

// optionsParameter is the parameter of that argument. An object type would want
// every attribute in every call, hence the dynamic type; being variadic, it can
// be left out.
func optionsParameter(markdown string) function.Parameter {
	return function.DynamicParameter{Name: optionsName, MarkdownDescription: markdown}
}

// options are the attributes of that argument. Each is taken once; what is left
// at the end is unknown. An attribute that is null is as good as none, so that
// one can be set on a condition.
type options struct {
	given    map[string]attr.Value
	known    []string
	problems maildns.Problems
}

func readOptions(arguments []types.Dynamic) *options {
	o := &options{given: map[string]attr.Value{}}
	switch len(arguments) {
	case 0:
	case 1:
		switch v := arguments[0].UnderlyingValue().(type) {
		case basetypes.ObjectValue:
			o.given = maps.Clone(v.Attributes())
		case basetypes.MapValue:
			o.given = maps.Clone(v.Elements())
		default:
			o.fail(optionsName, "must be an object, such as { ... }")
		}
	default:
		o.fail(optionsName, "must be a single object; %d arguments are given", len(arguments))
	}
	return o
}

// end returns the problems with the options, once all that are known are taken.
func (o *options) end() maildns.Problems {
	for _, name := range slices.Sorted(maps.Keys(o.given)) {
		o.fail(optionsName, "there is no option %s; expected %s", name, strings.Join(o.known, ", "))
	}
	return o.problems
}

func (o *options) fail(name, format string, args ...any) {
	o.failAt(name, -1, format, args...)
}

func (o *options) failAt(name string, element int, format string, args ...any) {
	o.problems = append(o.problems, maildns.Problem{Field: name, Element: element, Text: fmt.Sprintf(format, args...)})
}

// take returns an attribute, and nil where it is absent or null.
func (o *options) take(name string) attr.Value {
	o.known = append(o.known, name)
	v, ok := o.given[name]
	delete(o.given, name)
	if d, dynamic := v.(basetypes.DynamicValue); dynamic {
		v = d.UnderlyingValue()
	}
	if !ok || v == nil || v.IsNull() {
		return nil
	}
	return v
}

// text returns a string.
func (o *options) text(name string) string {
	v := o.take(name)
	if v == nil {
		return ""
	}
	s, ok := textOf(v)
	switch {
	case !ok:
		o.fail(name, "must be a string")
	case s == "":
		o.fail(name, "must not be empty; leave it out, or set it to null")
	}
	return s
}

// texts returns the strings of a list, or the one that is given in its place.
func (o *options) texts(name string) []string {
	v := o.take(name)
	var elements []attr.Value
	switch v := v.(type) {
	case nil:
		return nil
	case interface{ Elements() []attr.Value }: // list, set, tuple
		elements = v.Elements()
	default:
		elements = []attr.Value{v}
	}
	var out []string
	for i, e := range elements {
		s, ok := textOf(e)
		switch {
		case e.IsNull():
			o.failAt(name, i, "%s", nullElement)
			out = append(out, "") // the others keep their places
		case !ok:
			o.fail(name, "must be a list of strings")
			return nil
		default:
			out = append(out, s)
		}
	}
	return out
}

// words returns the words of a list, or of a text that has colons between them.
func (o *options) words(name string) []string {
	list := o.texts(name)
	if len(list) == 1 {
		return strings.Split(list[0], ":")
	}
	return list
}

// number returns a whole number, also one that is given as a string.
func (o *options) number(name string) *int64 {
	v := o.take(name)
	if v == nil {
		return nil
	}
	if s, ok := textOf(v); ok {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return &n
		}
	}
	o.fail(name, "must be a whole number")
	return nil
}

// flag returns a bool, also one that is given as a string.
func (o *options) flag(name string) bool {
	v := o.take(name)
	if v == nil {
		return false
	}
	s, _ := textOf(v)
	if s != "true" && s != "false" {
		o.fail(name, "must be true or false")
	}
	return s == "true"
}

// textOf converts a value to a string, as Terraform converts arguments.
func textOf(v attr.Value) (string, bool) {
	switch v := v.(type) {
	case basetypes.DynamicValue:
		return textOf(v.UnderlyingValue())
	case basetypes.StringValue:
		return v.ValueString(), true
	case basetypes.BoolValue:
		return strconv.FormatBool(v.ValueBool()), true
	case basetypes.NumberValue:
		return numberText(v.ValueBigFloat()), true
	}
	return "", false
}

func numberText(f *big.Float) string { return f.Text('f', -1) }
