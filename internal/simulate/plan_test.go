package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

type action string

const (
	noOp             action = "no-op"
	create           action = "create"
	update           action = "update"
	destroy          action = "destroy"
	destroyAndCreate action = "destroy and create"
	createAndDestroy action = "create and destroy"
	forget           action = "forget"
)

func (a action) replaces() bool { return a == destroyAndCreate || a == createAndDestroy }

// change is the planned change of one object.
type change struct {
	addr string
	// deposed is the key of a deposed object, or empty.
	deposed  string
	action   action
	before   *object
	after    value
	private  []byte
	identity *tfprotov6.ResourceIdentityData
	// warnings are what Terraform shows of the provider's warnings in the plan: the first
	// lines of each are its summary.
	warnings []string
	// forced means that the object is replaced because of -replace, replace_triggered_by,
	// or because it is tainted.
	forced bool
}

func (c *change) String() string {
	name := c.addr
	if c.deposed != "" {
		name += " (deposed " + c.deposed + ")"
	}
	return fmt.Sprintf("%s %s", c.action, name)
}

// plan is the result of a plan walk.
type plan struct {
	config  *configuration
	targets []string
	prior   state // refreshed
	changes []*change
}

// effective returns the changes that are not no-ops.
func (p *plan) effective() (changes []*change) {
	for _, c := range p.changes {
		if c.action != noOp {
			changes = append(changes, c)
		}
	}
	return changes
}

func (p *plan) change(addr string) *change {
	for _, c := range p.changes {
		if c.addr == addr && c.deposed == "" {
			return c
		}
	}
	return nil
}

// planOptions are options of terraform plan.
type planOptions struct {
	noRefresh bool
	destroy   bool
	targets   []string
	replace   []string
}

// planWalk is one plan walk.
type planWalk struct {
	run    *run
	plugin *plugin
	config *configuration
	opts   planOptions
	plan   *plan
	failed map[string]bool
	errs   []error
}

// runPlan runs terraform plan. An error is not a finding by itself.
func runPlan(w *environment, r *run, config *configuration, prior state, opts planOptions) (*plan, error) {
	p, err := w.start(r)
	defer p.kill()
	if err != nil {
		return nil, err
	}
	walk := &planWalk{run: r, plugin: p, config: config, opts: opts, failed: map[string]bool{}, plan: &plan{config: config, targets: opts.targets, prior: prior.clone()}}
	if opts.destroy {
		walk.config = &configuration{}
	}
	walk.move()
	if err := walk.upgradeAll(); err != nil {
		return nil, err
	}
	walk.nodes()
	slices.SortFunc(walk.plan.changes, func(a, b *change) int {
		return cmp.Or(strings.Compare(a.addr, b.addr), strings.Compare(a.deposed, b.deposed))
	})
	return walk.plan, errors.Join(walk.errs...)
}

// move applies moved blocks to the state.
func (w *planWalk) move() {
	for _, m := range w.config.moved {
		i, ok := w.plan.prior[m[0]]
		if _, taken := w.plan.prior[m[1]]; ok && !taken {
			delete(w.plan.prior, m[0])
			w.plan.prior[m[1]] = i
		}
	}
}

// upgradeAll upgrades all objects to the current schema, as Terraform does first.
func (w *planWalk) upgradeAll() error {
	for _, addr := range w.plan.prior.addresses() {
		i := w.plan.prior[addr]
		if i.current == nil {
			continue
		}
		o, err := w.plugin.upgrade(w.plugin.schemas.resources[typeOf(addr)], addr, i.current)
		if err != nil {
			return err
		}
		w.plan.prior.setCurrent(addr, o)
	}
	return nil
}

// targeted returns the addresses that the walk visits, or nil for all.
func (w *planWalk) targeted() map[string]bool {
	if len(w.opts.targets) == 0 {
		return nil
	}
	found := map[string]bool{}
	for _, addr := range w.opts.targets {
		found[addr] = true
		if b := w.config.block(addr); b != nil {
			for _, dependency := range w.config.dependencies(b) {
				found[dependency] = true
			}
		}
	}
	return found
}

