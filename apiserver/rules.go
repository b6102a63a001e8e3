package apiserver

import "sync/atomic"

// rules are what a fixture may change while the service runs. A request reads
// them once.
type rules struct {
	registrar    Registrar
	maxMailboxes int
}

// currentRules holds the rules: those of the Options until a fixture brings its
// own.
type currentRules struct {
	initial rules
	now     atomic.Pointer[rules]
}

func (c *currentRules) init(initial rules) {
	c.initial = initial
	c.reset()
}

// reset lets the rules of the Options hold again.
func (c *currentRules) reset() { c.now.Store(&c.initial) }

func (c *currentRules) get() *rules { return c.now.Load() }

// take lets those rules hold that a fixture names.
func (c *currentRules) take(f fixtureRules) {
	for {
		before := c.now.Load()
		after := *before
		if f.registrar != nil {
			after.registrar = *f.registrar
		}
		if f.maxMailboxes != nil {
			after.maxMailboxes = *f.maxMailboxes
		}
		if c.now.CompareAndSwap(before, &after) {
			return
		}
	}
}

// fixtureRules are the rules that a fixture names, in canonical form.
type fixtureRules struct {
	registrar    *Registrar
	maxMailboxes *int
}
