package core

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// applyNode is a node of an apply walk.
type applyNode struct {
	node
	change *Change
	// destroys reports whether the node destroys an object. Other nodes create or
	// update an object.
	destroys bool
	// key is the deposed key of the destroyed object. A replacement with
	// create_before_destroy generates the key for both of its nodes.
	key string
}

func (n *applyNode) addr() string { return n.change.Addr }

// createsFirst reports whether a destroying node runs after the updates of the objects
// that depend on it.
func (n *applyNode) createsFirst() bool {
	return n.destroys && (n.key != "" || n.change.Before.CreateBeforeDestroy)
}

// applyWalk is one apply walk.
type applyWalk struct {
	rand     *rand.Rand
	provider *Provider
	plan     *Plan
	state    State
	nodes    []*applyNode
}

// RunApply runs terraform apply with a plan. The provider is configured for this walk. It
// returns the stored state even with an error.
func RunApply(p *Provider, r *rand.Rand, plan *Plan) (State, error) {
	w := &applyWalk{rand: r, provider: p, plan: plan, state: plan.Prior.Clone()}
	w.build()
	w.connect()
	var nodes []*node
	for _, n := range w.nodes {
		nodes = append(nodes, &n.node)
	}
	err := walk(r, nodes)
	return w.state, err
}

// build creates the nodes.
func (w *applyWalk) build() {
	add := func(n *applyNode, visit func(*applyNode) Diagnostics) {
		n.node = node{visit: func() Diagnostics { return visit(n) }, after: map[*node]bool{}}
		w.nodes = append(w.nodes, n)
	}
	for _, c := range w.plan.Changes {
		if c.Action == Forget {
			w.state.Set(c.Addr, c.Deposed, nil)
			continue
		}
		key := c.Deposed
		if c.Action == CreateAndDestroy {
			key = fmt.Sprintf("%08x", w.rand.Uint32())
		}
		if c.Action != Destroy {
			add(&applyNode{change: c, key: key}, w.create)
		}
		if c.Action == Destroy || c.Action.Replaces() {
			add(&applyNode{change: c, key: key, destroys: true}, w.destroy)
		}
	}
}

// connect orders the nodes like Terraform's graph: dependencies are created first and
// destroyed last, and create_before_destroy reverses the order of a destroying node and
// the nodes that create or update.
func (w *applyWalk) connect() {
	edge := func(from, to *applyNode) { // from runs after to
		switch {
		case from == to:
		case !from.destroys && to.createsFirst():
			to.after[&from.node] = true
		default:
			from.after[&to.node] = true
		}
	}
	for _, n := range w.nodes {
		var stored []string
		if n.change.Before != nil {
			stored = n.change.Before.Dependencies
		}
		for _, other := range w.nodes {
			dependsOn := slices.Contains(stored, other.addr())
			changes := other.destroys || other.change.Action != NoOp
			switch {
			case !n.destroys && !other.destroys:
				if b := w.plan.Config.Block(n.addr()); b != nil && slices.Contains(b.References(), other.addr()) {
					edge(n, other)
				}
			case !n.destroys && other.destroys:
				if n.addr() == other.addr() || dependsOn && n.change.Action != NoOp {
					edge(n, other)
				}
			case dependsOn && changes: // n destroys an object that depends on other's
				edge(other, n)
			}
		}
	}
}

// destroy destroys a current or a deposed object.
func (w *applyWalk) destroy(n *applyNode) Diagnostics {
	o := w.state.Find(n.addr(), n.key)
	if o == nil {
		return nil
	}
	planned := w.provider.none(n.addr())
	planned.Private = n.change.After.Private
	if n.key != "" { // like Terraform, plan the destruction of a deposed object again
		again, diags := w.provider.destruction(n.addr(), n.key, o)
		if diags.Failed() {
			return diags
		}
		planned = again.After
	}
	left, diags := w.provider.Apply(n.addr(), o.State, w.provider.none(n.addr()).State, planned)
	switch {
	case errors.Is(diags.Err(), ErrKilled):
		return diags
	case !left.Gone():
		left.Tainted, left.Dependencies, left.CreateBeforeDestroy = o.Tainted, o.Dependencies, o.CreateBeforeDestroy
	case diags.Failed():
		left = o
	}
	w.state.Set(n.addr(), n.key, left.existing())
	return diags
}

// create creates or updates an object, or creates the new object of a replacement.
func (w *applyWalk) create(n *applyNode) Diagnostics {
	if n.change.Action == NoOp {
		return nil
	}
	addr := n.addr()
	if n.key != "" {
		w.state.Set(addr, n.key, w.state[addr].Current)
		w.state.Set(addr, "", nil)
	}
	b := w.plan.Config.Block(addr)
	made, diags := w.applyChange(n.change, b)
	if errors.Is(diags.Err(), ErrKilled) {
		return diags
	}
	if made != nil {
		made.CreateBeforeDestroy = w.plan.Config.createsBeforeDestroy(addr)
		made.Dependencies = w.plan.Config.Dependencies(b)
		if diags.Failed() && n.change.Action != Update {
			made.Tainted = true
		}
		w.state.Set(addr, "", made)
	}
	if diags.Failed() && n.key != "" && w.state[addr].Current == nil {
		w.state.Set(addr, "", w.state.Find(addr, n.key))
		w.state.Set(addr, n.key, nil)
	}
	return diags
}

// applyChange plans a change again with the now known values, and applies it. It returns the
// object to store, or nil to leave the state unchanged.
func (w *applyWalk) applyChange(c *Change, b *Block) (*Object, Diagnostics) {
	p := w.provider
	config := b.evaluate(p.Schemas.Resource(c.Addr), func(addr string) Value {
		if o := w.state[addr].Current; o != nil {
			return o.State
		}
		panic("no value for " + addr)
	})
	if diags := p.Validate(c.Addr, config); diags.Failed() {
		return nil, diags
	}
	final, diags := p.Change(c.Addr, w.state[c.Addr].Current, config, c.Action == CreateAndDestroy, false)
	if diags.Failed() {
		return nil, diags
	}
	if c.Action.Replaces() && final.Action == Create {
		final.Action = c.Action
	}
	if final.Action != c.Action && (c.Action != Update || final.Action != NoOp) {
		p.fail("inconsistent final plan", "%s: planned action changed from %s to %s", c.Addr, c.Action, final.Action)
	}
	if problems := incompatibilities(c.After.State, final.After.State, c.Addr); len(problems) > 0 {
		p.fail("inconsistent final plan", "%s", joined(problems))
	}
	if final.Action == NoOp {
		return nil, nil
	}
	prior := p.none(c.Addr)
	if final.Action == Update {
		prior = final.Before
	}
	made, diags := p.Apply(c.Addr, prior.State, config, final.After)
	made.Tainted = final.Action == Update && diags.Failed() && prior.Tainted
	return made.existing(), diags
}
