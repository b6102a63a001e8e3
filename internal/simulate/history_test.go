package simulate

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
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
	// foreign means that somebody else created mailboxes or records.
	foreign bool
}

// stack is a root module with its state.
type stack struct {
	name    string
	account int
	config  *core.Configuration
	state   core.State
	backups []core.State
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
	h.stacks = []*stack{{name: "one", config: d.configuration(), state: core.State{}}}
	if chance(r, 15) {
		h.stacks = append(h.stacks, &stack{name: "two", config: d.configuration(), state: core.State{}})
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
	p, err := runPlan(h.environment, run, s.config.Clone(), s.state, opts)
	h.checkPlanIsReadOnly()
	if err != nil {
		h.report.logf("plan failed")
		if chance(r, 80) {
			h.followAdvice(r, s, err)
		}
		return
	}
	h.report.logf("plan: %s", p)
	// Terraform forgets an object without a call of the provider.
	usesState := slices.ContainsFunc(p.Changes, func(c *core.Change) bool { return c.Action != core.Forget && c.Before != nil })
	if run.account != s.account && usesState && !opts.NoRefresh && len(opts.Targets) == 0 {
		h.report.fail("a plan with another account's state", "%s", p)
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
	h.recordApply(s, outcome{p, after, err, errors.Is(err, core.ErrKilled)})
	// Objects that the service deletes with their domain are missing until the next apply.
	touched = touched || len(h.cascaded) > 0
	h.faulted += run.faulted + second.faulted
	quiet := !touched && run.faulted+second.faulted == 0 && len(opts.Targets) == 0 && !opts.Destroy && !opts.NoRefresh
	if quiet && second.incomplete && h.maxMailboxes == 0 && len(h.stacks) == 1 && !contradicts(s.config) {
		h.report.fail("incomplete", "a set has left out mailboxes without a reason")
	}
	if err == nil && quiet && !second.incomplete && !second.appeared && !contradicts(s.config) && chance(r, 60) {
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
		s.config.Moved = nil
	}
}

func (h *history) describeState(s core.State) string {
	var parts []string
	for _, addr := range s.Addresses() {
		if o := s[addr].Current; o != nil {
			parts = append(parts, fmt.Sprintf("%s=%.8s", addr, o.ID()))
		}
		for key, o := range s[addr].Deposed {
			parts = append(parts, fmt.Sprintf("%s(%s)=%.8s", addr, key, o.ID()))
		}
	}
	return strings.Join(parts, " ")
}

// registerSecrets registers the secrets of a state, which no diagnostic may contain.
func (h *history) registerSecrets(s core.State) {
	for _, addr := range s.Addresses() {
		if o := s[addr].Current; o != nil {
			h.report.secret(addr+".token", core.Text(o.State, "token"))
			h.report.secret(addr+".generated_secret", core.Text(o.State, "generated_secret"))
		}
	}
}

// checkPlanIsReadOnly checks that the last plan changed nothing in the service.
func (h *history) checkPlanIsReadOnly() {
	if e := h.effectsSince(); len(e.created)+len(e.deleted) > 0 {
		h.report.fail("a plan changed something", "%+v", e)
	}
}

func (h *history) planOptions(r *rand.Rand, s *stack) (opts core.PlanOptions) {
	opts.NoRefresh = chance(r, 8)
	opts.Destroy = chance(r, 4)
	if len(s.config.Blocks) > 0 {
		if chance(r, 8) {
			opts.Targets = []string{pick(r, s.config.Blocks).Addr}
		}
		if chance(r, 10) {
			opts.Replace = []string{pick(r, s.config.Blocks).Addr}
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
	p, err := runPlan(h.environment, h.runWithoutFaults(s), s.config.Clone(), s.state, core.PlanOptions{})
	h.checkPlanIsReadOnly()
	switch {
	case err != nil:
		h.report.fail("a plan after a successful apply fails", "%v", err)
	case len(p.Effective()) > 0:
		h.report.fail("a plan after a successful apply is not empty", "%s", p)
	}
	h.checkExact(s, p)
}

// checkExact checks, for an empty plan, that the service contains exactly the configured
// objects of resources with many objects.
func (h *history) checkExact(s *stack, p *core.Plan) {
	for _, b := range s.config.Blocks {
		o := p.Prior[b.Addr].Current
		switch {
		case o == nil:
		case core.TypeOf(b.Addr) == setType:
			h.checkSet(s, b, o)
		case core.TypeOf(b.Addr) == zoneType:
			h.checkZone(s, b, o)
		}
	}
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
			p, err := runPlan(h.environment, planning, s.config.Clone(), s.state, opts)
			if err != nil {
				h.report.logf("plan %s failed", s.name)
				return
			}
			h.report.logf("plan %s: %s", s.name, p)
			after, err := runApply(h.environment, applying, p)
			h.deliverLate(true)
			h.report.logf("apply %s: %v; state: %v", s.name, err, h.describeState(after))
			s.backups, s.state = append(s.backups, s.state), after
			s.incomplete = s.incomplete || errors.Is(err, core.ErrKilled)
			h.faulted += planning.faulted + applying.faulted
			outcomes = append(outcomes, outcome{p, after, err, errors.Is(err, core.ErrKilled)})
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
