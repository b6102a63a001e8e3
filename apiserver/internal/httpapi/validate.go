package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// validator collects problems in the words of Pydantic v2, for the keywords that the contract
// uses.
type validator struct {
	schemas huma.Registry
	// strict reports members that an object does not have.
	strict bool
	// loc is the place of the value.
	loc   []string
	found []*api.Problem
}

func (v *validator) report(typ, format string, args ...any) {
	v.add(&api.Problem{Type: typ, Msg: fmt.Sprintf(format, args...)})
}

func (v *validator) add(p *api.Problem) { v.found = append(v.found, p.At(slices.Clone(v.loc)...)) }

// member checks the value at a place within the current one.
func (v *validator) member(place string, s *huma.Schema, value any) {
	v.loc = append(v.loc, place)
	v.check(s, value)
	v.loc = v.loc[:len(v.loc)-1]
}

// check reports the first problem of a value and those of its members.
func (v *validator) check(s *huma.Schema, value any) {
	for s.Ref != "" {
		s = v.schemas.SchemaFromRef(s.Ref)
	}
	switch s.Type {
	case huma.TypeBoolean:
		if _, ok := value.(bool); !ok {
			v.report(api.TypeBool, "Input should be a valid boolean")
		}
	case huma.TypeInteger:
		v.integer(s, value)
	case huma.TypeString:
		v.text(s, value)
	case huma.TypeArray:
		v.array(s, value)
	case huma.TypeObject:
		v.object(s, value)
	}
}

func (v *validator) integer(s *huma.Schema, value any) {
	number, _ := value.(json.Number)
	n, err := number.Float64()
	switch {
	case err != nil || n != math.Trunc(n):
		v.report(api.TypeInt, "Input should be a valid integer")
	case s.Minimum != nil && n < *s.Minimum:
		v.report(api.TypeGreaterThanEqual, "Input should be greater than or equal to %v", *s.Minimum)
	case s.Maximum != nil && n > *s.Maximum:
		v.report(api.TypeLessThanEqual, "Input should be less than or equal to %v", *s.Maximum)
	}
}

func (v *validator) text(s *huma.Schema, value any) {
	str, ok := value.(string)
	n := utf8.RuneCountInString(str)
	switch {
	case !ok:
		v.report(api.TypeString, "Input should be a valid string")
	case s.MinLength != nil && n < *s.MinLength:
		v.report(api.TypeStringTooShort, "String should have at least %s", plural(*s.MinLength, "character"))
	case s.MaxLength != nil && n > *s.MaxLength:
		v.report(api.TypeStringTooLong, "String should have at most %s", plural(*s.MaxLength, "character"))
	case s.Pattern == api.NamePattern && text.CheckName(str) != nil:
		v.report(api.TypePattern, "String should have no control character and at least one visible character")
	case s.Pattern == api.TextPattern && strings.Contains(str, "\x00"):
		v.add(api.Invalid("must not hold the character NUL"))
	case s.Format == "uuid" && uuid.Validate(str) != nil:
		v.report(api.TypeUUID, "Input should be a valid UUID")
	case s.Format == "date-time":
		v.time(str)
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, value):
		v.report(api.TypeEnum, "Input should be %s", alternatives(s.Enum))
	}
}

func (v *validator) array(s *huma.Schema, value any) {
	list, ok := value.([]any)
	switch {
	case !ok:
		v.report(api.TypeList, "Input should be a valid list")
	case s.MinItems != nil && len(list) < *s.MinItems:
		v.report(api.TypeTooShort, "List should have at least %s", plural(*s.MinItems, "item"))
	case s.MaxItems != nil && len(list) > *s.MaxItems:
		v.report(api.TypeTooLong, "List should have at most %s", plural(*s.MaxItems, "item"))
	}
	for i, item := range list {
		v.member(strconv.Itoa(i), s.Items, item)
	}
}

func (v *validator) object(s *huma.Schema, value any) {
	object, ok := value.(map[string]any)
	if !ok {
		v.report(api.TypeDict, "Input should be a valid dictionary")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		required := slices.Contains(s.Required, name)
		switch member, sent := object[name]; {
		case sent && (member != nil || required):
			v.member(name, s.Properties[name], member)
		case required:
			v.found = append(v.found, api.Missing().At(append(slices.Clone(v.loc), name)...))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if v.strict && len(s.Properties) > 0 && s.Properties[name] == nil {
			v.loc = append(v.loc, name)
			v.unknown()
			v.loc = v.loc[:len(v.loc)-1]
		}
	}
}

// unknown reports a member or a parameter that does not exist, in strict mode.
func (v *validator) unknown() { v.report(api.TypeExtra, "Extra inputs are not permitted") }

func (v *validator) time(s string) {
	_, err := api.ParseTime(s)
	if _, malformed := errors.AsType[*time.ParseError](err); malformed {
		v.report(api.TypeDatetime, "Input should be a valid datetime with a timezone (RFC 3339)")
	} else if err != nil {
		v.add(api.Invalid("%s", err))
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// alternatives renders 'a', 'b' or 'c'. Null is not listed.
func alternatives(values []any) string {
	var list []string
	for _, v := range values {
		if v != nil {
			list = append(list, fmt.Sprintf("'%v'", v))
		}
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}
