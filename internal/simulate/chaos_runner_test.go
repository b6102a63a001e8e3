package simulate

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// inProcess plans and applies a configuration in this process, with several calls at a time.
type inProcess struct {
	connection *connection
	token      string
	seed       uint64
	report     report
	state      state
	planned    *plan
}

// parallelism is how many calls a walk makes at a time, as Terraform's by default.
const parallelism = 10

// walk calls fn with a new run. A finding of the engine is returned as an error.
func (p *inProcess) walk(ctx context.Context, fn func(starter, *run) error) (r *run, err error) {
	r = &run{rand: rand.New(rand.NewPCG(p.seed, 1)), parallelism: parallelism} //nolint:gosec // must be reproducible
	defer func() {
		if cause := recover(); cause != nil {
			f, ok := cause.(finding)
			if !ok {
				panic(cause)
			}
			err = f
		}
	}()
	return r, fn(func(r *run) (*plugin, error) {
		ctx, cancel := context.WithCancel(ctx)
		started := &plugin{report: &p.report, run: r, ctx: ctx, kill: cancel}
		return started, started.configure(provider.Replacements{Transport: p.connection}, apitest.AccountID, p.token)
	}, r)
}

// isFinding reports whether an error is a finding of the engine.
func isFinding(err error) bool {
	_, ok := errors.AsType[finding](err)
	return ok
}

// plan plans a configuration and returns a description of each change.
func (p *inProcess) plan(ctx context.Context, c *configuration) (changes []string, err error) {
	p.planned = nil
	_, err = p.walk(ctx, func(start starter, r *run) error {
		planned, err := runPlan(start, r, c.clone(), p.state, planOptions{})
		p.planned = planned
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range p.planned.effective() {
		changes = append(changes, c.String())
	}
	return changes, nil
}

// apply applies the latest plan. warned reports that there was a warning.
func (p *inProcess) apply(ctx context.Context) (warned bool, err error) {
	r, err := p.walk(ctx, func(start starter, r *run) error {
		after, err := runApply(start, r, p.planned)
		p.state = after
		return err
	})
	return r.warned, err
}
