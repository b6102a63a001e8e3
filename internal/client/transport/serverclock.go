package transport

import (
	"net/http"
	"sync/atomic"
	"time"
)

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

// ClockOffset returns how far the API's clock is ahead of this machine's, and
// false if no response had a Date.
func (t *Transport) ClockOffset() (offset time.Duration, known bool) {
	if d := t.serverClock.offset.Load(); d != nil {
		return *d, true
	}
	return 0, false
}
