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
// The package imports apiserver, the contract (api) and strictjson.
package fault

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

// ErrNotFound is returned for the id of a rule that does not exist.
var ErrNotFound = errors.New("there is no such fault")

// Injector applies rules to requests. The zero value has no rules. It is safe for
// concurrent use and must not be copied.
type Injector struct {
	mu    sync.Mutex
	rules []*activeRule
	added int
	// changed is closed at the next change of any rule; nil if nobody waits for one.
	changed chan struct{}
}

// State is a rule with its counters.
type State struct {
	ID string `json:"id"`
	Rule
	// Matched counts the requests that the rule selected, Fired those that it
	// acted on, and Held those that it holds now.
	Matched int `json:"matched"`
	Fired   int `json:"fired"`
	Held    int `json:"held"`
}

type activeRule struct {
	State
	random  *rand.Rand
	removed chan struct{}
	// holding has a channel for each held request; closing it releases the request.
	holding map[chan struct{}]bool
}

// Add appends a rule and returns its id. The error is an *InvalidError.
func (i *Injector) Add(r Rule) (id string, err error) {
	if err := r.Validate(); err != nil {
		return "", err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.added++
	r.Path = maps.Clone(r.Path)
	a := &activeRule{
		State:   State{ID: "f" + strconv.Itoa(i.added), Rule: r},
		random:  rand.New(rand.NewPCG(r.Seed, 0)), //nolint:gosec // it has to be reproducible
		removed: make(chan struct{}), holding: map[chan struct{}]bool{},
	}
	i.rules = append(i.rules, a)
	return a.ID, nil
}

// Rules returns all rules in order.
func (i *Injector) Rules() []State {
	i.mu.Lock()
	defer i.mu.Unlock()
	states := make([]State, len(i.rules))
	for n, a := range i.rules {
		states[n] = a.State
	}
	return states
}

// Rule returns one rule, or ErrNotFound.
func (i *Injector) Rule(id string) (State, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a, err := i.find(id)
	if err != nil {
		return State{}, err
	}
	return a.State, nil
}

func (i *Injector) find(id string) (*activeRule, error) {
	for _, a := range i.rules {
		if a.ID == id {
			return a, nil
		}
	}
	return nil, ErrNotFound
}

// Remove removes a rule, and releases the requests that it holds or delays.
func (i *Injector) Remove(id string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	a, err := i.find(id)
	if err != nil {
		return err
	}
	i.rules = slices.DeleteFunc(i.rules, func(other *activeRule) bool { return other == a })
	i.end(a)
	return nil
}

// Clear removes every rule.
func (i *Injector) Clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, a := range i.rules {
		i.end(a)
	}
	i.rules = nil
}

func (i *Injector) end(a *activeRule) {
	close(a.removed)
	i.release(a)
}

// Release releases the requests that a rule holds now, and returns their number. The
// rule still holds later requests.
func (i *Injector) Release(id string) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a, err := i.find(id)
	if err != nil {
		return 0, err
	}
	return i.release(a), nil
}

func (i *Injector) release(a *activeRule) (released int) {
	released = a.Held
	for request := range a.holding {
		close(request)
	}
	clear(a.holding)
	a.Held = 0
	i.notify()
	return released
}

// notify wakes the callers of Await.
func (i *Injector) notify() {
	if i.changed != nil {
		close(i.changed)
		i.changed = nil
	}
}

// AwaitHeld waits until a rule holds at least n requests; see Await.
func (i *Injector) AwaitHeld(ctx context.Context, id string, n int) (State, error) {
	return i.Await(ctx, id, func(s State) bool { return s.Held >= n })
}

// Await waits until a rule meets a condition. It returns ErrNotFound if the rule
// does not exist or is removed, and the context's error with the rule's last state
// if ctx ends.
func (i *Injector) Await(ctx context.Context, id string, condition func(State) bool) (State, error) {
	for {
		state, changed, err := i.watch(id)
		if err != nil || condition(state) {
			return state, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return state, context.Cause(ctx)
		}
	}
}

// watch returns a rule and a channel that is closed at the next change of any rule.
func (i *Injector) watch(id string) (State, <-chan struct{}, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a, err := i.find(id)
	if err != nil {
		return State{}, nil, err
	}
	if i.changed == nil {
		i.changed = make(chan struct{})
	}
	return a.State, i.changed, nil
}

// pick returns the rule that fires for a request, or nil.
func (i *Injector) pick(r *http.Request) *activeRule {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.rules) == 0 {
		return nil
	}
	defer i.notify()
	operation := apiserver.RequestOf(r.Context()).Operation
	for _, a := range i.rules {
		if a.selects(operation, r) && a.fires() {
			return a
		}
	}
	return nil
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

// beginHold returns a channel that is closed when the request is released, or nil
// if the rule was removed.
func (i *Injector) beginHold(a *activeRule) chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	select {
	case <-a.removed:
		return nil
	default:
	}
	released := make(chan struct{})
	a.holding[released] = true
	a.Held++
	i.notify()
	return released
}

// endHold stops counting a request that ended without a release.
func (i *Injector) endHold(a *activeRule, released chan struct{}) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if a.holding[released] {
		delete(a.holding, released)
		a.Held--
		i.notify()
	}
}
