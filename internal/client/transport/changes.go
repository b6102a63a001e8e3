package transport

import "sync"

// changes counts the requests that may change something.
type changes struct {
	mu       sync.Mutex
	version  uint64 // how many have begun and ended
	inFlight int
	// anyUnknown: the outcome of some attempt was unknown, so that it may still take effect.
	anyUnknown bool
}

func (c *changes) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	c.inFlight++
}

func (c *changes) end(anyUnknown bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	c.inFlight--
	c.anyUnknown = c.anyUnknown || anyUnknown
}

// Changes returns how many requests that may change something have begun and ended, and
// whether all of them have ended with a known outcome.
func (t *Transport) Changes() (version uint64, settled bool) {
	c := &t.changes
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version, c.inFlight == 0 && !c.anyUnknown
}
