package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// ParseRule reads a rule from a JSON object. It refuses unknown members, and a
// zero where a zero would mean that the member is not there; its *InvalidError
// tells all of that and all that Validate finds.
func ParseRule(data []byte) (Rule, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return Rule{}, &InvalidError{[]string{`a fault must be a JSON object, such as {"operation": "create-mailbox", "status": 503}`}}
	}
	var r Rule
	fields, names := jsonFields(reflect.ValueOf(&r).Elem())
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		field, ok := fields[name]
		if !ok {
			problems = append(problems, fmt.Sprintf("unknown member %q; there are %s", name, strings.Join(names, ", ")))
			continue
		}
		if string(members[name]) == "null" || json.Unmarshal(members[name], field.Addr().Interface()) != nil {
			problems = append(problems, name+": must be "+inWords(field))
			continue
		}
		if isNumber(field) && field.IsZero() && name != "seed" {
			problems = append(problems, name+": must not be 0; leave it out")
		}
	}
	if invalid, ok := errors.AsType[*InvalidError](r.Validate()); ok {
		problems = append(problems, invalid.Problems...)
	}
	if problems != nil {
		return Rule{}, &InvalidError{problems}
	}
	return r, nil
}

func jsonFields(v reflect.Value) (fields map[string]reflect.Value, names []string) {
	fields = map[string]reflect.Value{}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		fields[name] = v.Field(i)
		names = append(names, name)
	}
	return fields, names
}

func isNumber(v reflect.Value) bool { return v.CanInt() || v.CanUint() || v.CanFloat() }

// inWords says what JSON a field takes.
func inWords(v reflect.Value) string {
	switch {
	case v.Type() == reflect.TypeFor[map[string]string]():
		return "an object of strings"
	case v.Kind() == reflect.Bool:
		return "true or false"
	case v.CanFloat():
		return "a number"
	case v.Type() == reflect.TypeFor[*int](), v.Kind() == reflect.Int, v.Kind() == reflect.Uint64:
		return "a whole number"
	case v.Type().Name() == "Duration":
		return `a duration such as "250ms"`
	}
	return "a string"
}
