package apiserver_test

import (
	"fmt"
	"strconv"
	"strings"
)

// breakage is an invalid value of an input, with the type and message of the expected
// error.
type breakage struct {
	value    any
	typ, msg string
}

// breakages returns values that violate an input's type or tags.
func (f input) breakages() []breakage {
	if f.loc[0] != "body" {
		return f.brokenParam()
	}
	var all []breakage
	wrong := map[string]breakage{
		"string": {nil, "string_type", "Input should be a valid string"},
		"int":    {nil, "int_parsing", "Input should be a valid integer"},
		"bool":   {nil, "bool_type", "Input should be a valid boolean"},
		"list":   {nil, "list_type", "Input should be a valid list"},
		"dict":   {nil, "dict_type", "Input should be a valid dictionary"},
	}
	others := map[string][]any{
		"string": {1, true, []any{}, map[string]any{}},
		"int":    {"1", 1.5, true, []any{}, map[string]any{}},
		"bool":   {"true", 1, []any{}, map[string]any{}},
		"list":   {"x", 1, map[string]any{}},
		"dict":   {"x", 1, true, []any{}},
	}
	if f.required {
		all = append(all, breakage{absent{}, "missing", "Field required"})
	}
	values := others[f.kind()]
	if f.required && !f.nullable || f.element {
		values = append(values, nil)
	}
	for _, v := range values {
		b := wrong[f.kind()]
		b.value = v
		all = append(all, b)
	}
	all = append(all, f.outOfBounds()...)
	if f.kind() == "string" {
		all = append(all, f.brokenText()...)
	}
	return all
}

func (f input) brokenParam() []breakage {
	switch f.kind() {
	case "int":
		const msg = "Input should be a valid integer, unable to parse string as an integer"
		all := []breakage{{"x", "int_parsing", msg}, {"1.5", "int_parsing", msg}, {"99999999999999999999", "int_parsing", msg}}
		if f.loc[0] == "query" {
			all = append(all, breakage{"", "int_parsing", msg}) // an empty path parameter would be another path
		}
		if f.tag.Get("minimum") != "" {
			all = append(all, breakage{"0", "greater_than_equal", "Input should be greater than or equal to 1"})
		}
		if most, err := strconv.Atoi(f.tag.Get("maximum")); err == nil {
			all = append(all, breakage{strconv.Itoa(most + 1), "less_than_equal", fmt.Sprintf("Input should be less than or equal to %d", most)})
		}
		return all
	case "bool":
		const msg = "Input should be a valid boolean"
		return []breakage{{"", "bool_type", msg}, {"x", "bool_type", msg}}
	}
	var all []breakage
	for _, b := range append(f.outOfBounds(), f.brokenText()...) {
		if b.value != "" { // an empty parameter counts as absent
			all = append(all, b)
		}
	}
	return all
}

// outOfBounds returns the values just beyond each bound.
func (f input) outOfBounds() (all []breakage) {
	bound := func(key string, beyond int, value func(int) any, typ, msg string) {
		n, err := strconv.Atoi(f.tag.Get(key))
		if err != nil {
			return
		}
		plural := "s"
		if n == 1 {
			plural = ""
		}
		all = append(all, breakage{value(n + beyond), typ, strings.NewReplacer("#", strconv.Itoa(n), "(s)", plural).Replace(msg)})
	}
	text := func(n int) any { return strings.Repeat("ü", n) }
	number := func(n int) any { return n }
	list := func(n int) any {
		items := make([]any, n)
		for i := range items {
			items[i] = "a.example.com"
			if f.name() == "items" {
				items[i] = obj{"first_name": "f", "last_name": "l", "local_part": fmt.Sprint("p", i)}
			}
		}
		return items
	}
	bound("minLength", -1, text, "string_too_short", "String should have at least # character(s)")
	bound("maxLength", +1, text, "string_too_long", "String should have at most # character(s)")
	bound("minimum", -1, number, "greater_than_equal", "Input should be greater than or equal to #")
	bound("maximum", +1, number, "less_than_equal", "Input should be less than or equal to #")
	if f.tag.Get("pattern") == `^[^\x00]*$` {
		all = append(all, breakage{"a\x00b", "value_error", "Value error, must not hold the character NUL"})
	}
	if f.tag.Get("format") == "name" {
		for _, bad := range []string{"a\x00b", "a\tb", "\r", "a\u0085", "\u202ea", "\u200b"} {
			all = append(all, breakage{bad, "string_pattern_mismatch", "String should have no control character and at least one visible character"})
		}
	}
	bound("minItems", -1, list, "too_short", "List should have at least # item(s)")
	bound("maxItems", +1, list, "too_long", "List should have at most # item(s)")
	return all
}

// brokenText returns strings that violate a format or an enumeration.
func (f input) brokenText() (all []breakage) {
	if enum := f.tag.Get("enum"); enum != "" {
		values := strings.Split(enum, ",")
		last := len(values) - 1
		msg := "Input should be '" + strings.Join(values[:last], "', '") + "' or '" + values[last] + "'"
		all = append(all, breakage{"x", "enum", msg}, breakage{strings.ToUpper(values[0]) + "_", "enum", msg})
	}
	switch f.tag.Get("format") {
	case "uuid":
		for _, v := range []string{"x", "a\x00b", "11111111-2222-4333-8444-55555555555", "11111111-2222-4333-8444-55555555555g", "11111111x2222-4333-8444-555555555555"} {
			all = append(all, breakage{v, "uuid_parsing", "Input should be a valid UUID"})
		}
	case "date-time":
		for _, v := range []string{"x", "", "2027-01-01", "2027-01-01T00:00:00", "2027-01-01 00:00:00Z", "2027-02-30T00:00:00Z"} {
			all = append(all, breakage{v, "datetime_from_date_parsing", "Input should be a valid datetime with a timezone (RFC 3339)"})
		}
	}
	return all
}

// conditional lists the fields that are required depending on another field.
var conditional = map[string]bool{"prio": true, "value": true, "capability_key": true, "resource_type": true, "resource_id": true}

// accepted returns the values at the bounds, and null if it is allowed.
func (f input) accepted() (values []any) {
	if f.loc[0] == "query" && (f.tag.Get("minimum") != "" || f.tag.Get("maximum") != "") {
		values = append(values, "1")
		if most := f.tag.Get("maximum"); most != "" {
			values = append(values, most)
		}
	}
	if f.loc[0] != "body" || f.element {
		return values
	}
	if !f.required && !conditional[f.name()] {
		values = append(values, nil, absent{})
	}
	for _, key := range []string{"minimum", "maximum"} {
		if n, err := strconv.Atoi(f.tag.Get(key)); err == nil {
			values = append(values, n)
		}
	}
	// The text of these fields has further rules.
	ruled := map[string]bool{
		"country": true, "email": true, "phone": true, "target_email": true, "local_part": true, "redirect_url": true,
		"name": f.tag.Get("maxLength") == "255", "domain": true, "value": f.tag.Get("maxLength") == "",
	}
	for _, key := range []string{"minLength", "maxLength"} {
		if n, err := strconv.Atoi(f.tag.Get(key)); err == nil && !ruled[f.name()] {
			values = append(values, strings.Repeat("ü", n))
		}
	}
	if enum := f.tag.Get("enum"); enum != "" && f.name() != "type" && f.name() != "grant_kind" && f.name() != "subject_type" {
		for v := range strings.SplitSeq(enum, ",") {
			values = append(values, v)
		}
	}
	return values
}
