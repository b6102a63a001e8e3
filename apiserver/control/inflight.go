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

// BusyError reports requests that were still in flight when Reset gave up.
type BusyError struct {
	Requests []apiserver.Request
}

func (e *BusyError) Error() string {
	names := make([]string, len(e.Requests))
	for i, r := range e.Requests {
		names[i] = r.Name() + " (" + r.ID + ")"
	}
	slices.Sort(names)
	return fmt.Sprintf("only the faults are removed, because requests are still in flight; check that their client reads the responses: %s", strings.Join(names, ", "))
}

// inFlight tracks the requests in flight, and can pause new ones.
type inFlight struct {
	mu       sync.Mutex
	requests map[*apiserver.Request]bool
	// resumed is closed at the end of a pause; nil if there is none.
	resumed chan struct{}
	// idle is closed when the last request ends during a pause.
	idle chan struct{}
}

func (f *inFlight) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := apiserver.RequestOf(r.Context())
		if request.Name() == "health" { // it reads and changes nothing
			next.ServeHTTP(w, r)
			return
		}
		err := f.whenNotPaused(r.Context(), func() {
			if f.requests == nil {
				f.requests = map[*apiserver.Request]bool{}
			}
			f.requests[&request] = true
		})
		if err != nil {
			panic(http.ErrAbortHandler) // the client has disconnected
		}
		defer f.remove(&request)
		next.ServeHTTP(w, r)
	})
}

// whenNotPaused waits until there is no pause, and calls fn with f locked. The error
// is the context's.
func (f *inFlight) whenNotPaused(ctx context.Context, fn func()) error {
	for {
		f.mu.Lock()
		resumed := f.resumed
		if resumed == nil {
			defer f.mu.Unlock()
			fn()
			return nil
		}
		f.mu.Unlock()
		select {
		case <-resumed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (f *inFlight) remove(r *apiserver.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.requests, r)
	f.checkIdle()
}

func (f *inFlight) checkIdle() {
	if len(f.requests) == 0 && f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
}

// pause lets new requests wait, calls release so that held requests end, and waits
// until none is in flight. Call resume unless there is an error, which is a
// *BusyError or the context's.
func (f *inFlight) pause(ctx context.Context, release func()) (resume func(), err error) {
	idle := make(chan struct{})
	err = f.whenNotPaused(ctx, func() {
		f.resumed, f.idle = make(chan struct{}), idle
		f.checkIdle()
	})
	if err != nil {
		return nil, err
	}
	release()
	select {
	case <-idle:
		return f.resume, nil
	case <-ctx.Done():
	}
	defer f.resume()
	f.mu.Lock()
	defer f.mu.Unlock()
	busy := &BusyError{}
	for r := range f.requests {
		busy.Requests = append(busy.Requests, *r)
	}
	return nil, busy
}

func (f *inFlight) resume() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.resumed)
	f.resumed, f.idle = nil, nil
}
