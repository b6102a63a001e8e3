package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// testSnapshot checks that a view does not see commits made while it runs, and does not
// block them.
func testSnapshot(h *harness) {
	t := h.tenant("a.example")
	count := func(r store.Reader) int {
		h.Helper()
		items, total, err := r.Mailboxes(t.account, store.MailboxFilter{}, everything)
		assert.Check(h, err == nil && len(items) == total, "%d of %d mailboxes, error %v", len(items), total, err)
		return total
	}
	h.view(func(r store.Reader) error {
		equal(h, "before", count(r), 0)
		h.mailbox(t, "ada")
		equal(h, "during", count(r), 0)
		_, err := r.MailboxByAddress(t.account, "ada", "a.example")
		assert.Check(h, errors.Is(err, store.ErrNotFound), "error = %v, want ErrNotFound", err)
		h.view(func(r store.Reader) error { // a new view
			equal(h, "in a new view", count(r), 1)
			return nil
		})
		return nil
	})
	failure := errors.New("failure")
	err := h.store.View(h.Context(), func(r store.Reader) error { equal(h, "after", count(r), 1); return failure })
	assert.Check(h, err == failure, "View = %v, want fn's error unchanged", err)
}

// testPanic checks that the store survives a function that panics or calls runtime.Goexit, as t.FailNow
// does, and that the panic with its value reaches the caller.
func testPanic(h *harness) {
	t := h.tenant("a.example")
	type value struct{ n int }
	for want, end := range map[any]func(){nil: runtime.Goexit, value{7}: func() { panic(value{7}) }} {
		thrown := func(run func()) {
			h.Helper()
			done := make(chan any)
			go func() {
				defer func() { done <- recover() }()
				run()
			}()
			equal(h, "value of the panic", <-done, want)
		}
		thrown(func() {
			_ = h.store.Update(context.Background(), func(tx store.Tx) error {
				defer end()
				return tx.Create(new(h.newMailbox(t, "ada")))
			})
		})
		for range 100 { // so that a leaked connection would block
			thrown(func() { _ = h.store.View(context.Background(), func(store.Reader) error { end(); return nil }) })
		}
	}
	equal(h, "mailboxes", h.mailboxes(t.account), nil)
	h.mailbox(t, "ada")
}

func testContext(h *harness) {
	ctx, cancel := context.WithCancel(h.Context())
	t := h.tenant("a.example")
	m := h.newMailbox(t, "ada")
	// A running update is not cancelled.
	if err := h.store.Update(ctx, func(tx store.Tx) error {
		cancel()
		return tx.Create(&m)
	}); err != nil {
		h.Errorf("Update = %v, want nil because it had begun", err)
	}
	equal(h, "mailboxes", h.mailboxes(t.account), []string{m.ID})

	called := false
	if err := h.store.Update(ctx, func(store.Tx) error { called = true; return nil }); err != context.Canceled {
		h.Errorf("Update = %v, want context.Canceled", err)
	}
	if err := h.store.View(ctx, func(store.Reader) error { called = true; return nil }); err != context.Canceled {
		h.Errorf("View = %v, want context.Canceled", err)
	}
	assert.Check(h, !called, "a function was called after its context had ended")
	ctx, cancel = context.WithCancel(h.Context())
	err := h.store.View(ctx, func(r store.Reader) error {
		cancel()
		_, err := r.Accounts()
		return err
	})
	assert.Check(h, errors.Is(err, context.Canceled), "a read after the end of the context = %v, want context.Canceled", err)
}

func testClose(h *harness) {
	t := h.tenant("a.example")
	err := h.store.Ping(h.Context())
	assert.Check(h, err, "Ping")
	const clients = 10
	begun, results := make(chan struct{}, clients), make(chan error, clients)
	for i := range clients {
		m := h.newMailbox(t, fmt.Sprint("m", i))
		go func() {
			results <- h.store.Update(context.Background(), func(tx store.Tx) error {
				begun <- struct{}{}
				return tx.Create(&m)
			})
		}()
	}
	<-begun // Close waits for the running update
	err = errors.Join(h.store.Close(), h.store.Close())
	assert.Check(h, err, "Close")
	for _, err := range []error{
		h.store.Update(h.Context(), func(store.Tx) error { return nil }),
		h.store.View(h.Context(), func(store.Reader) error { return nil }),
		h.store.Ping(h.Context()),
	} {
		if !errors.Is(err, store.ErrClosed) && !errors.Is(err, store.ErrUnavailable) { // a store in memory removes its file
			h.Errorf("error = %v, want ErrClosed", err)
		}
	}
	kept := 0
	for range clients {
		if <-results == nil {
			kept++
		}
	}
	assert.Check(h, kept != 0, "no update was committed")
}

