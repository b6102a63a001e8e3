package simulate

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// maxSteps is the maximum number of steps of a history.
const maxSteps = 8

// history is the state of a running history.
type history struct {
	*environment
	Case
	stacks []*stack
	// cascaded are the objects that the last apply deleted together with a domain.
	cascaded []store.AuditChange
	// faulted counts the requests with a fault.
	faulted int
	// foreign reports whether somebody else has created mailboxes or records.
	foreign bool
}

// stack is a root module with its state.
type stack struct {
	name    string
	account int
	config  *configuration
	state   state
	backups []state
	// incomplete reports whether the state may lack objects that its configuration
	// created: it was lost or restored from a backup, or a run was killed.
	incomplete bool
}

func newHistory(c Case) *history {
	r := rand.New(rand.NewPCG(c.Seed, 0)) //nolint:gosec // must be reproducible
	registrar := apiserver.Registrar{PaymentNeeded: chance(r, 10)}
	if chance(r, 20) {
		registrar.ProvisioningDelay = apiserver.Duration(10 * time.Minute)
	}
	h := &history{Case: c, environment: newEnvironment(c, registrar, chance(r, 15), newLimits(r))}
	h.report.logf("history %s, published operations only: %v, payment needed: %v, provisioning delay: %v", c, h.publishedOnly, registrar.PaymentNeeded, time.Duration(registrar.ProvisioningDelay))
	d := h.generator(r, 0)
	h.stacks = []*stack{{name: "one", config: d.configuration(), state: state{}}}
	if chance(r, 15) {
		h.stacks = append(h.stacks, &stack{name: "two", config: d.configuration(), state: state{}})
	}
	return h
}

func newLimits(r *rand.Rand) (l limits) {
	if chance(r, 15) {
		l.maxMailboxes = 2 + r.IntN(4)
	}
	if chance(r, 20) {
		l.bulkLimit = 1 + r.IntN(3)
	}
	return l
}

func (h *history) generator(r *rand.Rand, account int) *generator {
	return &generator{rand: r, account: h.accounts[account], report: &h.report}
}