// nodes visits each object once, dependencies first, otherwise in a random order.
func (w *planWalk) nodes() {
	targets := w.targeted()
	type node struct {
		visit func() error
		addr  string
		after []string
	}
	var waiting []node
	done := map[string]bool{}
	for _, b := range w.config.blocks {
		if targets != nil && !targets[b.addr] {
			done[b.addr] = true
			continue
		}
		waiting = append(waiting, node{func() error { return w.resource(b) }, b.addr, b.references()})
	}
	for _, addr := range w.plan.prior.addresses() {
		if targets != nil && !targets[addr] {
			continue
		}
		i := w.plan.prior[addr]
		if w.config.block(addr) == nil && i.current != nil {
			waiting = append(waiting, node{func() error { return w.orphan(addr, "") }, "", nil})
		}
		for _, key := range slices.Sorted(maps.Keys(i.deposed)) {
			waiting = append(waiting, node{func() error { return w.orphan(addr, key) }, "", nil})
		}
	}
	for {
		var ready []int
		for i, n := range waiting {
			if !slices.ContainsFunc(n.after, func(addr string) bool { return !done[addr] }) {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 {
			break
		}
		i := ready[w.run.rand.IntN(len(ready))]
		n := waiting[i]
		waiting = slices.Delete(waiting, i, i+1)
		if slices.ContainsFunc(n.after, func(addr string) bool { return w.failed[addr] }) {
			w.failed[n.addr] = true
		} else if err := n.visit(); err != nil {
			w.failed[n.addr] = true
			w.errs = append(w.errs, err)
		}
		done[n.addr] = true
	}
	if len(waiting) > 0 {
		panic("the configuration has a cycle")
	}
}

// lookup returns the planned value of a resource.
func (w *planWalk) lookup(addr string) value {
	if c := w.plan.change(addr); c != nil {
		return c.after
	}
	if o := w.plan.prior[addr].current; o != nil {
		return o.value
	}
	panic("no value for " + addr)
}

// resource plans a block.
func (w *planWalk) resource(b *block) error {
	s := w.plugin.schemas.resources[typeOf(b.addr)]
	config := b.evaluate(s, w.lookup)
	if err := w.plugin.validate(s, b.addr, config); err != nil {
		return err
	}
	current := w.plan.prior[b.addr].current
	if i := slices.IndexFunc(w.config.imports, func(i importBlock) bool { return i.to == b.addr }); i >= 0 && current == nil {
		imported, err := w.plugin.importState(s, b.addr, w.config.imports[i].id, w.identity(s, w.config.imports[i]))
		if err != nil {
			return err
		}
		current = imported
		w.plan.prior.setCurrent(b.addr, current)
	} else if current != nil && !w.opts.noRefresh {
		now, err := w.plugin.read(s, b.addr, current)
		if err != nil {
			return err
		}
		current = now
		w.plan.prior.setCurrent(b.addr, current)
	}
	cbd := w.config.createsBeforeDestroy(b.addr)
	if current != nil {
		refreshed := *current
		refreshed.createBeforeDestroy = cbd
		refreshed.dependencies = slices.Compact(slices.Sorted(slices.Values(slices.Concat(w.config.dependencies(b), current.dependencies))))
		current = &refreshed
		w.plan.prior.setCurrent(b.addr, current)
	}
	force := slices.Contains(w.opts.replace, b.addr) || slices.ContainsFunc(b.replaceTriggeredBy, func(addr string) bool {
		c := w.plan.change(addr)
		return c != nil && c.action != noOp && c.action != create
	})
	c, err := w.plugin.change(b.addr, current, config, cbd, force)
	if err != nil {
		return err
	}
	w.plan.changes = append(w.plan.changes, c)
	return nil
}

func (w *planWalk) identity(s *schema, i importBlock) value {
	if i.id != "" {
		return value{}
	}
	return newValue(s.identity, map[string]any{"id": i.identity})
}

// change plans one object, as Terraform does for a block.
func (p *plugin) change(addr string, current *object, config value, cbd, force bool) (*change, error) {
	s := p.schemas.resources[typeOf(addr)]
	req := planRequest{prior: s.null(), config: config}
	if current != nil && !current.tainted {
		req.prior, req.private, req.identity = current.value, current.private, current.identity
	}
	resp, planned, err := p.plan(s, addr, req)
	if err != nil {
		return nil, err
	}
	c := &change{addr: addr, before: current, after: planned, private: resp.PlannedPrivate, identity: resp.PlannedIdentity, warnings: warningsOf(resp.Diagnostics)}
	replace := destroyAndCreate
	if cbd {
		replace = createAndDestroy
	}
	switch {
	case req.prior.IsNull() && current == nil:
		c.action = create
	case req.prior.IsNull(): // tainted
		c.action, c.forced = replace, true
	case force || p.mustReplace(addr, req.prior, planned, resp.RequiresReplace):
		c.action, c.forced = replace, force
		resp, c.after, err = p.plan(s, addr, planRequest{prior: s.null(), config: config, private: c.private, identity: c.identity})
		if err != nil {
			return nil, err
		}
		c.private, c.identity = resp.PlannedPrivate, resp.PlannedIdentity
	case equal(planned, req.prior):
		c.action = noOp
	default:
		c.action = update
	}
	p.checkIdentity(s, addr, c.identity, c.action == update || c.action == noOp)
	return c, nil
}

// mustReplace reports whether an attribute that requires replacement changes.
func (p *plugin) mustReplace(addr string, prior, planned value, paths []*tftypes.AttributePath) bool {
	for _, path := range paths {
		before, hadBefore := valueAt(prior, path)
		after, hasAfter := valueAt(planned, path)
		if !hadBefore && !hasAfter {
			p.report.fail("invalid plan", "%s: replacement required by a path that does not exist: %s", addr, path)
		}
		if hadBefore != hasAfter || !equal(before, after) {
			return true
		}
	}
	return false
}

// orphan plans the destruction of an object without a block, or of a deposed object.
func (w *planWalk) orphan(addr, key string) error {
	s := w.plugin.schemas.resources[typeOf(addr)]
	o := w.plan.prior.find(addr, key)
	if slices.Contains(w.config.removed, addr) {
		w.plan.changes = append(w.plan.changes, &change{addr: addr, deposed: key, action: forget, before: o, after: s.null()})
		return nil
	}
	if !w.opts.noRefresh {
		now, err := w.plugin.read(s, addr, o)
		if err != nil {
			return err
		}
		o = now
		if key == "" {
			w.plan.prior.setCurrent(addr, now)
		} else {
			w.plan.prior.setDeposed(addr, key, now)
		}
		if now == nil {
			return nil
		}
	}
	c, err := w.plugin.destruction(addr, key, o)
	if err != nil {
		return err
	}
	w.plan.changes = append(w.plan.changes, c)
	return nil
}

// destruction plans the destruction of an object.
func (p *plugin) destruction(addr, key string, o *object) (*change, error) {
	s := p.schemas.resources[typeOf(addr)]
	resp, planned, err := p.plan(s, addr, planRequest{prior: o.value, config: s.null(), private: o.private, identity: o.identity})
	if err != nil {
		return nil, err
	}
	return &change{addr: addr, deposed: key, action: destroy, before: o, after: planned, private: resp.PlannedPrivate, identity: resp.PlannedIdentity, warnings: warningsOf(resp.Diagnostics)}, nil
}
