// Package fault injects faults into a service, for tests of its clients.
//
// A Rule selects requests and defines an action: an error, a delay, a dropped connection, a held
// request or a truncated response. An Injector applies rules: its Middleware, in apiserver.Options,
// receives requests over the network and in process.
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
// Rules are tried in the order in which they were added. At most one rule fires for a request; the
// rules after it don't count the request. Rules are in memory only.
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
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

// ErrNotFound is returned for the id of a rule that does not exist.
var ErrNotFound = errors.New("there is no such fault")

// pollInterval is how often Await reads a rule.
const pollInterval = 10 * time.Millisecond

// Injector applies rules to requests. The zero value contains no rules. It is safe for concurrent
// use and must not be copied.
type Injector struct {
	// Seed begins the random sequences of rules without a Seed.
	Seed uint64

	mu    sync.Mutex
	rules []*activeRule
	added int
}

// State is a rule with its counters.
type State struct {
	ID string `json:"id"`
	Rule
	// Matched counts the requests that the rule selected, Fired the requests that it acted on, and
	// Held the requests that it is holding.
	Matched int `json:"matched"`
	Fired   int `json:"fired"`
	Held    int `json:"held"`
}

type activeRule struct {
	State
	random *rand.Rand
	// removed is closed when the rule is removed, released by the next Release, which replaces it.
	removed, released chan struct{}
}

// Add appends a rule and returns its id. The error lists all problems of the rule.
func (i *Injector) Add(r Rule) (id string, err error) {
	data, err := json.Marshal(r)
	if err == nil {
		r, err = ParseRule(data) // decodes the values of Body to the same types as a request's
	}
	if err != nil {
		return "", err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.added++
	id = "f" + strconv.Itoa(i.added)
	i.rules = append(i.rules, &activeRule{
		State:   State{ID: id, Rule: r},
		random:  rand.New(rand.NewPCG(cmp.Or(r.Seed, i.Seed+uint64(i.added)), 0)), //nolint:gosec // must be reproducible
		removed: make(chan struct{}), released: make(chan struct{}),
	})
	return id, nil
}

// Rules returns all rules in order.
func (i *Injector) Rules() []State {
	i.mu.Lock()
	defer i.mu.Unlock()
	states := []State{}
	for _, a := range i.rules {
		states = append(states, a.State)
	}
	return states
}

// Rule returns one rule, or ErrNotFound.
func (i *Injector) Rule(id string) (state State, err error) {
	err = i.with(id, func(a *activeRule) { state = a.State })
	return state, err
}

// with calls fn for a rule, or returns ErrNotFound.
func (i *Injector) with(id string, fn func(*activeRule)) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, a := range i.rules {
		if a.ID == id {
			fn(a)
			return nil
		}
	}
	return ErrNotFound
}

// Remove removes a rule, and releases its held and delayed requests.
func (i *Injector) Remove(id string) error {
	return i.with(id, func(a *activeRule) {
		close(a.removed)
		i.rules = slices.DeleteFunc(i.rules, func(other *activeRule) bool { return other == a })
	})
}

// Clear removes every rule.
func (i *Injector) Clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, a := range i.rules {
		close(a.removed)
	}
	i.rules = nil
}

// Release releases the requests that a rule is holding, and returns their number. The rule holds
// later requests again.
func (i *Injector) Release(id string) (released int, err error) {
	err = i.with(id, func(a *activeRule) {
		released, a.Held = a.Held, 0
		close(a.released)
		a.released = make(chan struct{})
	})
	return released, err
}

// AwaitHeld waits until a rule holds at least n requests; see Await.
func (i *Injector) AwaitHeld(ctx context.Context, id string, n int) (State, error) {
	return i.Await(ctx, id, func(s State) bool { return s.Held >= n })
}

// Await waits until a rule meets a condition. It returns ErrNotFound if the rule does not exist or
// is removed, and the context's error with the rule's last state if ctx ends.
func (i *Injector) Await(ctx context.Context, id string, condition func(State) bool) (State, error) {
	for {
		state, err := i.Rule(id)
		if err != nil || condition(state) {
			return state, err
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return state, context.Cause(ctx)
		}
	}
}

// pick returns the rule that fires for a request, or nil, its delay, and the request, with a
// buffered body if pick read it.
func (i *Injector) pick(r *http.Request) (picked *activeRule, delay time.Duration, read *http.Request) {
	operation := apiserver.RequestOf(r.Context()).Operation
	if !slices.ContainsFunc(i.Rules(), func(s State) bool { return s.names(operation) }) {
		return nil, 0, r
	}
	r, body := withBodyRead(r)
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, a := range i.rules {
		if a.selects(operation, r, body) && a.fires() {
			delay = time.Duration(a.Delay)
			if a.Jitter {
				delay = time.Duration(a.random.Int64N(int64(delay)))
			}
			return a, delay, r
		}
	}
	return nil, 0, r
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

// hold waits until the request is released.
func (i *Injector) hold(r *http.Request, a *activeRule) {
	i.mu.Lock()
	a.Held++
	released := a.released
	i.mu.Unlock()
	wait(r, a, released)
	i.mu.Lock()
	defer i.mu.Unlock()
	if a.released == released { // otherwise Release has reset Held
		a.Held--
	}
}

// wait waits for a channel, but not longer than until the rule is removed, the client disconnects
// or the service drains.
func wait[T any](r *http.Request, a *activeRule, until <-chan T) {
	select {
	case <-until:
	case <-a.removed:
	case <-r.Context().Done():
	case <-apiserver.RequestOf(r.Context()).Draining:
	}
}
