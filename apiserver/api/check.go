package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// The values of the tag format.
const (
	FormatUUID = "uuid"
	FormatTime = "date-time" // ParseTime parses it
	// FormatName is a name: one line of text that people see. Its rule is text.CheckName.
	FormatName = "name"
)

// NamePattern is the pattern of a name in the OpenAPI document. It accepts some names that
// text.CheckName refuses, because regular expressions differ between languages; see NameRule.
const NamePattern = `^[^\x00-\x1f\x7f-\x9f]*$`

// NameRule is the complete rule of a name, for people.
const NameRule = "One line with at least one visible character or space, without control characters and without characters that change the direction of text"

// TextPattern is the rule of text in several lines: PostgreSQL stores no NUL. Tags repeat it.
const TextPattern = `^[^\x00]*$`

// Validate returns the problems of a JSON value and its members, with their locations. Numbers must be
// of type json.Number. strict refuses unknown members of an object.
func (f *Field) Validate(value any, strict bool) []*Problem {
	loc := []string{f.In}
	if f.Name != "" {
		loc = append(loc, f.Name)
	}
	return f.validate(value, strict, loc)
}

func (f *Field) validate(value any, strict bool, loc []string) (found []*Problem) {
	if p := f.Check(value); p != nil {
		found = append(found, p.At(loc...))
	}
	within := func(place string) []string { return append(slices.Clip(loc), place) }
	if list, ok := value.([]any); ok && f.Element != nil {
		for i, element := range list {
			found = append(found, f.Element.validate(element, strict, within(strconv.Itoa(i)))...)
		}
	}
	object, ok := value.(map[string]any)
	if !ok || f.Members == nil {
		return found
	}
	for _, m := range f.Members {
		switch member, sent := object[m.Name]; {
		case sent && (member != nil || m.Required):
			found = append(found, m.validate(member, strict, within(m.Name))...)
		case m.Required:
			found = append(found, Missing().At(within(m.Name)...))
		}
	}
	if !strict {
		return found
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.ContainsFunc(f.Members, func(m *Field) bool { return m.Name == name }) {
			found = append(found, Extra().At(within(name)...))
		}
	}
	return found
}

// Check returns the first problem of a value, or nil. It does not check the members of a list or an object. The
// value is JSON as for Validate, or a Go string, an integer or a pointer to one; Check accepts all other Go values.
func (f *Field) Check(value any) *Problem {
	switch value.(type) {
	case nil, bool, string, json.Number, []any, map[string]any:
	default:
		switch v := reflect.Indirect(reflect.ValueOf(value)); {
		case v.Kind() == reflect.String:
			value = v.String()
		case v.CanInt():
			value = json.Number(strconv.FormatInt(v.Int(), 10))
		default:
			return nil
		}
	}
	switch f.Kind {
	case reflect.String:
		return f.checkText(value)
	case reflect.Int64:
		return f.checkInteger(value)
	case reflect.Slice:
		return f.checkList(value)
	case reflect.Bool:
		if _, ok := value.(bool); !ok {
			return violation(TypeBool, "", "Input should be a valid boolean")
		}
	case reflect.Struct:
		if _, ok := value.(map[string]any); !ok {
			return violation(TypeDict, "", "Input should be a valid dictionary")
		}
	}
	return nil
}

// violation returns a problem in Pydantic's words. Rule uses rule, by default the same words.
func violation(typ, rule, format string, args ...any) *Problem {
	return &Problem{Type: typ, Msg: fmt.Sprintf(format, args...), rule: rule}
}

func (f *Field) checkInteger(value any) *Problem {
	number, _ := value.(json.Number)
	switch n, err := number.Float64(); {
	case (err != nil || n != math.Trunc(n)) && f.In != "": // a parameter is text
		return violation(TypeInt, "", "Input should be a valid integer, unable to parse string as an integer")
	case err != nil || n != math.Trunc(n):
		return violation(TypeInt, "", "Input should be a valid integer")
	case f.Minimum != nil && n < float64(*f.Minimum):
		return violation(TypeGreaterThanEqual, f.rangeRule(), "Input should be greater than or equal to %d", *f.Minimum)
	case f.Maximum != nil && n > float64(*f.Maximum):
		return violation(TypeLessThanEqual, f.rangeRule(), "Input should be less than or equal to %d", *f.Maximum)
	}
	return nil
}

func (f *Field) checkText(value any) *Problem {
	s, ok := value.(string)
	n := int64(utf8.RuneCountInString(s))
	switch {
	case !ok:
		return violation(TypeString, "", "Input should be a valid string")
	case f.MinLength != nil && n < *f.MinLength:
		return violation(TypeStringTooShort, f.lengthRule(), "String should have at least %s", plural(*f.MinLength, "character"))
	case f.MaxLength != nil && n > *f.MaxLength:
		return violation(TypeStringTooLong, f.lengthRule(), "String should have at most %s", plural(*f.MaxLength, "character"))
	case f.Pattern == TextPattern && strings.Contains(s, "\x00"):
		return Invalid("must not hold the character NUL")
	case f.Enum != nil && !slices.Contains(f.Enum, s):
		last := len(f.Enum) - 1
		return violation(TypeEnum, "must be one of "+strings.Join(f.Enum, ", "), "Input should be '%s' or '%s'", strings.Join(f.Enum[:last], "', '"), f.Enum[last])
	case f.Format == FormatName:
		if err := text.CheckName(s); err != nil {
			return violation(TypePattern, err.Error(), "String should have no control character and at least one visible character")
		}
	case f.Format == FormatUUID && uuid.Validate(s) != nil:
		return violation(TypeUUID, "must be a UUID", "Input should be a valid UUID")
	case f.Format == FormatTime:
		_, err := ParseTime(s)
		if _, malformed := errors.AsType[*time.ParseError](err); malformed {
			return violation(TypeDatetime, "must be a time of RFC 3339, such as 2027-01-31T12:00:00Z", "Input should be a valid datetime with a timezone (RFC 3339)")
		} else if err != nil {
			return Invalid("%s", err)
		}
	}
	return nil
}

func (f *Field) checkList(value any) *Problem {
	list, ok := value.([]any)
	n := int64(len(list))
	switch {
	case !ok:
		return violation(TypeList, "", "Input should be a valid list")
	case f.MinItems != nil && n < *f.MinItems:
		return violation(TypeTooShort, "", "List should have at least %s", plural(*f.MinItems, "item"))
	case f.MaxItems != nil && n > *f.MaxItems:
		return violation(TypeTooLong, "", "List should have at most %s", plural(*f.MaxItems, "item"))
	}
	return nil
}

func plural(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func (f *Field) rangeRule() string { return boundsRule("be", f.Minimum, f.Maximum, "") }

func (f *Field) lengthRule() string {
	if f.MaxLength == nil && *f.MinLength == 1 {
		return "must not be empty"
	}
	return boundsRule("have", f.MinLength, f.MaxLength, " characters")
}

// boundsRule describes bounds. At most one may be nil.
func boundsRule(verb string, low, high *int64, unit string) string {
	switch {
	case low == nil:
		return fmt.Sprintf("must %s at most %d%s", verb, *high, unit)
	case high == nil:
		return fmt.Sprintf("must %s at least %d%s", verb, *low, unit)
	}
	return fmt.Sprintf("must %s %d to %d%s", verb, *low, *high, unit)
}

// Rule returns the violated rule for users, or nil for a nil p.
func (p *Problem) Rule() error {
	if p == nil {
		return nil
	}
	return errors.New(cmp.Or(p.rule, p.Msg))
}
