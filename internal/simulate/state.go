package simulate

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// object is a resource instance's object in the state. It does not change; with
// returns a changed copy.
type object struct {
	value    value
	private  []byte
	identity *tfprotov6.ResourceIdentityData
	tainted  bool
	// createBeforeDestroy and dependencies are what the configuration said when
	// the object was last planned; an orphan is destroyed in their order.
	createBeforeDestroy bool
	dependencies        []string
}

func (o *object) with(v value) *object {
	out := *o
	out.value = v
	return &out
}

func (o *object) id() string { return text(o.value, "id") }

// instance is what the state has at one address.
type instance struct {
	current *object
	deposed map[string]*object
}

// state maps addresses to instances. Operations copy it before they change it.
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

// find returns an object of the state; key is empty for the current one.
func (s state) find(addr, key string) *object {
	if key == "" {
		return s[addr].current
	}
	return s[addr].deposed[key]
}

// typeOf is the resource type of an address.
func typeOf(addr string) string { return addr[:strings.IndexByte(addr, '.')] }
