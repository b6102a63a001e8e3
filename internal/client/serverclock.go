package client

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// serverClock converts times of the client's clock to the API's, by the Date
// header of the newest response. Date has whole seconds, so the result is up to a
// second early.
type serverClock struct {
	ahead atomic.Pointer[time.Duration]
}

// note reads a response that was received at a time.
func (s *serverClock) note(resp *http.Response, received time.Time) {
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		s.ahead.Store(new(date.Sub(received)))
	}
}

// at returns the API's time at a time of the client, and false if no response had
// a Date.
func (s *serverClock) at(t time.Time) (time.Time, bool) {
	ahead := s.ahead.Load()
	if ahead == nil {
		return t, false
	}
	return t.Add(*ahead), true
}

// ClockOffset returns how far the API's clock is ahead of this machine's, to about a
// second; clocks that may agree count as equal. Before the first response it sends a
// request to find out. An API that sends no Date, as the embedded one, is taken to
// have this machine's clock.
func (c *Client) ClockOffset(ctx context.Context) time.Duration {
	if c.serverClock.ahead.Load() == nil && !c.reached.Load() {
		// A refusal has a Date too.
		_, _ = call(ctx, c, api.ListDomains, &api.ListDomainsRequest{Paged: api.Paged{Page: 1, PageSize: 1}})
	}
	ahead := c.serverClock.ahead.Load()
	if ahead == nil || *ahead <= 0 && *ahead > -clockSlack {
		return 0
	}
	return *ahead
}
