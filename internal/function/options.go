package function

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/maildns"
)

// optionsName is the name of the last, optional parameter.
const optionsName = "options"

// optionsParameter returns the parameter for options. Its type is dynamic, because an object type would
// require every attribute in every call; it is variadic, so that callers can omit it.
func optionsParameter(markdown string) function.Parameter {
	return function.DynamicParameter{Name: optionsName, MarkdownDescription: markdown}
}

// options reads the attributes of the options object. Each method takes one attribute by name, and end
// reports the attributes that no method took. A null attribute counts as absent, so that a configuration
// can set it conditionally.
type options struct {
	remaining map[string]attr.Value
	known     []string
	problems  maildns.Problems
}

func readOptions(arguments []types.Dynamic) *options {
	o := &options{}
	switch len(arguments) {
	case 0:
	case 1:
		var ok bool
		if o.remaining, ok = membersOf(arguments[0]); !ok {
			o.fail(optionsName, "must be an object, such as { ... }")
		}
	default:
		o.fail(optionsName, "must be a single object, not %d arguments", len(arguments))
	}
	return o
}

// optionsOf treats an argument like an option.
func optionsOf(name string, argument attr.Value) *options {
	return &options{remaining: map[string]attr.Value{name: argument}}
}

// end returns the problems of all options, including unknown ones.
func (o *options) end() maildns.Problems {
	for _, name := range slices.Sorted(maps.Keys(o.remaining)) {
		o.fail(optionsName, "unknown option %s; expected %s", name, strings.Join(o.known, ", "))
	}
	return o.problems
}

func (o *options) fail(name, format string, args ...any) {
	o.failAt(name, -1, format, args...)
}

func (o *options) failAt(name string, element int, format string, args ...any) {
	o.problems = append(o.problems, maildns.Problem{Field: name, Element: element, Text: fmt.Sprintf(format, args...)})
}

// take returns an attribute, or nil if it is absent or null.
func (o *options) take(name string) attr.Value {
	o.known = append(o.known, name)
	v, ok := o.remaining[name]
	delete(o.remaining, name)
	if d, dynamic := v.(basetypes.DynamicValue); dynamic {
		v = d.UnderlyingValue()
	}
	if !ok || v == nil || v.IsNull() {
		return nil
	}
	return v
}

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

// texts returns the strings of an option, a list or a single string.
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
			out = append(out, "") // later elements keep their positions
		case !ok:
			o.fail(name, "must be a list of strings")
			return nil
		default:
			out = append(out, s)
		}
	}
	return out
}

// domains returns the domain names of an option in canonical form. It returns nil if the option is absent, and
// another empty list if its list is empty.
func (o *options) domains(name string) []string {
	given, present := o.remaining[name]
	names := o.texts(name)
	for i, text := range names {
		normalized, err := domainname.Normalize(text)
		if err != nil {
			o.failAt(name, i, "%q: %s", text, err)
			continue
		}
		names[i] = normalized
	}
	if names == nil && present && !given.IsNull() {
		return []string{}
	}
	return names
}

// words returns the words of an option, a list or a string with colons between the words.
func (o *options) words(name string) []string {
	list := o.texts(name)
	if len(list) == 1 {
		return strings.Split(list[0], ":")
	}
	return list
}

// number returns a whole number, which the option may also contain as a string, or nil.
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

// textOf converts a value to a string, like Terraform converts arguments. It returns false for null.
func textOf(v attr.Value) (string, bool) {
	if v == nil || v.IsNull() {
		return "", false
	}
	switch v := v.(type) {
	case basetypes.DynamicValue:
		return textOf(v.UnderlyingValue())
	case basetypes.StringValue:
		return v.ValueString(), true
	case basetypes.BoolValue:
		return strconv.FormatBool(v.ValueBool()), true
	case basetypes.NumberValue:
		return v.ValueBigFloat().Text('f', -1), true
	}
	return "", false
}
