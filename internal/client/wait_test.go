package client

import (
	"context"
	"errors"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

func isActive(m *api.Mailbox) (bool, error) { return m.Status == vocab.MailboxActive, nil }

func TestWaitFor(t *testing.T) {
	for _, published := range []bool{false, true} {
		f := fakeapi.New()
		if published {
			f.PublishedOnly(405)
		}
		m := fakeapi.Mailbox("jane", "example.com")
		m["status"] = vocab.MailboxProvisioning
		id := f.Add("mailboxes", m)[0]
		c := newClient(t, f)
		polls := 0
		f.Clock.OnSleep = func() {
			if polls++; polls == 4 {
				m["status"] = vocab.MailboxActive
			}
		}
		got, err := WaitFor(t.Context(), c, func(ctx context.Context) (*api.Mailbox, error) { return c.GetMailbox(ctx, id) }, isActive)
		assert.Check(t, err == nil && got.Status == vocab.MailboxActive && polls == 4, "published only %v: %+v, %v after %d polls", published, got, err, polls)
		for i, d := range f.Clock.Sleeps[1:] {
			assert.Check(t, d > f.Clock.Sleeps[i], "waits %v do not grow", f.Clock.Sleeps)
		}
	}
}

func TestWaitForEnds(t *testing.T) {
	f := fakeapi.New()
	m := fakeapi.Mailbox("jane", "example.com")
	m["status"] = vocab.MailboxProvisioning
	id := f.Add("mailboxes", m)[0]
	c := newClient(t, f)
	get := func(ctx context.Context) (*api.Mailbox, error) { return c.GetMailbox(ctx, id) }

	ctx, cancel := context.WithCancel(t.Context())
	f.Clock.OnSleep = cancel
	got, err := WaitFor(ctx, c, get, isActive)
	assert.Check(t, errors.Is(err, context.Canceled) && got != nil, "cancelled: %+v, %v", got, err)
	broken := errors.New("it failed")
	got, err = WaitFor(t.Context(), c, get, func(*api.Mailbox) (bool, error) { return false, broken })
	assert.Check(t, errors.Is(err, broken) && got != nil, "done fails: %+v, %v", got, err)
	f.Stored["mailboxes"] = nil
	f.Clock.OnSleep = nil
	got, err = WaitFor(t.Context(), c, get, isActive)
	assert.Check(t, IsNotFound(err) && got == nil, "deleted: %+v, %v", got, err)
}
