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
// All rules with nothing but Delay or PageSize act on a request: delays add up, and the smallest page
// counts. At most one of the other rules fires. Those that name an operation are tried before those
// for Any, and otherwise in the order in which they were added; the rules after the one that fires
// don't count the request. Rules are in memory only.
//
// A seed is a run: the choices of Percent and Jitter follow from the rule, its seed, the operation,
// the object's natural key and the number of the attempt (chance.go), so that clients with concurrent
// requests meet the same faults in each run. Nth, Every and Times count requests as they arrive.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package fault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// ErrNotFound is returned for the id of a rule that does not exist.
var ErrNotFound = errors.New("there is no such fault")

// pollInterval is how often Await reads a rule.
const pollInterval = 10 * time.Millisecond

// Injector applies rules to requests. The zero value contains no rules. It is safe for concurrent
// use and must not be copied.
type Injector struct {
	// Seed is the seed of rules without a Seed.
	Seed uint64

	mu       sync.Mutex
	rules    []*activeRule
	added    int
	attempts map[string]int // by account, operation and natural key
	// interrupted is closed by Interrupt, which replaces it.
	interrupted chan struct{}

	names sync.Map // by id: the names of objects, also after their deletion
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
	salt string // the rule with its seed
	// removed is closed when the rule is removed, released by the next Release, which replaces it.
	removed, released chan struct{}
}

// Add appends a rule and returns its id. The error lists all problems of the rule.
func (i *Injector) Add(r Rule) (id string, err error) {
	data, err := api.EncodeJSON(r)
	data = bytes.TrimSpace(data)
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
	// Equal rules draw different numbers.
	salt := fmt.Sprintf("%d %s", i.Seed, data)
	for slices.ContainsFunc(i.rules, func(a *activeRule) bool { return a.salt == salt }) {
		salt += "+"
	}
	i.rules = append(i.rules, &activeRule{
		State: State{ID: id, Rule: r}, salt: salt, removed: make(chan struct{}), released: make(chan struct{}),
	})
	return id, nil
}

// Added reports whether id is of a rule that was added, also if it was removed.
func (i *Injector) Added(id string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	n, err := strconv.Atoi(strings.TrimPrefix(id, "f"))
	return err == nil && 1 <= n && n <= i.added && id == "f"+strconv.Itoa(n)
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

// Clear removes every rule, and begins to count attempts anew.
func (i *Injector) Clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, a := range i.rules {
		close(a.removed)
	}
	i.rules, i.attempts = nil, nil
	i.names.Clear()
}

// Interrupt ends all delays and releases all held requests, and keeps the rules.
func (i *Injector) Interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.interrupted != nil {
		close(i.interrupted)
		i.interrupted = nil
	}
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

// AwaitHeld waits until a rule holds at least n requests; see Await. A rule without a Hold is an
// error.
func (i *Injector) AwaitHeld(ctx context.Context, id string, n int) (State, error) {
	if state, err := i.Rule(id); err == nil && state.Hold == "" {
		return state, fmt.Errorf("the fault %s holds no requests, because it lacks a hold", id)
	}
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

// firing contains the rules that act on a request.
type firing struct {
	acting []delayedRule // in order; only the last may decide
	// attempt is zero if no rule for the operation leaves anything to chance.
	attempt
	interrupted <-chan struct{}
}

type delayedRule struct {
	*activeRule
	delay time.Duration
}

// decides reports whether the rule does more than delay a request or shorten its page.
func (r Rule) decides() bool {
	return r.Status != 0 || r.Response != nil || r.Drop != "" || r.Hold != "" || r.Truncate != nil
}

// pick returns the rules that act on a request, or nil, and the request, with a buffered body if
// pick read it.
func (i *Injector) pick(r *http.Request) (*firing, *http.Request) {
	operation := apiserver.RequestOf(r.Context()).Operation
	named, chance := false, false
	for _, s := range i.Rules() {
		if s.names(operation) {
			named, chance = true, chance || s.Percent > 0 || s.Jitter
		}
	}
	if !named {
		return nil, r
	}
	r, body := withBodyRead(r)
	v := i.valuesOf(r, body)
	f := new(firing)
	if chance {
		f.attempt = i.attemptOf(v)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.interrupted == nil {
		i.interrupted = make(chan struct{})
	}
	f.interrupted = i.interrupted
	for _, a := range i.inOrder() {
		if !a.selects(v, r.Header) || !a.fires(f.attempt) {
			continue
		}
		if a.Truncate == nil { // otherwise the response decides
			a.Fired++
		}
		delay := time.Duration(a.Delay)
		if a.Jitter {
			delay = time.Duration(float64(delay) * a.draw("delay", f.attempt))
		}
		f.acting = append(f.acting, delayedRule{a, delay})
		if a.decides() {
			break
		}
	}
	if f.acting == nil {
		return nil, r
	}
	return f, r
}

// inOrder returns the rules in the order in which they are tried.
func (i *Injector) inOrder() []*activeRule {
	rank := func(a *activeRule) int {
		switch {
		case !a.decides():
			return 0
		case a.Operation != Any:
			return 1
		}
		return 2
	}
	return slices.SortedStableFunc(slices.Values(i.rules), func(a, b *activeRule) int { return rank(a) - rank(b) })
}

// fires counts a selected request and reports whether the rule acts on it.
func (a *activeRule) fires(at attempt) bool {
	a.Matched++
	switch {
	case a.Nth > 0 && a.Matched != a.Nth,
		a.Every > 0 && a.Matched%a.Every != 0,
		a.Percent > 0 && a.draw("percent", at)*100 >= a.Percent,
		a.Times > 0 && a.Fired >= a.Times:
		return false
	}
	return true
}

// truncates counts a response that a rule truncates, and reports whether it does: the response must
// be longer.
func (i *Injector) truncates(a *activeRule, length int) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if length <= *a.Truncate || a.Times > 0 && a.Fired >= a.Times {
		return false
	}
	a.Fired++
	return true
}

// hold waits until the request is released.
func (i *Injector) hold(r *http.Request, a *activeRule, interrupted <-chan struct{}) {
	i.mu.Lock()
	a.Held++
	released := a.released
	i.mu.Unlock()
	wait(r, a, interrupted, released)
	i.mu.Lock()
	defer i.mu.Unlock()
	if a.released == released { // otherwise Release has reset Held
		a.Held--
	}
}

// wait waits for a channel, but not longer than until the rule is removed, Interrupt is called, the
// client disconnects or the service drains.
func wait[T any](r *http.Request, a *activeRule, interrupted <-chan struct{}, until <-chan T) {
	select {
	case <-until:
	case <-a.removed:
	case <-interrupted:
	case <-r.Context().Done():
	case <-apiserver.RequestOf(r.Context()).Draining:
	}
}
