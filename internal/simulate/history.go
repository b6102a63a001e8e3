package simulate

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Case names a history: its seed, and which of its steps happen. Each step draws
// from its own part of the seed, so that others do the same without it.
type Case struct {
	Seed uint64
	// Steps are the numbers of the steps that happen; nil: all.
	Steps []int
	// Calm leaves out all faults and kills.
	Calm bool
}

// ParseCase reads what Case.String writes, such as 4711 or 4711/0,3/calm.
func ParseCase(s string) (c Case, err error) {
	parts := strings.Split(strings.TrimSpace(s), "/")
	if c.Seed, err = strconv.ParseUint(parts[0], 10, 64); err != nil {
		return c, fmt.Errorf("seed %q: expected a number, or number/steps as a finding prints it", s)
	}
	for _, part := range parts[1:] {
		if part == "calm" {
			c.Calm = true
			continue
		}
		c.Steps = []int{}
		for n := range strings.SplitSeq(part, ",") {
			if n == "" {
				continue
			}
			step, err := strconv.Atoi(n)
			if err != nil {
				return c, fmt.Errorf("seed %q: %q is no step", s, n)
			}
			c.Steps = append(c.Steps, step)
		}
	}
	return c, nil
}

func (c Case) String() string {
	out := strconv.FormatUint(c.Seed, 10)
	if c.Steps != nil {
		out += "/" + strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Steps), " ", ","), "[]")
	}
	if c.Calm {
		out += "/calm"
	}
	return out
}

// Result is what became of a history.
type Result struct {
	// Finding is empty if the history holds all invariants.
	Finding string
	// Kind is the finding's kind, such as "bought too often".
	Kind string
	// Log says what happened.
	Log []string
	// Unsettled is the error of a history that does not come to rest for a
	// legitimate reason.
	Unsettled string
}

// maxSteps is how many steps a history has at most.
const maxSteps = 8

// history is a running history.
type history struct {
	*world
	Case
	stacks []*stack
	// cascaded is what the latest apply deleted along with a domain.
	cascaded []store.AuditChange
	// misbehaved is how many requests were given a fault.
	misbehaved int
}

// stack is a root module with its state.
type stack struct {
	name    string
	account int
	config  *configuration
	state   state
	backups []state
	// strayed says that the state no longer has all that its user owns: it was lost,
	// restored from a backup, or a run was killed.
	strayed bool
}

// Run runs a history and returns its result. It is deterministic.
func Run(c Case) (result Result) {
	h := newHistory(c)
	defer h.close()
	defer func() {
		result.Log = h.report.lines
		if cause := recover(); cause != nil {
			f, ok := cause.(finding)
			if !ok {
				panic(cause)
			}
			result.Kind, result.Finding = f.kind, f.Error()
		}
	}()
	for i := range h.steps() {
		h.report.logf("step %d", i)
		h.step(rand.New(rand.NewPCG(c.Seed, uint64(i)+1))) //nolint:gosec // it has to be reproducible
	}
	result.Unsettled = h.settle()
	return result
}

func newHistory(c Case) *history {
	r := rand.New(rand.NewPCG(c.Seed, 0)) //nolint:gosec // it has to be reproducible
	registrar := apiserver.Registrar{PaymentNeeded: chance(r, 10)}
	if chance(r, 20) {
		registrar.ProvisioningDelay = apiserver.Duration(10 * time.Minute)
	}
	h := &history{Case: c, world: newWorld(c.Seed, registrar, chance(r, 15))}
	h.report.logf("history %s, published operations only: %v, payment needed: %v, provisioning delay: %v", c, h.publishedOnly, registrar.PaymentNeeded, time.Duration(registrar.ProvisioningDelay))
	d := h.drawer(r, 0)
	h.stacks = []*stack{{name: "one", config: d.configuration(), state: state{}}}
	if chance(r, 15) {
		h.stacks = append(h.stacks, &stack{name: "two", config: d.configuration(), state: state{}})
	}
	return h
}

func (h *history) drawer(r *rand.Rand, account int) *drawer {
	return &drawer{rand: r, account: h.accounts[account], report: &h.report}
}

// steps are the numbers of the steps that happen.
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

// step is some events, then a plan and an apply of one stack, or of two at once.
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

