package simulate

import (
	"math/rand/v2"
	"strings"
)

// followAdvice does what an error about two resources with one object advises, as
// the user would, so that the history goes on: it gives the object of an address
// that no block has any more to the block that wants it, or takes the second of
// two equal blocks out, or gives up create_before_destroy. It reports whether it
// changed anything.
func (h *history) followAdvice(r *rand.Rand, s *stack, err error) bool {
	if !strings.Contains(err.Error(), "Two resources have the") && !strings.Contains(err.Error(), "Another resource of this configuration manages") {
		return false
	}
	s.state = s.state.clone()
	for _, addr := range s.state.addresses() {
		if s.config.block(addr) != nil {
			continue
		}
		for _, b := range s.config.blocks {
			if typeOf(b.addr) == typeOf(addr) && s.state[b.addr].current == nil && s.config.names(b, s.state[addr].current) {
				h.report.logf("advice: state mv %s %s", addr, b.addr)
				s.state[b.addr] = s.state[addr]
				delete(s.state, addr)
				return true
			}
		}
	}
	for _, addr := range s.state.addresses() {
		if len(s.state[addr].deposed) > 0 {
			h.report.logf("advice: state rm %s, which has a deposed object", addr)
			delete(s.state, addr)
			return true
		}
	}
	if s.config.contradicts() != "" {
		return h.removeTwin(r, s)
	}
	for _, b := range s.config.blocks {
		if b.createBeforeDestroy {
			h.report.logf("advice: no create_before_destroy")
			for _, b := range s.config.blocks {
				b.createBeforeDestroy = false
			}
			return true
		}
	}
	return false
}

// names reports whether a block's name is that of an object of the state: only
// domains are adopted by theirs.
func (c *configuration) names(b *block, o *object) bool {
	if o == nil || typeOf(b.addr) != "mailhost_domain" {
		return false
	}
	name, _ := b.arguments["name"].(string)
	return normalized(name) == normalized(text(o.value, "name"))
}

// removeTwin takes the second of two equal blocks out, and its object out of the
// state.
func (h *history) removeTwin(r *rand.Rand, s *stack) bool {
	keys := map[string]bool{}
	for _, b := range s.config.blocks {
		key := s.config.naturalKey(b)
		if key != "" && keys[key] {
			h.report.logf("advice: remove %s, and state rm it", b.addr)
			h.drawer(r, s.account).remove(s.config, b, false)
			delete(s.state, b.addr)
			return true
		}
		keys[key] = true
	}
	return false
}
