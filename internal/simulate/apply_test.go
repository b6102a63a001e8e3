package simulate

import (
	"errors"
	"fmt"
	"slices"
)

// node is a step of an apply walk.
type node struct {
	change *change
	// destroys reports whether the node destroys an object; other nodes create or
	// update one.
	destroys bool
	// key is the deposed key of the destroyed object. A replacement with
	// create_before_destroy generates it.
	key string
	// after are the nodes to run before this one.
	after map[*node]bool
	// done and failed are set by the walk.
	done, failed bool
}

func (n *node) addr() string { return n.change.addr }

// createsFirst reports whether a destroying node runs after the updates of the objects
// that depend on it.
func (n *node) createsFirst() bool {
	return n.destroys && (n.key != "" || n.change.before.createBeforeDestroy)
}

// applyWalk is one apply walk.
type applyWalk struct {
	run    *run
	plugin *plugin
	plan   *plan
	state  state
	nodes  []*node
	errs   []error
}

// runApply runs terraform apply with a plan. It returns the stored state even with an error.
func runApply(w *environment, r *run, p *plan) (state, error) {
	plugin, err := w.start(r)
	defer plugin.kill()
	if err != nil {
		return p.prior, err
	}
	walk := &applyWalk{run: r, plugin: plugin, plan: p, state: p.prior.clone()}
	walk.build()
	walk.connect()
	for n := walk.next(); n != nil; n = walk.next() {
		err := walk.visit(n)
		n.done, n.failed = true, err != nil
		if errors.Is(err, errKilled) {
			return walk.state, errKilled
		}
		if err != nil {
			walk.errs = append(walk.errs, err)
		}
	}
	if slices.ContainsFunc(walk.nodes, func(n *node) bool { return !n.done }) {
		walk.errs = append(walk.errs, errCycle)
	}
	return walk.state, errors.Join(walk.errs...)
}

// build creates the nodes.
func (w *applyWalk) build() {
	for _, c := range w.plan.changes {
		if c.action == forget {
			if c.deposed == "" {
				w.state.setCurrent(c.addr, nil)
			} else {
				w.state.setDeposed(c.addr, c.deposed, nil)
			}
			continue
		}
		if c.action != destroy {
			w.nodes = append(w.nodes, &node{change: c, after: map[*node]bool{}})
		}
		if c.action == destroy || c.action.replaces() {
			n := &node{change: c, destroys: true, key: c.deposed, after: map[*node]bool{}}
			if c.action == createAndDestroy {
				n.key = fmt.Sprintf("%08x", w.run.rand.Uint32())
			}
			w.nodes = append(w.nodes, n)
		}
	}
}

// connect orders the nodes like Terraform's graph: dependencies are created first and
// destroyed last, and create_before_destroy reverses the order of a destroying node and
// those that create or update.
func (w *applyWalk) connect() {
	edge := func(from, to *node) { // from runs after to
		switch {
		case from == to:
		case !from.destroys && to.createsFirst():
			to.after[from] = true
		default:
			from.after[to] = true
		}
	}
	for _, n := range w.nodes {
		var stored []string
		if n.change.before != nil {
			stored = n.change.before.dependencies
		}
		for _, other := range w.nodes {
			dependsOn := slices.Contains(stored, other.addr())
			changes := other.destroys || other.change.action != noOp
			switch {
			case !n.destroys && !other.destroys:
				if b := w.plan.config.block(n.addr()); b != nil && slices.Contains(b.references(), other.addr()) {
					edge(n, other)
				}
			case !n.destroys && other.destroys:
				if n.addr() == other.addr() || dependsOn && n.change.action != noOp {
					edge(n, other)
				}
			case dependsOn && changes: // n destroys what depends on other
				edge(other, n)
			}
		}
	}
}

// next returns a random node that can run now, or nil.
func (w *applyWalk) next() *node {
	for {
		var ready []*node
		skipped := 0
		for _, n := range w.nodes {
			if n.done {
				continue
			}
			blocked, failed := false, false
			for before := range n.after {
				blocked = blocked || !before.done
				failed = failed || before.failed
			}
			switch {
			case blocked:
			case failed:
				n.done, n.failed = true, true
				skipped++
			default:
				ready = append(ready, n)
			}
		}
		switch {
		case len(ready) > 0:
			return ready[w.run.rand.IntN(len(ready))]
		case skipped == 0:
			return nil
		}
	}
}

