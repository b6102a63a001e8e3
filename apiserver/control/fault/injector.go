// Package fault injects faults into a service, for tests of its clients.
//
// A Rule selects requests and defines an action: an error, a delay, a dropped
// connection, a held request or a truncated response. An Injector has the rules.
// Its Middleware goes into apiserver.Options and applies to requests over the
// network and in process alike:
//
//	var faults fault.Injector
//	service, err := apiserver.New(apiserver.Options{Store: db, Middleware: faults.Middleware})
//	…
//	id, err := faults.Add(fault.Rule{Operation: "create-mailbox", Nth: 1, Hold: fault.Before})
//	…
//	_, err = faults.AwaitHeld(ctx, id, 1) // the request has arrived and is not executed yet
//	…
//	_, err = faults.Release(id)
//
// Rules are applied in the order in which they were added. The first one that
// fires is the only one for that request; later rules don't count it. Rules are in
// memory only.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package fault

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/internal/monitor"
)

// ErrNotFound is returned for the id of a rule that does not exist.
var ErrNotFound = errors.New("there is no such fault")

// Injector applies rules to requests. The zero value has no rules. It is safe for
// concurrent use and must not be copied.
type Injector struct {
	// Seed begins the random sequences of rules that have no seed of their own.
	Seed uint64

	monitor monitor.Monitor
	rules   []*activeRule
	added   int
}

// State is a rule with its counters.
type State struct {
	ID string `json:"id"`
	Rule
	// Matched counts the requests that the rule selected, Fired the requests that it
	// acted on, and Held the requests that it holds now.
	Matched int `json:"matched"`
	Fired   int `json:"fired"`
	Held    int `json:"held"`
}

type activeRule struct {
	State
	random  *rand.Rand
	removed bool
	// releases counts the calls of Release: a request is held until the next one.
	releases int
}

// Add appends a rule and returns its id. The error lists everything that is wrong with
// the rule.
func (i *Injector) Add(r Rule) (id string, err error) {
	data, err := json.Marshal(r)
	if err == nil {
		r, err = ParseRule(data) // the values of Body have the types of a request's
	}
	if err != nil {
		return "", err
	}
	i.monitor.Do(func() {
		i.added++
		random := rand.New(rand.NewPCG(cmp.Or(r.Seed, i.Seed+uint64(i.added)), 0)) //nolint:gosec // it has to be reproducible
		id = "f" + strconv.Itoa(i.added)
		i.rules = append(i.rules, &activeRule{State: State{ID: id, Rule: r}, random: random})
	})
	return id, nil
}

// Rules returns all rules in order.
func (i *Injector) Rules() []State {
	states := []State{}
	i.monitor.Do(func() {
		for _, a := range i.rules {
			states = append(states, a.State)
		}
	})
	return states
}

// Rule returns one rule, or ErrNotFound.
func (i *Injector) Rule(id string) (state State, err error) {
	err = i.with(id, func(a *activeRule) { state = a.State })
	return state, err
}

// with calls fn for a rule, or returns ErrNotFound.
func (i *Injector) with(id string, fn func(*activeRule)) (err error) {
	i.monitor.Do(func() {
		if a := i.find(id); a != nil {
			fn(a)
		} else {
			err = ErrNotFound
		}
	})
	return err
}

func (i *Injector) find(id string) *activeRule {
	for _, a := range i.rules {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// Remove removes a rule, and releases the requests that it holds or delays.
func (i *Injector) Remove(id string) error {
	return i.with(id, func(a *activeRule) {
		a.removed = true
		i.rules = slices.DeleteFunc(i.rules, func(other *activeRule) bool { return other == a })
	})
}

// Clear removes every rule.
func (i *Injector) Clear() {
	i.monitor.Do(func() {
		for _, a := range i.rules {
			a.removed = true
		}
		i.rules = nil
	})
}

// Release releases the requests that a rule holds now, and returns their number. The
// rule still holds later requests.
func (i *Injector) Release(id string) (released int, err error) {
	err = i.with(id, func(a *activeRule) {
		released, a.Held = a.Held, 0
		a.releases++
	})
	return released, err
}

// AwaitHeld waits until a rule holds at least n requests; see Await.
func (i *Injector) AwaitHeld(ctx context.Context, id string, n int) (State, error) {
	return i.Await(ctx, id, func(s State) bool { return s.Held >= n })
}

// Await waits until a rule meets a condition. It returns ErrNotFound if the rule
// does not exist or is removed, and the context's error with the rule's last state
// if ctx ends.
func (i *Injector) Await(ctx context.Context, id string, condition func(State) bool) (state State, err error) {
	found := true
	err = i.monitor.Wait(ctx, func() bool {
		a := i.find(id)
		if found = a != nil; !found {
			return true
		}
		state = a.State
		return condition(state)
	})
	if !found {
		return State{}, ErrNotFound
	}
	return state, err
}

// pick returns the rule that fires for a request, or nil, and how long it delays the request,
// whose body may have been read.
func (i *Injector) pick(r *http.Request) (picked *activeRule, delay time.Duration, read *http.Request) {
	operation := apiserver.RequestOf(r.Context()).Operation
	var body map[string]any
	if i.readsBody(operation) {
		var data []byte
		r, data = withBodyRead(r)
		_ = json.Unmarshal(data, &body) // another body has no members
	}
	i.monitor.Do(func() {
		for _, a := range i.rules {
			if a.selects(operation, r, body) && a.fires() {
				picked, delay = a, time.Duration(a.Delay)
				if a.Jitter {
					delay = time.Duration(a.random.Int64N(int64(delay)))
				}
				return
			}
		}
	})
	return picked, delay, r
}

// readsBody reports whether a rule depends on the bodies of an operation.
func (i *Injector) readsBody(operation api.Spec) (reads bool) {
	i.monitor.Do(func() {
		reads = slices.ContainsFunc(i.rules, func(a *activeRule) bool { return a.Body != nil && a.names(operation) })
	})
	return reads
}

// fires counts a selected request and reports whether the rule acts on it.
func (a *activeRule) fires() bool {
	a.Matched++
	switch {
	case a.Nth > 0 && a.Matched != a.Nth,
		a.Every > 0 && a.Matched%a.Every != 0,
		a.Percent > 0 && a.random.Float64()*100 >= a.Percent,
		a.Times > 0 && a.Fired >= a.Times:
		return false
	}
	a.Fired++
	return true
}

// hold waits until the request is released, the rule is removed or ctx ends.
func (i *Injector) hold(ctx context.Context, a *activeRule) {
	var held int
	i.monitor.Do(func() {
		a.Held++
		held = a.releases
	})
	_ = i.monitor.Wait(ctx, func() bool { return a.removed || a.releases != held })
	i.monitor.Do(func() {
		if a.releases == held {
			a.Held--
		}
	})
}
