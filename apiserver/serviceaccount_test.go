package apiserver_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func TestServiceAccount(t *testing.T) {
	h := apitest.New(t)
	a := h.Post("/auth/service-accounts", obj{"name": "ci", "expires_at": "2027-01-01T01:00:00+01:00"}).Want(201)
	token := a.Str("token")
	parts := regexp.MustCompile(`^mhsa_([a-z2-7]+)_([a-z2-7]{52})([a-z2-7]{7})$`).FindStringSubmatch(token)
	assert.Assert(t, parts != nil, "the token is %q", token)
	a.Is("token_public_id", parts[1], "token_last4", token[len(token)-4:])
	assert.Check(t, is.Equal(tokenChecksum(strings.TrimSuffix(token, parts[3])), parts[3]), "the checksum")
	again := h.Post("/auth/service-accounts", obj{"name": "ci"}).Want(201)
	assert.Check(t, again.Str("token") != token && again.Str("token_public_id") != parts[1], "two tokens are the same")
}

// TestLastUsedIsWrittenLater checks that the use of a token costs no write of its own:
// Close persists it, if no timer has done so before.
func TestLastUsedIsWrittenLater(t *testing.T) {
	s := newFaulty(t)
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = s })
	a := h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201)
	c, id := h.As(a.Str("token")), a.Str("id")
	updates := 0
	count := hook(func(context.Context) error { updates++; return nil })
	s.update.Store(&count)
	for range 5 {
		c.Get("/mailboxes").Want(200)
		h.Clock.Advance(10 * time.Second)
	}
	assert.Check(t, updates == 0, "five reads caused %d writes", updates)
	h.Clock.Advance(time.Minute)
	c.Get("/mailboxes").Want(200)
	const last = "2026-03-14T15:11:00.000000Z"
	h.Get("/auth/service-accounts/"+id).Is("last_used_at", last)
	h.Get("/auth/service-accounts").Is("items.0.last_used_at", last)
	err := h.Service.Close()
	assert.Check(t, err == nil && updates == 1, "Close writes %d times, %v", updates, err)
}

// TestReadsDontWaitForWrites checks that a read does not wait for the write lock, not
// even the first one with a token.
func TestReadsDontWaitForWrites(t *testing.T) {
	s := newStore(t)
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = s })
	c := h.As(h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token"))
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- s.Update(context.WithoutCancel(t.Context()), func(store.Tx) error {
			close(begun)
			<-end
			return nil
		})
	}()
	apitest.Receive(t, begun)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // a read that waits for the lock times out
	defer cancel()
	a, err := c.Try(ctx, "GET", "/mailboxes", nil)
	close(end)
	assert.Check(t, apitest.Receive(t, ended))
	assert.NilError(t, err)
	a.Want(200)
}

// TestServiceAccountOutlivesNoCreator checks that a service account expires no later than the one
// that creates it.
func TestServiceAccountOutlivesNoCreator(t *testing.T) {
	h := apitest.New(t)
	const earlier, latest, later = "2027-01-01T00:00:00.000000Z", "2027-01-02T00:00:00.000000Z", "2027-01-02T00:00:00.000001Z"
	_, c := h.ServiceAccount(h.Client, obj{"name": "ci", "expires_at": latest})
	c.Post("/auth/service-accounts", obj{"name": "by default"}).Want(201).Is("expires_at", latest)
	for _, at := range []string{earlier, latest} {
		c.Post("/auth/service-accounts", obj{"name": at, "expires_at": at}).Want(201).Is("expires_at", at)
	}
	c.Post("/auth/service-accounts", obj{"name": "later", "expires_at": later}).Refused(422, "body.expires_at value_error")
	_, c = h.ServiceAccount(h.Client, obj{"name": "for ever"})
	c.Post("/auth/service-accounts", obj{"name": "later", "expires_at": later}).Want(201).Is("expires_at", later)
	c.Post("/auth/service-accounts", obj{"name": "for ever too"}).Want(201).Is("expires_at", nil)
}
