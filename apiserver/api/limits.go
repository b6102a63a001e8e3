package api

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// Limits are the limits in the tags of a body field. A missing bound is nil.
type Limits struct {
	MinLength, MaxLength, Minimum, Maximum *int64

	Enum []string
	// Name reports that the field is a name, for which text.CheckName must hold.
	Name bool
}

// Check checks a string, an integer, or a pointer to one. Other values have no limits.
func (l Limits) Check(value any) error {
	switch v := reflect.Indirect(reflect.ValueOf(value)); {
	case v.Kind() == reflect.String:
		return l.checkText(v.String())
	case v.CanInt() && l.Minimum != nil && (v.Int() < *l.Minimum || v.Int() > *l.Maximum): // the contract sets both or none
		return fmt.Errorf("must be %d to %d", *l.Minimum, *l.Maximum)
	}
	return nil
}

func (l Limits) checkText(s string) error {
	n := int64(utf8.RuneCountInString(s))
	switch {
	case l.MinLength != nil && n < *l.MinLength, l.MaxLength != nil && n > *l.MaxLength:
		return errors.New(l.LengthRule())
	case l.Enum != nil && !slices.Contains(l.Enum, s):
		return errors.New("must be one of " + strings.Join(l.Enum, ", "))
	case l.Name:
		return text.CheckName(s)
	}
	return nil
}

// LengthRule returns the length bounds as a sentence. At least one bound must be set.
func (l Limits) LengthRule() string {
	switch {
	case l.MinLength == nil:
		return fmt.Sprintf("must have at most %d characters", *l.MaxLength)
	case l.MaxLength == nil && *l.MinLength == 1:
		return "must not be empty"
	case l.MaxLength == nil:
		return fmt.Sprintf("must have at least %d characters", *l.MinLength)
	}
	return fmt.Sprintf("must have %d to %d characters", *l.MinLength, *l.MaxLength)
}

// LimitsOf returns the limits of the field that T calls name in JSON or in a query, so that a
// caller can check before it sends. It panics if T has no such field.
func LimitsOf[T any](name string) Limits {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != name && f.Tag.Get("query") != name {
			continue
		}
		return LimitsOfTag(f.Tag)
	}
	panic("api: " + reflect.TypeFor[T]().Name() + " has no field " + name)
}

// LimitsOfTag returns the limits in the tag of a body's field.
func LimitsOfTag(tag reflect.StructTag) Limits {
	l := Limits{
		MinLength: bound(tag, "minLength"),
		MaxLength: bound(tag, "maxLength"),
		Minimum:   bound(tag, "minimum"),
		Maximum:   bound(tag, "maximum"),
		Name:      tag.Get("format") == FormatName,
	}
	if enum := tag.Get("enum"); enum != "" {
		l.Enum = strings.Split(enum, ",")
	}
	return l
}

func bound(tag reflect.StructTag, key string) *int64 {
	value, ok := tag.Lookup(key)
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		panic("api: tag " + key + " is no number: " + value)
	}
	return &n
}

// FormatName is the format tag of a name: text in one line that people see. Its rule
// is text.CheckName's.
const FormatName = "name"

// NamePattern is the pattern of a name in the OpenAPI document. It accepts some names that
// text.CheckName refuses, because regular expressions differ between languages: NameRule says
// which.
const NamePattern = `^[^\x00-\x1f\x7f-\x9f]*$`

// NameRule is the whole rule of a name, for people.
const NameRule = "One line with at least one visible character or space, without control characters and without characters that change the direction of text"

// TextPattern is the rule of text in several lines: PostgreSQL keeps no NUL. Tags repeat it.
const TextPattern = `^[^\x00]*$`
