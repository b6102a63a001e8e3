package core

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Object is an object in the state or in a plan. Its methods don't change it.
type Object struct {
	State    Value
	Private  []byte
	Identity *tfprotov6.ResourceIdentityData
	// Replace lists the attributes that require a replacement, in a plan.
	Replace []*tftypes.AttributePath
	Tainted bool
	// CreateBeforeDestroy and Dependencies come from the last plan. They order
	// the destruction of an object without a block.
	CreateBeforeDestroy bool
	Dependencies        []string
}

// ID returns the attribute id.
func (o *Object) ID() string { return Text(o.State, "id") }

// Text returns a string attribute of the object's state: "" if it is null,
// "(unknown)" if it is unknown.
func (o *Object) Text(name string) string {
	if !Attributes(o.State)[name].IsKnown() {
		return "(unknown)"
	}
	return Text(o.State, name)
}

// Null reports whether an attribute of the object's state is null.
func (o *Object) Null(name string) bool { return Attributes(o.State)[name].IsNull() }

// Gone reports whether the object's state is null.
func (o *Object) Gone() bool { return o.State.IsNull() }

// existing returns the object, or nil if it is gone.
func (o *Object) existing() *Object {
	if o.Gone() {
		return nil
	}
	return o
}

// Instance is the current object and the deposed objects at one address.
type Instance struct {
	Current *Object
	Deposed map[string]*Object
}

// State maps addresses to instances. Callers clone it before they change it.
type State map[string]Instance

// Clone returns a copy.
func (s State) Clone() State {
	out := State{}
	for addr, i := range s {
		out[addr] = Instance{i.Current, maps.Clone(i.Deposed)}
	}
	return out
}

// Set sets or removes the object at an address: the deposed object with a key, or the
// current object if key is empty.
func (s State) Set(addr, key string, o *Object) {
	i := s[addr]
	if key == "" {
		i.Current = o
	} else {
		i.Deposed = maps.Clone(i.Deposed)
		if i.Deposed == nil {
			i.Deposed = map[string]*Object{}
		}
		if i.Deposed[key] = o; o == nil {
			delete(i.Deposed, key)
		}
	}
	if s[addr] = i; i.Current == nil && len(i.Deposed) == 0 {
		delete(s, addr)
	}
}

// Find returns the object that Set stored, or nil.
func (s State) Find(addr, key string) *Object {
	if key == "" {
		return s[addr].Current
	}
	return s[addr].Deposed[key]
}

// Addresses returns all addresses in order.
func (s State) Addresses() []string { return slices.Sorted(maps.Keys(s)) }
