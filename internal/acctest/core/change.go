package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// Action is the kind of a Change.
type Action string

// The actions.
const (
	NoOp             Action = "no-op"
	Create           Action = "create"
	Update           Action = "update"
	Destroy          Action = "destroy"
	DestroyAndCreate Action = "destroy and create"
	CreateAndDestroy Action = "create and destroy"
	Forget           Action = "forget"
)

// Replaces reports whether the action replaces an object.
func (a Action) Replaces() bool { return a == DestroyAndCreate || a == CreateAndDestroy }

// Change is the planned change of one object.
type Change struct {
	Addr string
	// Deposed is the key of a deposed object, or empty.
	Deposed string
	Action  Action
	Before  *Object // or nil
	After   *Object // null for a destroy
	// Warnings contains the provider's warnings in the plan as Terraform shows them: the first
	// lines of each are its summary.
	Warnings []string
	// Forced means that the object is replaced because of -replace or replace_triggered_by,
	// or because it is tainted.
	Forced bool
}

// String returns the action, the address, and the attributes that change.
func (c *Change) String() string {
	parts := []string{string(c.Action), c.Addr}
	if c.Deposed != "" {
		parts = append(parts, "(deposed "+c.Deposed+")")
	}
	if c.Before != nil && !c.After.Gone() {
		before, after := Attributes(c.Before.State), Attributes(c.After.State)
		for _, name := range slices.Sorted(maps.Keys(after)) {
			if !equal(before[name], after[name]) {
				parts = append(parts, fmt.Sprintf("[%s: %s -> %s]", name, before[name], after[name]))
			}
		}
	}
	return strings.Join(parts, " ")
}

// Plan is the result of RunPlan.
type Plan struct {
	Config  *Configuration
	Targets []string
	Prior   State // refreshed
	Changes []*Change
}

// Effective returns the changes except no-ops.
func (p *Plan) Effective() []*Change {
	return slices.DeleteFunc(slices.Clone(p.Changes), func(c *Change) bool { return c.Action == NoOp })
}

// Change returns the change of the current object at an address, or nil.
func (p *Plan) Change(addr string) *Change {
	for _, c := range p.Changes {
		if c.Addr == addr && c.Deposed == "" {
			return c
		}
	}
	return nil
}

// String lists the changes except no-ops.
func (p *Plan) String() string {
	parts := []string{fmt.Sprintf("%d changes", len(p.Effective()))}
	for _, c := range p.Effective() {
		parts = append(parts, c.String())
	}
	return strings.Join(parts, "; ")
}

// none is the state of an address without an object.
func (p *Provider) none(addr string) *Object { return &Object{State: p.Schemas.Resource(addr).Null()} }

// Change plans one object, as Terraform does for a block. It plans a replacement, which force
// requests, twice: the second time without prior state, and with diagnostics that count only if
// they contain an error.
func (p *Provider) Change(addr string, current *Object, config Value, createBeforeDestroy, force bool) (*Change, Diagnostics) {
	prior := p.none(addr)
	if current != nil && !current.Tainted {
		prior = current
	}
	planned, diags := p.Plan(addr, prior, config)
	if diags.Failed() {
		return nil, diags
	}
	c := &Change{Addr: addr, Before: current, After: planned, Warnings: warnings(diags)}
	replace := DestroyAndCreate
	if createBeforeDestroy {
		replace = CreateAndDestroy
	}
	switch {
	case current == nil:
		c.Action = Create
	case current.Tainted:
		c.Action, c.Forced = replace, true
	case force || mustReplace(prior, planned):
		c.Action, c.Forced = replace, force
		again := p.none(addr)
		again.Private, again.Identity = planned.Private, planned.Identity
		var more Diagnostics
		if c.After, more = p.Plan(addr, again, config); more.Failed() {
			return nil, slices.Concat(diags, more)
		}
	case equal(planned.State, prior.State):
		c.Action = NoOp
	default:
		c.Action = Update
	}
	p.checkIdentity(addr, c.After.Identity, c.Action == Update || c.Action == NoOp)
	return c, diags
}

// mustReplace reports whether an attribute that requires replacement changes.
func mustReplace(prior, planned *Object) bool {
	for _, path := range planned.Replace {
		before, hadBefore := valueAt(prior.State, path)
		after, hasAfter := valueAt(planned.State, path)
		if hadBefore != hasAfter || !equal(before, after) {
			return true
		}
	}
	return false
}

// destruction plans the destruction of an object. key is the key of a deposed object, or empty.
func (p *Provider) destruction(addr, key string, o *Object) (*Change, Diagnostics) {
	planned, diags := p.Plan(addr, o, p.none(addr).State)
	return &Change{Addr: addr, Deposed: key, Action: Destroy, Before: o, After: planned, Warnings: warnings(diags)}, diags
}

func warnings(diags Diagnostics) (all []string) {
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityWarning {
			all = append(all, d.Summary+"\n"+d.Detail+"\n")
		}
	}
	return all
}
