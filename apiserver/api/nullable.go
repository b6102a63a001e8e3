package api

import (
	"bytes"
	"encoding/json"
)

// Nullable is a field of a PATCH body that distinguishes absent (unchanged), null
// (cleared) and a value. Use it with omitzero.
type Nullable[T any] struct {
	Sent  bool
	Null  bool
	Value T
}

// NullableFrom sends *v, or null where v is nil.
func NullableFrom[T any](v *T) Nullable[T] {
	if v == nil {
		return Nullable[T]{Sent: true, Null: true}
	}
	return Nullable[T]{Sent: true, Value: *v}
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Nullable[T]) UnmarshalJSON(b []byte) error {
	n.Sent = true
	if n.Null = bytes.Equal(b, []byte("null")); n.Null {
		return nil
	}
	return json.Unmarshal(b, &n.Value)
}

// MarshalJSON implements json.Marshaler.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if n.Null || !n.Sent {
		return []byte("null"), nil
	}
	return json.Marshal(n.Value)
}
