// Package compact carries large values through the plugin framework as one string each.
//
// The framework visits every leaf of a resource's values several times in each call. For a map
// of 10,000 objects that takes about a second, ten times as long as the rest of the call. A
// resource with such an attribute declares a string with the type [Type]. [Server] stands between
// Terraform, which sees the attribute's type Wire, and the framework, which sees a string that
// contains the same value as JSON.
//
//	Terraform  <- map(object) ->  Server  <- string ->  framework  <- Decode, Encode ->  resource
//
// If the framework returns a value unchanged, Terraform gets it back byte for byte.
//
// Wire may be the dynamic type: Terraform then passes the configured value as it is, because its
// conversion of thousands of objects to a map takes a time that grows with the square of their number.
// The resource must then check the value itself.
//
// The resource reads and writes the string with [Decode] and [Encode]. A Go field of type [Text] can
// also be null or unknown.
//
// A diagnostic may name a place inside the value, for instance
// path.Root("mailboxes").AtMapKey("jane"): Terraform knows the attribute by its wire type.
// Validators and plan modifiers of the attribute get the string.
//
// The package must not import other packages of this module.
package compact

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Type is the type of a string attribute that Terraform sees with another type.
type Type struct {
	basetypes.StringType

	// Wire is the type that Terraform sees: the dynamic type, or one that consists of strings,
	// numbers, bools, lists, maps and objects.
	Wire tftypes.Type
	// Partial allows a create without an error to leave out entries of the plan, which Terraform would
	// otherwise refuse as an inconsistent result.
	Partial bool
}

// Equal accepts the string type too, because values have it.
func (t Type) Equal(o attr.Type) bool {
	if other, ok := o.(Type); ok {
		return t.Wire.Equal(other.Wire)
	}
	return t.StringType.Equal(o)
}

func (t Type) String() string { return "compact.Type[" + t.Wire.String() + "]" }

// Text is a string inside a compact value.
type Text struct {
	Value         string
	Null, Unknown bool
}

// unknown encodes an unknown value: an object with an empty key, which no attribute has.
const unknown = `{"":0}`

// IsUnknown reports whether the JSON of an element stands for an unknown value.
func IsUnknown(data []byte) bool { return string(data) == unknown }

func (t Text) MarshalJSON() ([]byte, error) {
	switch {
	case t.Unknown:
		return []byte(unknown), nil
	case t.Null:
		return []byte("null"), nil
	}
	return json.Marshal(t.Value)
}

func (t *Text) UnmarshalJSON(data []byte) error {
	switch {
	case IsUnknown(data):
		*t = Text{Unknown: true}
		return nil
	case string(data) == "null":
		*t = Text{Null: true}
		return nil
	}
	*t = Text{}
	if data[0] != '"' && data[0] != '{' && data[0] != '[' {
		t.Value = string(data) // a number or a bool, as Terraform converts it to a string
		return nil
	}
	return json.Unmarshal(data, &t.Value)
}

// Decode returns the value in a string, or the zero value if the string is null or unknown.
func Decode[T any](s types.String) (v T, err error) {
	if s.IsNull() || s.IsUnknown() {
		return v, nil
	}
	if err := json.Unmarshal([]byte(s.ValueString()), &v); err != nil {
		return v, fmt.Errorf("a compact value can't be decoded: %w", err)
	}
	return v, nil
}

// Encode returns a value as a string. It panics if json.Marshal fails.
func Encode(v any) types.String {
	data, err := json.Marshal(v)
	if err != nil {
		panic("compact: " + err.Error())
	}
	return types.StringValue(string(data))
}

// callContext is the context of one call. It releases the request's context at the end of the call,
// because the framework's server keeps the context of every call until the process ends, and a request's
// context holds loggers and a stream: 50 KB for each resource of a plan.
type callContext struct {
	done    <-chan struct{}
	request atomic.Pointer[context.Context] // nil after the end
}

func newCallContext(request context.Context) *callContext {
	c := &callContext{done: request.Done()}
	c.request.Store(&request)
	return c
}

func (c *callContext) end() { c.request.Store(nil) }

// cancelled replaces the request's context after the end of the call.
var cancelled = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func (c *callContext) current() context.Context { return *cmp.Or(c.request.Load(), &cancelled) }

func (c *callContext) Deadline() (deadline time.Time, ok bool) { return c.current().Deadline() }

func (c *callContext) Done() <-chan struct{} { return c.done }

func (c *callContext) Err() error { return c.current().Err() }

func (c *callContext) Value(key any) any { return c.current().Value(key) }
