package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// testOneWins checks that exactly one of several concurrent creates of an address
// succeeds, and that the others return its id.
func testOneWins(h *harness) {
	t := h.tenant("a.example")
	const clients = 20
	boxes := make([]store.Mailbox, clients)
	for i := range boxes {
		boxes[i] = h.newMailbox(t, "ada")
	}
	errs := make([]error, clients)
	parallel(clients, func(i int) {
		errs[i] = h.store.Update(h.Context(), func(tx store.Tx) error { return tx.CreateMailbox(&boxes[i]) })
	})
	winner := listed(h, mailboxes(t.account, store.MailboxFilter{}))
	equal(h, "mailboxes", len(winner), 1)
	for i, err := range errs {
		var exists *store.ExistsError
		switch {
		case err == nil && boxes[i].ID == winner[0].ID:
		case errors.As(err, &exists) && exists.ID == winner[0].ID:
		default:
			h.Errorf("client %d: %v", i, err)
		}
	}
}

// testRefusedForWhatExists checks that a create which fails because an object exists fails only
// when others can read that object: until then its commit may still fail.
func testRefusedForWhatExists(h *harness) {
	t := h.tenant("a.example")
	const clients, each = 8, 40
	boxes := make([]store.Mailbox, clients*each)
	for i := range boxes {
		boxes[i] = h.newMailbox(t, fmt.Sprint("m", i%each))
	}
	parallel(clients, func(client int) {
		for n := range each {
			err := h.store.Update(store.InAccount(h.Context(), t.account), func(tx store.Tx) error { return tx.CreateMailbox(&boxes[client*each+n]) })
			exists, ok := errors.AsType[*store.ExistsError](err)
			if !ok {
				continue
			}
			if err := h.store.View(h.Context(), func(r store.Reader) error {
				_, err := r.Mailbox(t.account, exists.ID)
				return err
			}); err != nil {
				h.Errorf("m%d exists, and the next read returns %v", n, err)
			}
		}
	})
}

// testCounter checks that updates don't interleave between a read and a write.
func testCounter(h *harness) {
	account := h.account()
	const clients, each = 8, 25
	parallel(clients, func(int) {
		for range each {
			if err := h.store.Update(h.Context(), func(tx store.Tx) error {
				_, err := tx.UpdateAccount(account, func(a *store.Account) error {
					n, _ := strconv.Atoi(a.PlanID)
					a.PlanID = strconv.Itoa(n + 1)
					return nil
				})
				return err
			}); err != nil {
				h.Error(err)
			}
		}
	})
	got := read(h, func(r store.Reader) (store.Account, error) { return r.Account(account) })
	equal(h, "counter", got.PlanID, strconv.Itoa(clients*each))
}

// testMixedUpdates checks that only successful updates are kept while other updates fail
// and panic concurrently.
func testMixedUpdates(h *harness) {
	t := h.tenant("a.example")
	const clients, each = 12, 20
	failure := errors.New("failure")
	var kept atomic.Int64
	boxes := make([]store.Mailbox, clients*each)
	for i := range boxes {
		boxes[i] = h.newMailbox(t, fmt.Sprint("m", i))
	}
	one := func(i int) (err error) {
		defer func() {
			if recover() != nil {
				err = failure
			}
		}()
		return h.store.Update(h.Context(), func(tx store.Tx) error {
			if err := tx.CreateMailbox(&boxes[i]); err != nil {
				return err
			}
			switch i % 4 {
			case 0:
				return failure
			case 1:
				panic(failure)
			}
			return nil
		})
	}
	parallel(clients, func(client int) {
		for n := range each {
			i := client*each + n
			if err := one(i); err == nil {
				kept.Add(1)
			} else if err != failure {
				h.Error(err)
			}
			h.view(func(r store.Reader) error {
				_, _, err := r.Mailboxes(t.account, store.MailboxFilter{}, store.Slice{Limit: 10})
				return err
			})
		}
	})
	equal(h, "succeeded", kept.Load(), clients*each/2)
	for _, m := range listed(h, mailboxes(t.account, store.MailboxFilter{})) {
		i, _ := strconv.Atoi(m.LocalPart[1:])
		if i%4 < 2 {
			h.Errorf("%s was kept although its update failed", m.LocalPart)
		}
		kept.Add(-1)
	}
	equal(h, "lost", kept.Load(), 0)
}
