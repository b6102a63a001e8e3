package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// batcher joins calls of several callers into one request. A batch is open until ready
// returns. A caller that gives up leaves its batch; once that is sent, the caller still
// waits for its outcome, and the request ends early only if all its callers have given up.
type batcher[In, Out any] struct {
	max   int // items in a batch
	hooks transport.Hooks
	// ready waits until a batch is to be sent. The permit, if any, is that of the request.
	ready func(context.Context, *batch[In, Out]) (*transport.Permit, error)
	// send sends a batch of several items, and returns an outcome for each.
	send func(ctx context.Context, items []In) []Out

	mu   sync.Mutex
	open map[string]*batch[In, Out]
}

// batch is one request. The batcher's mu guards its fields until it is closed.
type batch[In, Out any] struct {
	key      string
	callers  []*batchCaller[In, Out]
	joined   time.Time // when the latest caller joined
	wakeAt   int       // callers at which wake is called
	wake     func()
	isClosed bool
	gone     int // callers that gave up after it was closed
	cancel   context.CancelFunc

	done   chan struct{}
	permit *transport.Permit // for the only caller, which sends its request itself
}

type batchCaller[In, Out any] struct {
	item    In
	outcome Out
	isAlone bool
}

// errNoOutcome says that the request of a batch did not end within the time that a caller
// that has given up still waits.
var errNoOutcome = errors.New("the outcome of a request that was sent is not known yet")

// join adds an item to the open batch of a key, and returns its outcome. If it is the only
// one, the caller has to send it by itself, with the permit. The error is ctx's if the item
// was not sent, or errNoOutcome.
func (b *batcher[In, Out]) join(ctx context.Context, key string, item In) (outcome Out, isAlone bool, permit *transport.Permit, err error) {
	caller := &batchCaller[In, Out]{item: item}
	g := b.enter(ctx, key, caller)
	select {
	case <-g.done:
	case <-ctx.Done():
		if b.leave(g, caller) {
			return outcome, false, nil, ctx.Err()
		}
		// The request may look up its outcome for lookupGrace after its last caller gave up.
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*lookupGrace)
		defer cancel()
		select {
		case <-g.done:
		case <-grace.Done():
			return outcome, false, nil, errNoOutcome
		}
	}
	if caller.isAlone && ctx.Err() != nil {
		release(g.permit)
		return outcome, false, nil, ctx.Err()
	}
	return caller.outcome, caller.isAlone, g.permit, nil
}

// enter adds a caller to the open batch of a key, or to a new one.
func (b *batcher[In, Out]) enter(ctx context.Context, key string, caller *batchCaller[In, Out]) *batch[In, Out] {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.open[key]
	if g == nil || len(g.callers) >= b.max {
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		g = &batch[In, Out]{key: key, done: make(chan struct{}), cancel: cancel, wake: func() {}}
		if b.open == nil {
			b.open = map[string]*batch[In, Out]{}
		}
		b.open[key] = g
		go b.run(ctx, g)
	}
	g.callers = append(g.callers, caller)
	g.joined = b.hooks.Now()
	if len(g.callers) >= g.wakeAt {
		g.wake()
	}
	return g
}

// leave reports whether a caller that gives up has left its batch before it was closed.
func (b *batcher[In, Out]) leave(g *batch[In, Out], caller *batchCaller[In, Out]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g.isClosed {
		if g.gone++; g.gone == len(g.callers) {
			g.cancel()
		}
		return false
	}
	g.callers = slices.DeleteFunc(g.callers, func(other *batchCaller[In, Out]) bool { return other == caller })
	if len(g.callers) == 0 {
		g.cancel()
		b.close(g)
	}
	return true
}

// close ends the joining of a batch; b.mu must be held.
func (b *batcher[In, Out]) close(g *batch[In, Out]) {
	g.isClosed = true
	if b.open[g.key] == g {
		delete(b.open, g.key)
	}
}

func (b *batcher[In, Out]) run(ctx context.Context, g *batch[In, Out]) {
	defer g.cancel()
	defer close(g.done)
	permit, err := b.ready(ctx, g)
	b.mu.Lock()
	b.close(g)
	callers := g.callers
	b.mu.Unlock()
	switch {
	case err != nil || len(callers) == 0: // everybody has left
		release(permit)
	case len(callers) == 1:
		callers[0].isAlone, g.permit = true, permit
	default:
		defer release(permit)
		if permit != nil {
			ctx = transport.WithPermit(ctx, permit)
		}
		items := make([]In, len(callers))
		for i, caller := range callers {
			items[i] = caller.item
		}
		for i, outcome := range b.send(ctx, items) {
			callers[i].outcome = outcome
		}
	}
}

// gather waits until a batch has some number of callers or, if that takes longer, until
// nobody has joined for a quiet time. It never waits for longer than limit.
func (b *batcher[In, Out]) gather(ctx context.Context, g *batch[In, Out], callers int, quiet, limit time.Duration) {
	end := b.hooks.Now().Add(limit)
	for {
		woken, wake := context.WithCancel(ctx)
		b.mu.Lock()
		now := b.hooks.Now()
		wait := min(g.joined.Add(quiet).Sub(now), end.Sub(now))
		if len(g.callers) >= callers {
			wait = 0
		}
		g.wakeAt, g.wake = callers, wake
		b.mu.Unlock()
		if wait > 0 && ctx.Err() == nil {
			_ = b.hooks.Sleep(woken, wait)
		}
		wake()
		if wait <= 0 || ctx.Err() != nil {
			return
		}
	}
}

// isFirst reports whether no open batch of the key has an item that matches.
func (b *batcher[In, Out]) isFirst(key string, matches func(In) bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.open[key]
	return g == nil || !slices.ContainsFunc(g.callers, func(c *batchCaller[In, Out]) bool { return matches(c.item) })
}

func release(p *transport.Permit) {
	if p != nil {
		p.Release()
	}
}
