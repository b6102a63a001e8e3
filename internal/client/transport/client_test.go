package transport_test

import (
	"context"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// newClient returns a client of a fake API that waits with a fake clock.
func newClient(t *testing.T, f *fakeapi.API, change ...func(*client.Options)) *client.Client {
	t.Helper()
	o := client.Options{
		BaseURL: "http://embedded", AccountID: fakeapi.AccountID, Token: "secret-token", Transport: f,
		Hooks: client.Hooks{Now: f.Clock.Now, Sleep: f.Clock.Sleep, Jitter: func(d time.Duration) time.Duration { return d }},
	}
	for _, c := range change {
		c(&o)
	}
	return client.New(o)
}

func createMailbox(ctx context.Context, c *client.Client) (*api.Mailbox, error) {
	return c.CreateMailbox(ctx, api.CreateMailboxBody{Domain: "example.com", LocalPart: "Jane", FirstName: "Jane", LastName: "Doe"})
}
