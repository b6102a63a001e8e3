package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
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
	// typedMap means that an argument of dynamic type is a map, and otherwise an object.
	typedMap bool
	// replaceTriggeredBy are addresses whose change replaces the object.
	replaceTriggeredBy []string
	// dependsOn are addresses that the arguments do not refer to.
	dependsOn []string
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

// importBlock is an import block with an id (the API's id or a natural key) or an
// identity.
type importBlock struct {
	to, id, identity string
}

// configuration is a root module.
type configuration struct {
	blocks  []*block
	moved   [][2]string
	removed []string // removed blocks with destroy = false
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

// references returns the addresses that a block refers to.
func (b *block) references() []string {
	found := map[string]bool{}
	for _, v := range b.arguments {
		if r, ok := v.(ref); ok {
			found[r.addr] = true
		}
	}
	for _, addr := range slices.Concat(b.replaceTriggeredBy, b.dependsOn) {
		found[addr] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// dependencies returns all addresses that a block depends on, directly or indirectly.
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

// createsBeforeDestroy reports whether the block, or one that depends on it, sets
// create_before_destroy.
func (c *configuration) createsBeforeDestroy(addr string) bool {
	for _, b := range c.blocks {
		if b.createBeforeDestroy && (b.addr == addr || slices.Contains(c.dependencies(b), addr)) {
			return true
		}
	}
	return false
}

// evaluate returns a block's configuration. lookup returns the value of another
// resource.
func (b *block) evaluate(s *schema, lookup func(addr string) value) value {
	arguments := make(map[string]any, len(b.arguments))
	for name, v := range b.arguments {
		r, ok := v.(ref)
		if !ok {
			arguments[name] = v
			if object, ok := v.(map[string]any); ok && b.typedMap && s.objectType.AttributeTypes[name].Is(tftypes.DynamicPseudoType) {
				arguments[name] = mapOf(object)
			}
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

// object is an object in the state. It is immutable; with returns a changed copy.
type object struct {
	value    value
	private  []byte
	identity *tfprotov6.ResourceIdentityData
	tainted  bool
	// createBeforeDestroy and dependencies are those of the last plan. They order
	// the destruction of an object without a block.
	createBeforeDestroy bool
	dependencies        []string
}

func (o *object) with(v value) *object {
	out := *o
	out.value = v
	return &out
}

func (o *object) id() string { return text(o.value, "id") }

// instance is the current object and the deposed objects at one address.
type instance struct {
	current *object
	deposed map[string]*object
}

// state maps addresses to instances. Callers clone it before they change it.
type state map[string]instance

func (s state) clone() state {
	out := state{}
	for addr, i := range s {
		out[addr] = instance{i.current, maps.Clone(i.deposed)}
	}
	return out
}

// setCurrent sets or removes an address's object.
func (s state) setCurrent(addr string, o *object) {
	i := s[addr]
	i.current = o
	s.set(addr, i)
}

func (s state) setDeposed(addr, key string, o *object) {
	i := s[addr]
	i.deposed = maps.Clone(i.deposed)
	if i.deposed == nil {
		i.deposed = map[string]*object{}
	}
	i.deposed[key] = o
	if o == nil {
		delete(i.deposed, key)
	}
	s.set(addr, i)
}

func (s state) set(addr string, i instance) {
	if i.current == nil && len(i.deposed) == 0 {
		delete(s, addr)
		return
	}
	s[addr] = i
}

func (s state) addresses() []string { return slices.Sorted(maps.Keys(s)) }

// find returns the deposed object with a key, or the current object if key is empty.
func (s state) find(addr, key string) *object {
	if key == "" {
		return s[addr].current
	}
	return s[addr].deposed[key]
}

// typeOf returns the resource type of an address.
func typeOf(addr string) string { return addr[:strings.IndexByte(addr, '.')] }
