package control

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/internal/monitor"
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
	return fmt.Sprintf("only the faults are removed, because requests are still in flight; check that their clients end them: %s", strings.Join(names, ", "))
}

// pauseTimeout limits how long a reset waits for the requests in flight.
const pauseTimeout = 10 * time.Second

// inFlight tracks the requests in flight, and can pause new ones.
type inFlight struct {
	monitor  monitor.Monitor
	requests []*apiserver.Request
	paused   bool
}

func (f *inFlight) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := apiserver.RequestOf(r.Context())
		if request.Name() == "health" { // it reads and changes nothing
			next.ServeHTTP(w, r)
			return
		}
		if f.whenNotPaused(r.Context(), func() { f.requests = append(f.requests, &request) }) != nil {
			panic(http.ErrAbortHandler) // the client has disconnected
		}
		defer f.monitor.Do(func() {
			f.requests = slices.DeleteFunc(f.requests, func(other *apiserver.Request) bool { return other == &request })
		})
		next.ServeHTTP(w, r)
	})
}

// whenNotPaused waits until there is no pause, and calls fn with the lock. The error is
// the context's.
func (f *inFlight) whenNotPaused(ctx context.Context, fn func()) error {
	return f.monitor.Wait(ctx, func() bool {
		if !f.paused {
			fn()
			return true
		}
		return false
	})
}

// pause lets new requests wait, calls release so that held requests end, and waits
// until none is in flight. Call resume unless there is an error, which is a
// *BusyError or the context's.
func (f *inFlight) pause(ctx context.Context, release func()) (resume func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, pauseTimeout)
	defer cancel()
	if err := f.whenNotPaused(ctx, func() { f.paused = true }); err != nil {
		return nil, err
	}
	resume = func() { f.monitor.Do(func() { f.paused = false }) }
	release()
	if f.monitor.Wait(ctx, func() bool { return len(f.requests) == 0 }) == nil {
		return resume, nil
	}
	busy := &BusyError{}
	f.monitor.Do(func() {
		for _, r := range f.requests {
			busy.Requests = append(busy.Requests, *r)
		}
	})
	resume()
	return nil, busy
}
