package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Ref is an expression that refers to an attribute of another resource.
type Ref struct{ Addr, Attribute string }

// GoString returns the expression.
func (r Ref) GoString() string { return r.Addr + "." + r.Attribute }

// Block is a resource block.
type Block struct {
	Addr string
	// Arguments are Go values for NewValue, or Refs.
	Arguments           map[string]any
	CreateBeforeDestroy bool
	// TypedMap makes an argument of dynamic type a map instead of an object.
	TypedMap bool
	// ReplaceTriggeredBy lists addresses: a change of one of them replaces the object.
	ReplaceTriggeredBy []string
	// DependsOn lists further dependencies, to which the arguments do not refer.
	DependsOn []string
}

// Clone returns a copy.
func (b *Block) Clone() *Block {
	out := *b
	out.Arguments = maps.Clone(b.Arguments)
	return &out
}

// String returns the block in a format like HCL.
func (b *Block) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s {", b.Addr)
	for _, name := range slices.Sorted(maps.Keys(b.Arguments)) {
		fmt.Fprintf(&out, " %s = %#v;", name, b.Arguments[name])
	}
	if b.CreateBeforeDestroy {
		out.WriteString(" create_before_destroy")
	}
	if len(b.ReplaceTriggeredBy) > 0 {
		fmt.Fprintf(&out, " replace_triggered_by = %v", b.ReplaceTriggeredBy)
	}
	return out.String() + " }"
}

// ImportBlock is an import block with an id (the API's id or a natural key) or an
// identity.
type ImportBlock struct {
	To, ID, Identity string
}

// Configuration is a root module.
type Configuration struct {
	Blocks  []*Block
	Moved   [][2]string
	Removed []string // removed blocks with destroy = false
	Imports []ImportBlock
}

// Clone returns a copy.
func (c *Configuration) Clone() *Configuration {
	out := &Configuration{Moved: slices.Clone(c.Moved), Removed: slices.Clone(c.Removed), Imports: slices.Clone(c.Imports)}
	for _, b := range c.Blocks {
		out.Blocks = append(out.Blocks, b.Clone())
	}
	return out
}

// Block returns the block at an address, or nil.
func (c *Configuration) Block(addr string) *Block {
	for _, b := range c.Blocks {
		if b.Addr == addr {
			return b
		}
	}
	return nil
}

// String returns a block per line.
func (c *Configuration) String() string {
	var lines []string
	for _, b := range c.Blocks {
		lines = append(lines, "    "+b.String())
	}
	for _, m := range c.Moved {
		lines = append(lines, "    moved "+m[0]+" -> "+m[1])
	}
	for _, r := range c.Removed {
		lines = append(lines, "    removed "+r)
	}
	for _, i := range c.Imports {
		lines = append(lines, fmt.Sprintf("    import %s id=%q identity=%q", i.To, i.ID, i.Identity))
	}
	return strings.Join(lines, "\n")
}

// References returns the addresses that a block refers to.
func (b *Block) References() []string {
	found := map[string]bool{}
	for _, v := range b.Arguments {
		if r, ok := v.(Ref); ok {
			found[r.Addr] = true
		}
	}
	for _, addr := range slices.Concat(b.ReplaceTriggeredBy, b.DependsOn) {
		found[addr] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// Dependencies returns all addresses that a block depends on, directly or indirectly.
func (c *Configuration) Dependencies(b *Block) []string {
	found := map[string]bool{}
	var add func(*Block)
	add = func(b *Block) {
		for _, addr := range b.References() {
			if next := c.Block(addr); next != nil && !found[addr] {
				found[addr] = true
				add(next)
			}
		}
	}
	add(b)
	return slices.Sorted(maps.Keys(found))
}

// createsBeforeDestroy reports whether the block, or a block that depends on it, sets
// create_before_destroy.
func (c *Configuration) createsBeforeDestroy(addr string) bool {
	for _, b := range c.Blocks {
		if b.CreateBeforeDestroy && (b.Addr == addr || slices.Contains(c.Dependencies(b), addr)) {
			return true
		}
	}
	return false
}

// evaluate returns a block's configuration. lookup returns the value of another
// resource.
func (b *Block) evaluate(s *Schema, lookup func(addr string) Value) Value {
	arguments := make(map[string]any, len(b.Arguments))
	for name, v := range b.Arguments {
		t := s.Type.AttributeTypes[name]
		arguments[name] = v
		if object, ok := v.(map[string]any); ok && b.TypedMap && t.Is(tftypes.DynamicPseudoType) {
			arguments[name] = mapOf(object)
		}
		r, ok := v.(Ref)
		if !ok {
			continue
		}
		if target := lookup(r.Addr); !target.IsKnown() {
			arguments[name] = tftypes.NewValue(t, tftypes.UnknownValue)
		} else {
			arguments[name] = Attributes(target)[r.Attribute]
		}
	}
	return NewValue(s.Type, arguments)
}

// mapOf returns a map with the attributes of an object, as tomap does. They must have one type.
func mapOf(object map[string]any) Value {
	v := literal(object)
	attributes := Attributes(v)
	for _, e := range attributes {
		return tftypes.NewValue(tftypes.Map{ElementType: e.Type()}, attributes)
	}
	return v
}