// steps returns the numbers of the steps to run.
func (h *history) steps() iter.Seq[int] {
	if h.Steps != nil {
		return slices.Values(h.Steps)
	}
	n := 2 + int(h.Seed%(maxSteps-1))
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// step runs some events, then a plan and an apply of one stack, or of two concurrently.
func (h *history) step(r *rand.Rand) {
	h.advance(time.Minute)
	if len(h.stacks) > 1 && chance(r, 50) {
		h.interleaved(r)
		return
	}
	s := pick(r, h.stacks)
	for range r.IntN(4) {
		h.event(r, s)
	}
	h.apply(r, s)
}

// apply runs a plan and an apply, and checks them.
func (h *history) apply(r *rand.Rand, s *stack) {
	run := h.newRun(r, s)
	if chance(r, 3) && len(s.state) > 0 {
		run.account = 1 - s.account
		h.report.logf("the provider is configured for another account")
	}
	opts := h.planOptions(r, s)
	h.report.logf("plan %s %+v\n%s", s.name, opts, s.config)
	p, err := runPlan(h.environment, run, s.config.clone(), s.state, opts)
	h.checkPlanIsReadOnly()
	if err != nil {
		h.report.logf("plan failed")
		if chance(r, 80) {
			h.followAdvice(r, s, err)
		}
		return
	}
	h.report.logf("plan: %s", p.describe())
	// Terraform forgets an object without a call of the provider.
	usesState := slices.ContainsFunc(p.changes, func(c *change) bool { return c.action != forget && c.before != nil })
	if run.account != s.account && usesState && !opts.noRefresh && len(opts.targets) == 0 {
		h.report.fail("a plan with another account's state", "%s", p.describe())
	}
	touched := chance(r, 15) // by an external change between plan and apply
	for range 2 {
		if touched {
			h.externalChange(r, s)
		}
	}
	second := h.newRun(r, s)
	second.account = run.account
	h.report.changedOutside = touched
	after, err := runApply(h.environment, second, p)
	h.report.changedOutside = false
	h.deliverLate(true)
	h.recordApply(s, outcome{p, after, err, errors.Is(err, errKilled)})
	// Objects that the service deletes with their domain are missing until the next apply.
	touched = touched || len(h.cascaded) > 0
	h.faulted += run.faulted + second.faulted
	quiet := !touched && run.faulted+second.faulted == 0 && len(opts.targets) == 0 && !opts.destroy && !opts.noRefresh
	if quiet && second.incomplete && h.maxMailboxes == 0 && len(h.stacks) == 1 && !s.config.contradicts() {
		h.report.fail("incomplete", "a set has left out mailboxes without a reason")
	}
	if err == nil && quiet && !second.incomplete && !second.appeared && !s.config.contradicts() && chance(r, 60) {
		h.checkConverged(s)
	}
}

// recordApply stores the state of an apply and checks it.
func (h *history) recordApply(s *stack, o outcome) {
	s.backups = append(s.backups, s.state)
	s.state = o.state
	s.incomplete = s.incomplete || o.killed
	h.registerSecrets(s.state)
	h.report.logf("apply: %v; state: %v", o.err, h.describeState(s.state))
	h.cascaded = h.checkApplies(o)
	if o.err == nil {
		s.config.moved = nil
	}
}

func (h *history) describeState(s state) string {
	var parts []string
	for _, addr := range s.addresses() {
		if o := s[addr].current; o != nil {
			parts = append(parts, fmt.Sprintf("%s=%.8s", addr, o.id()))
		}
		for key, o := range s[addr].deposed {
			parts = append(parts, fmt.Sprintf("%s(%s)=%.8s", addr, key, o.id()))
		}
	}
	return strings.Join(parts, " ")
}

// registerSecrets registers the secrets of a state, which no diagnostic may contain.
func (h *history) registerSecrets(s state) {
	for _, addr := range s.addresses() {
		if o := s[addr].current; o != nil {
			h.report.secret(addr+".token", text(o.value, "token"))
			h.report.secret(addr+".generated_secret", text(o.value, "generated_secret"))
		}
	}
}

// checkPlanIsReadOnly checks that the last plan changed nothing in the service.
func (h *history) checkPlanIsReadOnly() {
	if e := h.effectsSince(); len(e.created)+len(e.deleted) > 0 {
		h.report.fail("a plan changed something", "%+v", e)
	}
}

func (h *history) planOptions(r *rand.Rand, s *stack) (opts planOptions) {
	opts.noRefresh = chance(r, 8)
	opts.destroy = chance(r, 4)
	if len(s.config.blocks) > 0 {
		if chance(r, 8) {
			opts.targets = []string{pick(r, s.config.blocks).addr}
		}
		if chance(r, 10) {
			opts.replace = []string{pick(r, s.config.blocks).addr}
		}
	}
	return opts
}

func (h *history) newRun(r *rand.Rand, s *stack) *run {
	run := &run{name: s.name, account: s.account, rand: rand.New(rand.NewPCG(r.Uint64(), 1))} //nolint:gosec // must be reproducible
	faults, killAt := 0, 0
	if chance(r, 35) {
		faults = 3 + r.IntN(15)
	}
	if chance(r, 12) {
		killAt = 1 + r.IntN(15)
	}
	switch {
	case h.NoFaults:
	case h.Fault != "":
		run.faults, run.fault = 20, faultNamed(h.Fault)
	default:
		run.faults, run.killAt = faults, killAt
	}
	return run
}

// runWithoutFaults returns a run without faults.
func (h *history) runWithoutFaults(s *stack) *run {
	return &run{name: s.name, account: s.account, rand: rand.New(rand.NewPCG(h.Seed, 99))} //nolint:gosec // must be reproducible
}

// checkConverged checks that the plan after a successful apply is empty.
func (h *history) checkConverged(s *stack) {
	p, err := runPlan(h.environment, h.runWithoutFaults(s), s.config.clone(), s.state, planOptions{})
	h.checkPlanIsReadOnly()
	switch {
	case err != nil:
		h.report.fail("a plan after a successful apply fails", "%v", err)
	case len(p.effective()) > 0:
		h.report.fail("a plan after a successful apply is not empty", "%s", p.explain())
	}
	h.checkExact(s, p)
}

// checkExact checks, for an empty plan, that the service has exactly what the
// configuration says of resources with many objects.
func (h *history) checkExact(s *stack, p *plan) {
	for _, b := range s.config.blocks {
		o := p.prior[b.addr].current
		switch {
		case o == nil:
		case typeOf(b.addr) == setType:
			h.checkSet(s, b, o)
		case typeOf(b.addr) == zoneType:
			h.checkZone(s, b, o)
		}
	}
}

// explain describes a plan's changes with the attributes that change.
func (p *plan) explain() string {
	var parts []string
	for _, c := range p.effective() {
		var line strings.Builder
		line.WriteString(c.String())
		if c.before != nil && !c.after.IsNull() {
			before, after := attributesOf(c.before.value), attributesOf(c.after)
			for _, name := range slices.Sorted(maps.Keys(after)) {
				if !equal(before[name], after[name]) {
					fmt.Fprintf(&line, " [%s: %s -> %s]", name, before[name], after[name])
				}
			}
		}
		parts = append(parts, line.String())
	}
	return strings.Join(parts, "; ")
}

// interleaved runs two stacks concurrently, switching between calls to their providers.
func (h *history) interleaved(r *rand.Rand) {
	var outcomes []outcome
	var nexts []func() (struct{}, bool)
	for _, s := range h.stacks {
		for range r.IntN(3) {
			h.event(r, s)
		}
		planning, applying, opts := h.newRun(r, s), h.newRun(r, s), h.planOptions(r, s)
		h.report.logf("plan %s %+v\n%s", s.name, opts, s.config)
		next, stop := iter.Pull(func(yield func(struct{}) bool) {
			let := func() { yield(struct{}{}) }
			planning.yield, applying.yield = let, let
			p, err := runPlan(h.environment, planning, s.config.clone(), s.state, opts)
			if err != nil {
				h.report.logf("plan %s failed", s.name)
				return
			}
			h.report.logf("plan %s: %s", s.name, p.describe())
			after, err := runApply(h.environment, applying, p)
			h.deliverLate(true)
			h.report.logf("apply %s: %v; state: %v", s.name, err, h.describeState(after))
			s.backups, s.state = append(s.backups, s.state), after
			s.incomplete = s.incomplete || errors.Is(err, errKilled)
			h.faulted += planning.faulted + applying.faulted
			outcomes = append(outcomes, outcome{p, after, err, errors.Is(err, errKilled)})
		})
		defer stop()
		nexts = append(nexts, next)
	}
	for len(nexts) > 0 {
		i := r.IntN(len(nexts))
		for range 1 + r.IntN(4) {
			if _, ok := nexts[i](); !ok {
				nexts = slices.Delete(nexts, i, i+1)
				break
			}
		}
	}
	for _, s := range h.stacks {
		h.registerSecrets(s.state)
	}
	h.checkApplies(outcomes...)
}