// errCycle is Terraform's own error for a graph with a cycle.
var errCycle = errors.New("the graph has a cycle")

func (w *applyWalk) visit(n *node) error {
	switch {
	case n.destroys:
		return w.destroy(n)
	case n.change.action == noOp:
		return nil
	}
	return w.create(n)
}

// destroy destroys a current or a deposed object.
func (w *applyWalk) destroy(n *node) error {
	s := w.plugin.schemas.resources[typeOf(n.addr())]
	o := w.state.find(n.addr(), n.key)
	if o == nil {
		return nil
	}
	c := &change{addr: n.addr(), before: o, after: s.null(), private: n.change.private}
	if n.key != "" { // like Terraform, plan the destruction of a deposed object again
		again, err := w.plugin.destruction(n.addr(), n.key, o)
		if err != nil {
			return err
		}
		c = again
	}
	left, err := w.plugin.apply(s, n.addr(), o.value, s.null(), s.null(), c.private, c.identity)
	if errors.Is(err, errKilled) {
		return err
	}
	switch {
	case left != nil:
		kept := *left
		kept.tainted, kept.dependencies, kept.createBeforeDestroy = o.tainted, o.dependencies, o.createBeforeDestroy
		left = &kept
	case err != nil:
		left = o
	}
	if n.key != "" {
		w.state.setDeposed(n.addr(), n.key, left)
	} else {
		w.state.setCurrent(n.addr(), left)
	}
	return err
}

// create creates or updates an object, or creates the new object of a replacement.
func (w *applyWalk) create(n *node) error {
	s := w.plugin.schemas.resources[typeOf(n.addr())]
	b := w.plan.config.block(n.addr())
	key := ""
	if n.change.action == createAndDestroy {
		for _, other := range w.nodes {
			if other.destroys && other.change == n.change {
				key = other.key
			}
		}
		w.state.setDeposed(n.addr(), key, w.state[n.addr()].current)
		w.state.setCurrent(n.addr(), nil)
	}
	made, err := w.plugin.applyChange(s, n.change, b, w.state)
	if errors.Is(err, errKilled) {
		return err
	}
	if made != nil {
		o := *made
		o.createBeforeDestroy = w.plan.config.createsBeforeDestroy(n.addr())
		o.dependencies = w.plan.config.dependencies(b)
		if err != nil && n.change.action != update {
			o.tainted = true
		}
		w.state.setCurrent(n.addr(), &o)
	}
	if err != nil && key != "" && w.state[n.addr()].current == nil {
		w.state.setCurrent(n.addr(), w.state.find(n.addr(), key))
		w.state.setDeposed(n.addr(), key, nil)
	}
	return err
}

// applyChange plans a change again with the values that are known now, and applies it.
// It returns the object to store, or nil to leave the state unchanged.
func (p *plugin) applyChange(s *schema, c *change, b *block, now state) (*object, error) {
	config := b.evaluate(s, func(addr string) value {
		if o := now[addr].current; o != nil {
			return o.value
		}
		panic("no value for " + addr)
	})
	if err := p.validate(s, c.addr, config); err != nil {
		return nil, err
	}
	final, err := p.change(c.addr, now[c.addr].current, config, c.action == createAndDestroy, false)
	if err != nil {
		return nil, err
	}
	if c.action.replaces() && final.action == create {
		final.action = c.action
	}
	if final.action != c.action && !(c.action == update && final.action == noOp) {
		when := ""
		if p.report.changedOutside {
			when = ", after an external change"
		}
		p.report.fail("inconsistent final plan", "%s: planned action changed from %s to %s%s", c.addr, c.action, final.action, when)
	}
	if problems := incompatibilities(c.after, final.after, c.addr); len(problems) > 0 {
		p.report.fail("inconsistent final plan", "%s", joined(problems))
	}
	if final.action == noOp {
		return nil, nil
	}
	prior := s.null()
	if final.action == update {
		prior = final.before.value
	}
	made, err := p.apply(s, c.addr, prior, config, final.after, final.private, final.identity)
	if made != nil && final.action == update && err != nil {
		kept := *made
		kept.tainted = final.before.tainted
		made = &kept
	}
	return made, err
}
