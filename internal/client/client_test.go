package client

import (
	"testing"
	"time"

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
	if err != nil {
		t.Fatal(err)
	}
	return c
}
