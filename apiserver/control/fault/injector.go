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

// ErrNotFound is returned for the id of a rule that is not there, or not any
// more.
var ErrNotFound = errors.New("there is no such fault")

// Injector makes the requests that its rules select misbehave. The zero value
// has no rules and is ready for use. It is safe for concurrent use, and must not
// be copied.
type Injector struct {
	mu    sync.Mutex
	rules []*active
	added int
	// changed is closed at the next change, where somebody waits for one.
	changed chan struct{}
}

// State is a rule with what it has done.
type State struct {
	ID string `json:"id"`
	Rule
	// Matched is how many requests the rule selected, Fired on how many of them
	// it acted, and Held how many it holds right now.
	Matched int `json:"matched"`
	Fired   int `json:"fired"`
	Held    int `json:"held"`
}

// active is a rule that was added.
type active struct {
	State
	random  *rand.Rand
	removed chan struct{}
	// holding has a channel for each request that is held; closing it lets the
	// request go on.
	holding map[chan struct{}]bool
}

// Add adds a rule after all others and returns its id. The error is an
// *InvalidError. Rules are asked in the order in which they were added, and the
// first that acts on a request is the only one: the later ones do not see it.
func (i *Injector) Add(r Rule) (id string, err error) {
	if err := r.Validate(); err != nil {
		return "", err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.added++
	r.Path = maps.Clone(r.Path)
	a := &active{
		State:   State{ID: "f" + strconv.Itoa(i.added), Rule: r},
		random:  rand.New(rand.NewPCG(r.Seed, 0)), //nolint:gosec // it has to be reproducible
		removed: make(chan struct{}), holding: map[chan struct{}]bool{},
	}
	i.rules = append(i.rules, a)
	return a.ID, nil
}

// Rules returns all rules, in order.
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

func (i *Injector) find(id string) (*active, error) {
	for _, a := range i.rules {
		if a.ID == id {
			return a, nil
		}
	}
	return nil, ErrNotFound
}

// Remove takes a rule away. What it holds or delays goes on.
func (i *Injector) Remove(id string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	a, err := i.find(id)
	if err != nil {
		return err
	}
	i.rules = slices.DeleteFunc(i.rules, func(other *active) bool { return other == a })
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

func (i *Injector) end(a *active) {
	close(a.removed)
	i.release(a)
}

// Release lets the requests go on that a rule holds right now, and returns how
// many these were. The rule holds later ones.
func (i *Injector) Release(id string) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a, err := i.find(id)
	if err != nil {
		return 0, err
	}
	return i.release(a), nil
}

func (i *Injector) release(a *active) (released int) {
	released = a.Held
	for request := range a.holding {
		close(request)
	}
	clear(a.holding)
	a.Held = 0
	i.tell()
	return released
}

// tell wakes who waits for a change.
func (i *Injector) tell() {
	if i.changed != nil {
		close(i.changed)
		i.changed = nil
	}
}

// AwaitHeld waits until a rule holds at least n requests; see Await.
func (i *Injector) AwaitHeld(ctx context.Context, id string, n int) (State, error) {
	return i.Await(ctx, id, func(s State) bool { return s.Held >= n })
}

// Await waits until a rule is as a condition wants it. It returns ErrNotFound
// once there is no such rule, and the context's error with the rule as it is
// when ctx is done.
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

// watch returns a rule, and what is closed at the next change of any.
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

// pick returns the rule that acts on a request, or nil.
func (i *Injector) pick(r *http.Request) *active {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.rules) == 0 {
		return nil
	}
	defer i.tell()
	spec := apiserver.RequestOf(r.Context()).Operation
	for _, a := range i.rules {
		if a.selects(spec, r) && a.fires() {
			return a
		}
	}
	return nil
}

// fires counts a request, and reports whether it is one to act on.
func (a *active) fires() bool {
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

// hold begins to hold a request: it may go on when the channel is closed. It is
// nil where the rule is gone.
func (i *Injector) hold(a *active) chan struct{} {
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
	i.tell()
	return released
}

// giveUp ends the holding of a request that nobody has released.
func (i *Injector) giveUp(a *active, released chan struct{}) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if a.holding[released] {
		delete(a.holding, released)
		a.Held--
		i.tell()
	}
}
