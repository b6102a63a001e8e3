package transport

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Hooks replace time and randomness in tests. Nil fields have defaults.
type Hooks struct {
	Now func() time.Time
	// Sleep waits for d, or returns ctx's error if ctx ends first.
	Sleep func(ctx context.Context, d time.Duration) error
	// Jitter returns a random duration between 0 and ceiling.
	Jitter func(ceiling time.Duration) time.Duration
	// NewID returns a new UUID, for an Idempotency-Key or a request id.
	NewID func() string
}

func (h Hooks) withDefaults() Hooks {
	if h.Now == nil {
		h.Now = time.Now
	}
	if h.Sleep == nil {
		h.Sleep = sleep
	}
	if h.Jitter == nil {
		h.Jitter = func(ceiling time.Duration) time.Duration { return rand.N(ceiling + 1) }
	}
	if h.NewID == nil {
		h.NewID = uuid.NewString
	}
	return h
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// serverClock knows how far the API's clock is ahead of this machine's, from the
// Date header of the newest response. Date has whole seconds, so the result is up
// to a second early.
type serverClock struct {
	offset atomic.Pointer[time.Duration]
}

// update reads a response that was received at a time.
func (s *serverClock) update(resp *http.Response, received time.Time) {
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		s.offset.Store(new(date.Sub(received)))
	}
}
