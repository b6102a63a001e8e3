package client

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// newClient returns a client of a fake API that waits with a fake clock.
func newClient(t *testing.T, f *fakeapi.API, change ...func(*Options)) *Client {
	t.Helper()
	o := Options{
		BaseURL: "http://embedded", AccountID: fakeapi.AccountID, Token: "secret-token", Transport: f,
		Hooks: Hooks{Now: f.Clock.Now, Sleep: f.Clock.Sleep, Jitter: func(d time.Duration) time.Duration { return d }},
	}
	for _, c := range change {
		c(&o)
	}
	c, err := New(o)
	assert.NilError(t, err)
	return c
}

func TestClockOffset(t *testing.T) {
	for ahead, want := range map[time.Duration]time.Duration{-time.Hour: -time.Hour, -time.Second: 0, 90 * time.Second: 90 * time.Second} {
		f := fakeapi.New()
		c := newClient(t, f, func(o *Options) { o.Hooks.Now = func() time.Time { return f.Clock.Now().Add(-ahead) } })
		for range 2 {
			if got := c.ClockOffset(t.Context()); (got-want).Abs() > time.Second || want == 0 && got != 0 || len(f.Requests) != 1 {
				t.Errorf("%s for a clock that is %s ahead, after %d requests", got, ahead, len(f.Requests))
			}
		}
	}
}

// TestDomainOfDNSRecord checks that the records of no domain are listed twice. The fake API
// lists all records for every domain.
func TestDomainOfDNSRecord(t *testing.T) {
	f := fakeapi.New()
	domains := f.Add("domains", fakeapi.Object{"name": "example.com"}, fakeapi.Object{"name": "example.net"})
	f.Add("dns-records", fakeapi.Object{"id": 7, "type": "A"}, fakeapi.Object{"id": 8, "type": "A"})
	c := newClient(t, f)
	for _, id := range []int64{7, 8} {
		d, err := c.DomainOfDNSRecord(t.Context(), id)
		assert.Check(t, err == nil && d.ID == domains[0] && f.Count("list-dns-records") == 1, "record %d: %+v, %v after %v", id, d, err, f.Sent())
	}
	f.Fail(fakeapi.Fault{Op: "list-domains", Status: 403})
	_, err := newClient(t, f).DomainOfDNSRecord(t.Context(), 7)
	assert.Check(t, StatusOf(err) == 403, "%v", err)
	for range 2 {
		_, err := c.DomainOfDNSRecord(t.Context(), 9)
		assert.Check(t, IsNotFound(err) && f.Count("list-dns-records") == 2, "%v after %v", err, f.Sent())
	}
}
