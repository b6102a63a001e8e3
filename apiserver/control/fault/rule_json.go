package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/strictjson"
)

// ParseRule reads a rule from a JSON object, as strictly as package strictjson
// does. It refuses a zero where a zero would mean that the field is not there; its
// *InvalidError tells all of that and all that Validate finds.
func ParseRule(data []byte) (Rule, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return Rule{}, &InvalidError{[]string{`a fault must be a JSON object, such as {"operation": "create-mailbox", "status": 503}`}}
	}
	var r Rule
	var problems []string
	if wrong, ok := errors.AsType[*strictjson.Error](strictjson.Unmarshal(data, &r)); ok {
		for _, p := range wrong.Problems {
			problems = append(problems, p.String())
			delete(members, p.Path)
		}
		if wrong.More > 0 {
			problems = append(problems, fmt.Sprintf("and %d more problems", wrong.More))
		}
	}
	problems = append(problems, zeros(r, members)...)
	if invalid, ok := errors.AsType[*InvalidError](r.Validate()); ok {
		problems = append(problems, invalid.Problems...)
	}
	if problems != nil {
		return Rule{}, &InvalidError{problems}
	}
	return r, nil
}

// zeros says which numbers are among the members and are 0.
func zeros(r Rule, members map[string]json.RawMessage) (problems []string) {
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		_, given := members[name]
		if field := v.Field(i); given && name != "seed" && isNumber(field) && field.IsZero() {
			problems = append(problems, name+": must not be 0; leave it out")
		}
	}
	return problems
}

func isNumber(v reflect.Value) bool { return v.CanInt() || v.CanUint() || v.CanFloat() }