func revoked(account, id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := store.Update(tx, account, id, func(a *store.Authorization) error {
			a.RevokedAt = at(1)
			return nil
		})
		return err
	}
}

// testAuthorizationVersion checks that the version changes with each change that affects authorization,
// and with no other change, and that no version is used again.
func testAuthorizationVersion(h *harness) {
	t := h.tenant("a.example")
	known := map[int64]string{}
	changed := func(what string, version int64) {
		h.Helper()
		before, ok := known[version]
		assert.Check(h, !ok, "%s: the version is the same as after %s", what, before)
		known[version] = what
	}
	now := func() int64 { return read(h, store.Reader.AuthorizationVersion) }
	changed("nothing", now())
	s := h.newServiceAccount(t.account, "public")
	grant := store.Authorization{ID: h.id(), AccountID: t.account, CreatedAt: epoch}
	for _, object := range []store.Object{&store.Account{ID: h.id(), CreatedAt: epoch}, &s, &grant} {
		h.create(object)
		changed(fmt.Sprintf("a new %T", object), now())
	}
	for what, update := range map[string]func(store.Tx) error{
		"account": func(tx store.Tx) error {
			_, err := store.Update(tx, t.account, t.account, func(a *store.Account) error { a.Status = "x"; return nil })
			return err
		},
		"service account": func(tx store.Tx) error {
			_, err := store.Update(tx, t.account, s.ID, func(a *store.ServiceAccount) error { a.RevokedAt = at(1); return nil })
			return err
		},
		"grant": revoked(t.account, grant.ID),
	} {
		h.update(update)
		changed("a changed "+what, now())
	}
	committed := now()
	undo := errors.New("undo")
	for range 2 { // a rolled-back version is not reused
		var undone int64
		if err := h.refused(func(tx store.Tx) (err error) {
			if err := tx.Create(&store.Authorization{ID: h.id(), AccountID: t.account, CreatedAt: epoch}); err != nil {
				return err
			}
			undone, err = tx.AuthorizationVersion()
			return errors.Join(err, undo)
		}); !errors.Is(err, undo) {
			h.Fatal(err)
		}
		changed("a change that is rolled back", undone)
	}
	h.mailbox(t, "ada")
	h.update(func(tx store.Tx) error { return tx.TouchServiceAccount(s.ID, at(1), at(1)) })
	equal(h, "version after other changes", now(), committed)
	h.update(store.Tx.Clear)
	changed("clearing", now())
}

// WithoutTriggers checks in an empty store that each change of an account, a service account or a grant fails
// after disable has disabled the schema's triggers, and changes nothing.
func WithoutTriggers(t *testing.T, s store.Store, disable func()) {
	h := &harness{T: t, store: s}
	existing := h.full("a.example")
	account := h.newServiceAccount(existing.account, "public")
	grant := store.Authorization{ID: h.id(), AccountID: existing.account, CreatedAt: epoch}
	h.create(&account, &grant)
	disable()
	for name, change := range map[string]func(store.Tx) error{
		"create an account": func(tx store.Tx) error { return tx.Create(&store.Account{ID: h.id(), CreatedAt: epoch}) },
		"create a service account": func(tx store.Tx) error {
			another := h.newServiceAccount(existing.account, "another")
			return tx.Create(&another)
		},
		"create a grant": func(tx store.Tx) error {
			return tx.Create(&store.Authorization{ID: h.id(), AccountID: existing.account, CreatedAt: epoch})
		},
		"change an account": func(tx store.Tx) error {
			_, err := store.Update(tx, existing.account, existing.account, func(a *store.Account) error { a.Status = "x"; return nil })
			return err
		},
		"revoke a service account": func(tx store.Tx) error {
			_, err := store.Update(tx, existing.account, account.ID, func(a *store.ServiceAccount) error { a.RevokedAt = at(1); return nil })
			return err
		},
		"revoke a grant": revoked(existing.account, grant.ID),
		"delete a grant": func(tx store.Tx) error {
			return store.Delete[store.Authorization](tx, existing.account, grant.ID, at(1))
		},
	} {
		err := h.refused(change)
		assert.Check(h, is.ErrorContains(err, "run mailhostd doctor"), name)
	}
	equal(h, "accounts", len(read(h, store.Reader.Accounts)), 1)
	h.update(func(tx store.Tx) error { return tx.TouchServiceAccount(account.ID, at(1), at(1)) })
	h.mailbox(existing, "another")
}
