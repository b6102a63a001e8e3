package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// testConcurrency checks of updates at the same time, some of which fail or panic, that they don't
// interleave between a read and a write, that only the successful ones are kept, and that one of
// several creates of an address succeeds. The others fail only when others can read what exists:
// until then its commit may still fail. Whoever reads page after page meanwhile, in views of their
// own, sees each mailbox once, whatever the clocks of the clients say.
func testConcurrency(h *harness) {
	t := h.tenant("a.example")
	const clients, each = 12, 40
	failure := errors.New("failure")
	boxes := make([]store.Mailbox, clients*each)
	for i := range boxes {
		boxes[i] = h.newMailbox(t, fmt.Sprint("m", i))
		boxes[i].CreatedAt = at(-i)
		if i%3 == 0 {
			boxes[i].LocalPart = fmt.Sprint("shared", i%each)
		}
	}
	create := func(i int) (err error) {
		defer func() {
			if recover() != nil {
				err = failure
			}
		}()
		ctx := h.Context()
		if i%2 == 0 {
			ctx = store.InAccount(ctx, t.account)
		}
		return h.store.Update(ctx, func(tx store.Tx) error {
			_, err := tx.UpdateAccount(t.account, func(a *store.Account) error {
				n, _ := strconv.Atoi(a.PlanID) // no number at first
				a.PlanID = strconv.Itoa(n + 1)
				return nil
			})
			switch err = errors.Join(err, tx.CreateMailbox(&boxes[i])); {
			case err == nil && i%5 == 0:
				return failure
			case err == nil && i%5 == 1:
				panic(failure)
			}
			return err
		})
	}
	var mu sync.Mutex
	kept := map[string]bool{}
	var ended atomic.Bool
	var pages []string
	var reader sync.WaitGroup
	reader.Go(func() {
		for last := false; !last; {
			last = ended.Load()
			for {
				page := read(h, func(r store.Reader) ([]store.Mailbox, error) {
					items, _, err := r.Mailboxes(t.account, store.MailboxFilter{}, store.Slice{Offset: len(pages), Limit: 7})
					return items, err
				})
				if len(page) == 0 {
					break
				}
				pages = append(pages, idsOf(page)...)
			}
		}
	})
	parallel(clients, func(client int) {
		for i := client; i < len(boxes); i += clients {
			err := create(i)
			id := boxes[i].ID
			if exists, ok := errors.AsType[*store.ExistsError](err); ok {
				id = exists.ID
			} else if err == nil {
				mu.Lock()
				kept[id] = true
				mu.Unlock()
			} else if err == failure && i%5 < 2 {
				continue
			} else {
				h.Error(err)
			}
			h.view(func(r store.Reader) error { _, err := r.Mailbox(t.account, id); return err })
		}
	})
	ended.Store(true)
	reader.Wait()
	got := idsOf(listed(h, mailboxes(t.account, store.MailboxFilter{})))
	equal(h, "pages", pages, got)
	equal(h, "mailboxes", slices.Sorted(slices.Values(got)), slices.Sorted(maps.Keys(kept)))
	account := read(h, func(r store.Reader) (store.Account, error) { return r.Account(t.account) })
	equal(h, "counter", account.PlanID, strconv.Itoa(len(kept)))
}
