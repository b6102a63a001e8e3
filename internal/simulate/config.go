package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// ref is an expression that refers to an attribute of another resource.
type ref struct{ addr, attribute string }

// block is a resource block.
type block struct {
	addr string
	// arguments are Go values for newValue, or refs.
	arguments           map[string]any
	createBeforeDestroy bool
	// replaceTriggeredBy are addresses whose change replaces the object.
	replaceTriggeredBy []string
}

func (b *block) clone() *block {
	out := *b
	out.arguments = maps.Clone(b.arguments)
	return &out
}

func (b *block) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s {", b.addr)
	for _, name := range slices.Sorted(maps.Keys(b.arguments)) {
		if r, ok := b.arguments[name].(ref); ok {
			fmt.Fprintf(&out, " %s = %s.%s;", name, r.addr, r.attribute)
			continue
		}
		if name == "contact_info" {
			fmt.Fprintf(&out, " %s = {…};", name)
			continue
		}
		fmt.Fprintf(&out, " %s = %#v;", name, b.arguments[name])
	}
	if b.createBeforeDestroy {
		out.WriteString(" create_before_destroy")
	}
	if len(b.replaceTriggeredBy) > 0 {
		fmt.Fprintf(&out, " replace_triggered_by = %v", b.replaceTriggeredBy)
	}
	return out.String() + " }"
}

// importBlock is an import block: by an id or natural key, or by the id in an
// identity.
type importBlock struct {
	to, id, identity string
}

// configuration is a root module.
type configuration struct {
	blocks  []*block
	moved   [][2]string
	removed []string // forgotten without being destroyed
	imports []importBlock
}

func (c *configuration) clone() *configuration {
	out := &configuration{moved: slices.Clone(c.moved), removed: slices.Clone(c.removed), imports: slices.Clone(c.imports)}
	for _, b := range c.blocks {
		out.blocks = append(out.blocks, b.clone())
	}
	return out
}

func (c *configuration) block(addr string) *block {
	for _, b := range c.blocks {
		if b.addr == addr {
			return b
		}
	}
	return nil
}

func (c *configuration) String() string {
	var lines []string
	for _, b := range c.blocks {
		lines = append(lines, "    "+b.String())
	}
	for _, m := range c.moved {
		lines = append(lines, "    moved "+m[0]+" -> "+m[1])
	}
	for _, r := range c.removed {
		lines = append(lines, "    removed "+r)
	}
	for _, i := range c.imports {
		lines = append(lines, fmt.Sprintf("    import %s id=%q identity=%q", i.to, i.id, i.identity))
	}
	return strings.Join(lines, "\n")
}

// references are the addresses that a block refers to.
func (b *block) references() []string {
	found := map[string]bool{}
	for _, v := range b.arguments {
		if r, ok := v.(ref); ok {
			found[r.addr] = true
		}
	}
	for _, addr := range b.replaceTriggeredBy {
		found[addr] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// dependencies are all addresses that a block depends on, indirectly too.
func (c *configuration) dependencies(b *block) []string {
	found := map[string]bool{}
	var add func(*block)
	add = func(b *block) {
		for _, addr := range b.references() {
			if next := c.block(addr); next != nil && !found[addr] {
				found[addr] = true
				add(next)
			}
		}
	}
	add(b)
	return slices.Sorted(maps.Keys(found))
}

// createsBeforeDestroy reports whether a block's object is created before it is
// destroyed: because the block or one that depends on it says so.
func (c *configuration) createsBeforeDestroy(addr string) bool {
	for _, b := range c.blocks {
		if b.createBeforeDestroy && (b.addr == addr || slices.Contains(c.dependencies(b), addr)) {
			return true
		}
	}
	return false
}

// evaluate returns a block's configuration; lookup returns another resource's
// value.
func (b *block) evaluate(s *schema, lookup func(addr string) value) value {
	arguments := make(map[string]any, len(b.arguments))
	for name, v := range b.arguments {
		r, ok := v.(ref)
		if !ok {
			arguments[name] = v
			continue
		}
		if target := lookup(r.addr); !target.IsKnown() {
			arguments[name] = tftypes.NewValue(s.objectType.AttributeTypes[name], tftypes.UnknownValue)
		} else {
			arguments[name] = attributesOf(target)[r.attribute]
		}
	}
	return newValue(s.objectType, arguments)
}
