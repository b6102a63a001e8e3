package control

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

// gate lets requests in, except while it is shut.
type gate struct {
	mu sync.Mutex
	// inside are the requests under way.
	inside map[*apiserver.Request]bool
	// opened is closed when the gate opens; nil while it is open.
	opened chan struct{}
	// empty is closed when the last request has left a shut gate.
	empty chan struct{}
}

// BusyError says that requests were under way that did not end.
type BusyError struct {
	Requests []apiserver.Request
}

func (e *BusyError) Error() string {
	names := make([]string, len(e.Requests))
	for i, r := range e.Requests {
		names[i] = r.Name() + " (" + r.ID + ")"
	}
	slices.Sort(names)
	return fmt.Sprintf("only the faults are removed, since requests are still under way; does their client read the answers? %s", strings.Join(names, ", "))
}

func (g *gate) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := apiserver.RequestOf(r.Context())
		if request.Name() == "health" { // it touches nothing
			next.ServeHTTP(w, r)
			return
		}
		if !g.enter(r.Context(), &request) {
			panic(http.ErrAbortHandler) // the client has gone
		}
		defer g.leave(&request)
		next.ServeHTTP(w, r)
	})
}

// enter waits until the gate is open, and reports false where ctx is done before.
func (g *gate) enter(ctx context.Context, r *apiserver.Request) bool {
	for {
		g.mu.Lock()
		if g.opened == nil {
			if g.inside == nil {
				g.inside = map[*apiserver.Request]bool{}
			}
			g.inside[r] = true
			g.mu.Unlock()
			return true
		}
		opened := g.opened
		g.mu.Unlock()
		select {
		case <-opened:
		case <-ctx.Done():
			return false
		}
	}
}

func (g *gate) leave(r *apiserver.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.inside, r)
	if len(g.inside) == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// shut lets nobody in any more, calls hurry, and waits until all have left. The
// caller opens the gate again, unless there is an error.
func (g *gate) shut(ctx context.Context, hurry func()) (open func(), err error) {
	empty, err := g.close(ctx)
	if err != nil {
		return nil, err
	}
	hurry()
	select {
	case <-empty:
		return g.open, nil
	case <-ctx.Done():
	}
	defer g.open()
	g.mu.Lock()
	defer g.mu.Unlock()
	busy := &BusyError{}
	for r := range g.inside {
		busy.Requests = append(busy.Requests, *r)
	}
	return nil, busy
}

// close waits until nobody else has shut the gate, and shuts it. The channel is
// closed when all have left.
func (g *gate) close(ctx context.Context) (empty <-chan struct{}, err error) {
	for {
		g.mu.Lock()
		if g.opened == nil {
			break
		}
		opened := g.opened
		g.mu.Unlock()
		select {
		case <-opened:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	defer g.mu.Unlock()
	left := make(chan struct{})
	g.opened, g.empty = make(chan struct{}), left
	if len(g.inside) == 0 {
		close(left)
		g.empty = nil
	}
	return left, nil
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.opened)
	g.opened, g.empty = nil, nil
}
