package core

import (
	"cmp"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// PlanOptions are options of terraform plan.
type PlanOptions struct {
	NoRefresh bool
	Destroy   bool
	Targets   []string
	Replace   []string
}

// planWalk is one plan walk.
type planWalk struct {
	provider *Provider
	config   *Configuration
	opts     PlanOptions
	plan     *Plan
}

// RunPlan runs terraform plan with a configured provider.
func RunPlan(p *Provider, r *rand.Rand, config *Configuration, prior State, opts PlanOptions) (*Plan, error) {
	w := &planWalk{provider: p, config: config, opts: opts, plan: &Plan{Config: config, Targets: opts.Targets, Prior: prior.Clone()}}
	if opts.Destroy {
		w.config = &Configuration{}
	}
	w.move()
	if err := w.upgrade().Err(); err != nil {
		return nil, err
	}
	err := walk(r, w.nodes())
	if errors.Is(err, ErrCycle) {
		panic("the configuration has a cycle")
	}
	slices.SortFunc(w.plan.Changes, func(a, b *Change) int {
		return cmp.Or(strings.Compare(a.Addr, b.Addr), strings.Compare(a.Deposed, b.Deposed))
	})
	return w.plan, err
}

// move applies moved blocks to the state.
func (w *planWalk) move() {
	for _, m := range w.config.Moved {
		i, ok := w.plan.Prior[m[0]]
		if _, taken := w.plan.Prior[m[1]]; ok && !taken {
			delete(w.plan.Prior, m[0])
			w.plan.Prior[m[1]] = i
		}
	}
}

// upgrade upgrades all objects to the current schema, as Terraform does first.
func (w *planWalk) upgrade() Diagnostics {
	for _, addr := range w.plan.Prior.Addresses() {
		o := w.plan.Prior[addr].Current
		if o == nil {
			continue
		}
		s := w.provider.Schemas.Resource(addr)
		upgraded, diags := w.provider.Upgrade(addr, s.Version, stateJSON(s.stored, o.State))
		if diags.Failed() {
			return diags
		}
		if problems := incompatibilities(o.State, upgraded.State, addr); len(problems) > 0 {
			w.provider.fail("upgrade", "a state of the current version changed: %s", joined(problems))
		}
		now := *o
		now.State = upgraded.State
		w.plan.Prior.Set(addr, "", &now)
	}
	return nil
}

// targeted returns the addresses that the walk visits, or nil for all.
func (w *planWalk) targeted() map[string]bool {
	if len(w.opts.Targets) == 0 {
		return nil
	}
	found := map[string]bool{}
	for _, addr := range w.opts.Targets {
		found[addr] = true
		if b := w.config.Block(addr); b != nil {
			for _, dependency := range w.config.Dependencies(b) {
				found[dependency] = true
			}
		}
	}
	return found
}

// nodes returns the nodes of the blocks, dependencies first, and of the objects without a block.
func (w *planWalk) nodes() (nodes []*node) {
	targets := w.targeted()
	blocks := map[string]*node{}
	for _, b := range w.config.Blocks {
		if targets == nil || targets[b.Addr] {
			n := &node{visit: func() Diagnostics { return w.resource(b) }, after: map[*node]bool{}}
			blocks[b.Addr], nodes = n, append(nodes, n)
		}
	}
	for addr, n := range blocks {
		for _, before := range w.config.Block(addr).References() {
			n.after[blocks[before]] = true
		}
	}
	for _, addr := range w.plan.Prior.Addresses() {
		if targets != nil && !targets[addr] {
			continue
		}
		i := w.plan.Prior[addr]
		if w.config.Block(addr) == nil && i.Current != nil {
			nodes = append(nodes, &node{visit: func() Diagnostics { return w.orphan(addr, "") }})
		}
		for _, key := range slices.Sorted(maps.Keys(i.Deposed)) {
			nodes = append(nodes, &node{visit: func() Diagnostics { return w.orphan(addr, key) }})
		}
	}
	return nodes
}

// lookup returns the planned value of a resource.
func (w *planWalk) lookup(addr string) Value {
	if c := w.plan.Change(addr); c != nil {
		return c.After.State
	}
	if o := w.plan.Prior[addr].Current; o != nil {
		return o.State
	}
	panic("no value for " + addr)
}

// resource plans a block.
func (w *planWalk) resource(b *Block) Diagnostics {
	config := b.evaluate(w.provider.Schemas.Resource(b.Addr), w.lookup)
	if diags := w.provider.Validate(b.Addr, config); diags.Failed() {
		return diags
	}
	current := w.plan.Prior[b.Addr].Current
	if i := slices.IndexFunc(w.config.Imports, func(i ImportBlock) bool { return i.To == b.Addr }); i >= 0 && current == nil {
		imported, diags := w.importObject(w.config.Imports[i])
		if diags.Failed() {
			return diags
		}
		current = imported
	} else if current != nil && !w.opts.NoRefresh {
		now, diags := w.provider.Read(b.Addr, current)
		if diags.Failed() {
			return diags
		}
		current = now.existing()
	}
	cbd := w.config.createsBeforeDestroy(b.Addr)
	if current != nil {
		refreshed := *current
		refreshed.CreateBeforeDestroy = cbd
		refreshed.Dependencies = slices.Compact(slices.Sorted(slices.Values(slices.Concat(w.config.Dependencies(b), current.Dependencies))))
		current = &refreshed
	}
	w.plan.Prior.Set(b.Addr, "", current)
	force := slices.Contains(w.opts.Replace, b.Addr) || slices.ContainsFunc(b.ReplaceTriggeredBy, func(addr string) bool {
		c := w.plan.Change(addr)
		return c != nil && c.Action != NoOp && c.Action != Create
	})
	c, diags := w.provider.Change(b.Addr, current, config, cbd, force)
	if !diags.Failed() {
		w.plan.Changes = append(w.plan.Changes, c)
	}
	return diags
}

// importObject imports the object of an import block, and reads it.
func (w *planWalk) importObject(i ImportBlock) (*Object, Diagnostics) {
	identity := NewValue(w.provider.Schemas.Resource(i.To).Identity, map[string]any{"id": i.Identity})
	imported, diags := w.provider.Import(i.To, i.ID, identity)
	if diags.Failed() {
		return nil, diags
	}
	imported, diags = w.provider.Read(i.To, imported)
	if !diags.Failed() && imported.Gone() {
		return nil, Diagnostics{{Severity: tfprotov6.DiagnosticSeverityError, Summary: i.To + ": cannot import non-existent remote object"}}
	}
	return imported, diags
}

// orphan plans the destruction of an object without a block, or of a deposed object.
func (w *planWalk) orphan(addr, key string) Diagnostics {
	o := w.plan.Prior.Find(addr, key)
	if slices.Contains(w.config.Removed, addr) {
		w.plan.Changes = append(w.plan.Changes, &Change{Addr: addr, Deposed: key, Action: Forget, Before: o, After: w.provider.none(addr)})
		return nil
	}
	if !w.opts.NoRefresh {
		now, diags := w.provider.Read(addr, o)
		if diags.Failed() {
			return diags
		}
		o = now.existing()
		if w.plan.Prior.Set(addr, key, o); o == nil {
			return nil
		}
	}
	c, diags := w.provider.destruction(addr, key, o)
	if !diags.Failed() {
		w.plan.Changes = append(w.plan.Changes, c)
	}
	return diags
}
