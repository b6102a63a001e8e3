package sqlstore

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// stored wraps a time, or a pointer to a time, a struct, a slice or a map, in micros or asJSON, which
// convert it to the stored form and back. It returns any other value unchanged.
func stored(v any) any {
	switch v := v.(type) {
	case time.Time:
		return micros{&v}
	case *time.Time:
		return micros{v}
	case *[]byte:
		return v
	}
	if t := reflect.TypeOf(v); t != nil && t.Kind() == reflect.Pointer && slices.Contains([]reflect.Kind{reflect.Struct, reflect.Slice, reflect.Map}, t.Elem().Kind()) {
		return asJSON{v}
	}
	return v
}

// micros stores a time as microseconds since 1970, and the zero time as 0.
type micros struct{ at *time.Time }

func (m micros) Value() (driver.Value, error) {
	if m.at.IsZero() {
		return int64(0), nil
	}
	return m.at.UnixMicro(), nil
}

func (m micros) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a time is a %T", src)
	}
	*m.at = time.Time{}
	if v != 0 {
		*m.at = time.UnixMicro(v).UTC()
	}
	return nil
}

// asJSON stores the target of a pointer as JSON, and its zero value as an empty text.
type asJSON struct{ pointer any }

func (j asJSON) Value() (driver.Value, error) {
	if reflect.ValueOf(j.pointer).Elem().IsZero() {
		return "", nil
	}
	encoded, err := json.Marshal(j.pointer)
	return string(encoded), err
}

func (j asJSON) Scan(src any) error {
	reflect.ValueOf(j.pointer).Elem().SetZero()
	s, ok := src.(string)
	if !ok {
		return fmt.Errorf("a JSON text is a %T", src)
	}
	if s == "" {
		return nil
	}
	return json.Unmarshal([]byte(s), j.pointer)
}

func jsonArray(values []string) string {
	encoded, _ := json.Marshal(append([]string{}, values...)) // never null; strings can always be encoded
	return string(encoded)
}
