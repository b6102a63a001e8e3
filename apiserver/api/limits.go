package api

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Limits are the limits in the tags of one body field. A bound that the
// contract does not set is nil.
type Limits struct {
	MinLength, MaxLength *int
	Minimum, Maximum     *int64
	Enum                 []string
	// Name reports that the field is a name, for which text.CheckName must hold.
	Name bool
}

// LengthRule returns the length bounds as a sentence; both must be set.
func (l Limits) LengthRule() string {
	return fmt.Sprintf("must have %d to %d characters", *l.MinLength, *l.MaxLength)
}

// LimitsOf returns the limits of the field that T calls name in JSON, or in a
// query, so that a caller can check before it sends without writing a limit
// again. It panics when T has no such field.
func LimitsOf[T any](name string) Limits {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != name && f.Tag.Get("query") != name {
			continue
		}
		l := Limits{
			MinLength: bound(f.Tag, "minLength", strconv.Atoi),
			MaxLength: bound(f.Tag, "maxLength", strconv.Atoi),
			Minimum:   bound(f.Tag, "minimum", parseInt64),
			Maximum:   bound(f.Tag, "maximum", parseInt64),
		}
		l.Name = f.Tag.Get("format") == FormatName
		if enum := f.Tag.Get("enum"); enum != "" {
			l.Enum = strings.Split(enum, ",")
		}
		return l
	}
	panic("api: " + reflect.TypeFor[T]().Name() + " has no field " + name)
}

func bound[N any](tag reflect.StructTag, key string, parse func(string) (N, error)) *N {
	value, ok := tag.Lookup(key)
	if !ok {
		return nil
	}
	n, err := parse(value)
	if err != nil {
		panic("api: tag " + key + " is no number: " + value)
	}
	return &n
}

func parseInt64(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }
