package simulate

import (
	"context"
	"math/big"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// plugin observes the provider process of a walk, which it can kill.
type plugin struct {
	*report
	run  *run
	ctx  context.Context
	kill context.CancelFunc
}

var loadSchemas = sync.OnceValue(func() *core.Schemas {
	return core.LoadSchemas(provider.NewServer(provider.New("simulation")()))
})

// runPlan runs terraform plan. An error is not a finding by itself.
func runPlan(w *environment, r *run, config *core.Configuration, prior core.State, opts core.PlanOptions) (*core.Plan, error) {
	p, kill, err := w.start(r)
	defer kill()
	if err != nil {
		return nil, err
	}
	return core.RunPlan(p, r.rand, config, prior, opts)
}

// runApply runs terraform apply with a plan. It returns the stored state even with an error.
func runApply(w *environment, r *run, plan *core.Plan) (core.State, error) {
	p, kill, err := w.start(r)
	defer kill()
	if err != nil {
		return plan.Prior, err
	}
	return core.RunApply(p, r.rand, plan)
}

// start starts the provider process of a walk, and configures it for the run's account.
func (w *environment) start(run *run) (*core.Provider, context.CancelFunc, error) {
	ctx, kill := context.WithCancel(context.Background())
	replaced := provider.Replacements{Transport: &network{environment: w, run: run, kill: kill}, Hooks: w.hooks(run)}
	p := &core.Provider{
		Server: provider.NewServer(provider.NewReplaced("simulation", replaced)()), Schemas: loadSchemas(),
		Observer: &plugin{&w.report, run, ctx, kill}, Context: ctx,
	}
	a := w.accounts[run.account]
	config := core.NewValue(p.Schemas.Provider.ValueType(), map[string]any{"base_url": "http://api.example.com", "account_id": a.id, "token": a.token})
	diags := p.ValidateConfig(config)
	if !diags.Failed() {
		diags = p.Configure(config)
	}
	return p, kill, diags.Err()
}

// Call implements core.Observer. A panic of the provider is a finding.
func (p *plugin) Call(method string, call func()) bool {
	if p.ctx.Err() != nil {
		return false
	}
	p.run.slept = 0
	if p.run.yield != nil {
		p.run.yield()
	}
	defer func() {
		if cause := recover(); cause != nil {
			if f, ok := cause.(finding); ok {
				panic(f)
			}
			p.fail("panic", "%s: %v\n%s", method, cause, debug.Stack())
		}
	}()
	call()
	return p.ctx.Err() == nil
}

// Diagnostics implements core.Observer.
func (p *plugin) Diagnostics(addr string, diags core.Diagnostics) {
	for _, d := range diags {
		p.checkDiagnostic(addr, d)
		p.run.incomplete = p.run.incomplete || strings.HasSuffix(d.Summary, "were not created")
		p.run.appeared = p.run.appeared || strings.HasSuffix(d.Summary, "appeared after the plan")
	}
	if diags.Failed() {
		p.logf("%s: %v", addr, diags)
	}
}

// Fail implements core.Observer.
func (p *plugin) Fail(kind, text string) {
	if p.changedOutside && kind == "inconsistent final plan" {
		text += ", after an external change"
	}
	p.fail(kind, "%s", text)
}

// number returns an integer attribute, or 0 if it is null or unknown.
func number(v core.Value, name string) (n int) {
	if f := core.Known[*big.Float](core.Attributes(v)[name]); f != nil {
		i, _ := f.Int64()
		n = int(i)
	}
	return n
}

// textList returns a list of strings, without the unknown ones.
func textList(v core.Value, name string) (list []string) {
	for _, e := range core.Elements(core.Attributes(v)[name]) {
		if e.IsKnown() {
			list = append(list, core.Known[string](e))
		}
	}
	return list
}