// apply runs a plan and an apply, and judges them.
func (h *history) apply(r *rand.Rand, s *stack) {
	run := h.newRun(r, s)
	if chance(r, 3) && len(s.state) > 0 {
		run.account = 1 - s.account
		h.report.logf("the provider is configured for another account")
	}
	opts := h.planOptions(r, s)
	h.report.logf("plan %s %+v\n%s", s.name, opts, s.config)
	p, err := h.planRun(run, s.config.clone(), s.state, opts)
	h.judgePlan()
	if err != nil {
		h.report.logf("plan failed")
		if chance(r, 80) {
			h.followAdvice(r, s, err)
		}
		return
	}
	h.report.logf("plan: %s", p.describe())
	if run.account != s.account && len(s.state) > 0 && !opts.noRefresh && len(opts.targets) == 0 {
		h.report.find("a plan with another account's state", "%s", p.describe())
	}
	touched := chance(r, 15) // after the plan
	for range 2 {
		if touched {
			h.outsideEvent(r, s)
		}
	}
	second := h.newRun(r, s)
	second.account = run.account
	after, err := h.applyRun(second, p)
	h.finish(s, outcome{p, after, err, errors.Is(err, errKilled)})
	// What the service deletes with its domain is missing until the next apply.
	touched = touched || len(h.cascaded) > 0
	h.misbehaved += run.misbehaved + second.misbehaved
	quiet := !touched && run.misbehaved+second.misbehaved == 0 && len(opts.targets) == 0 && !opts.destroy && !opts.noRefresh
	if err == nil && quiet && s.config.contradicts() == "" && chance(r, 60) {
		h.mustBeSettled(s)
	}
}

// finish stores the state of an apply and judges it.
func (h *history) finish(s *stack, o outcome) {
	s.backups = append(s.backups, s.state)
	s.state = o.state
	s.strayed = s.strayed || o.killed
	h.learnSecrets(s.state)
	h.report.logf("apply: %v; state: %v", o.err, h.describeState(s.state))
	h.cascaded = h.judge(o)
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

// learnSecrets makes the secrets of a state ones that no diagnostic may show.
func (h *history) learnSecrets(s state) {
	for _, addr := range s.addresses() {
		if o := s[addr].current; o != nil {
			h.report.secret(addr+".token", text(o.value, "token"))
			h.report.secret(addr+".generated_secret", text(o.value, "generated_secret"))
		}
	}
}

// judgePlan checks that a plan changes nothing.
func (h *history) judgePlan() {
	if e := h.effectsSince(); len(e.created)+len(e.deleted) > 0 {
		h.report.find("a plan changed something", "%+v", e)
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
	run := &run{name: s.name, account: s.account, rand: rand.New(rand.NewPCG(r.Uint64(), 1))} //nolint:gosec // it has to be reproducible
	faults, killAt := 0, 0
	if chance(r, 35) {
		faults = 3 + r.IntN(15)
	}
	if chance(r, 12) {
		killAt = 1 + r.IntN(15)
	}
	if !h.Calm {
		run.faults, run.killAt = faults, killAt
	}
	return run
}

// calmRun is a run without faults.
func (h *history) calmRun(s *stack) *run {
	return &run{name: s.name, account: s.account, rand: rand.New(rand.NewPCG(h.Seed, 99))} //nolint:gosec // it has to be reproducible
}

// mustBeSettled checks that a plan after a successful apply is empty.
func (h *history) mustBeSettled(s *stack) {
	p, err := h.planRun(h.calmRun(s), s.config.clone(), s.state, planOptions{})
	h.judgePlan()
	switch {
	case err != nil:
		h.report.find("a plan after a successful apply fails", "%v", err)
	case len(p.effective()) > 0:
		h.report.find("a plan after a successful apply is not empty", "%s", p.explain())
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

// interleaved runs two stacks at once, switching between calls of their
// providers.
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
			p, err := h.planRun(planning, s.config.clone(), s.state, opts)
			if err != nil {
				h.report.logf("plan %s failed", s.name)
				return
			}
			h.report.logf("plan %s: %s", s.name, p.describe())
			after, err := h.applyRun(applying, p)
			h.report.logf("apply %s: %v; state: %v", s.name, err, h.describeState(after))
			s.backups, s.state = append(s.backups, s.state), after
			s.strayed = s.strayed || errors.Is(err, errKilled)
			h.misbehaved += planning.misbehaved + applying.misbehaved
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
		h.learnSecrets(s.state)
	}
	h.judge(outcomes...)
}
