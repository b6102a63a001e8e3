package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// testConcurrency runs updates at the same time, some of which fail or panic. It checks that they don't
// interleave between a read and a write, that only the successful ones are kept, and that one of
// several creates of an address succeeds. The others fail only once its mailbox can be read: before,
// its commit may still fail. A reader of page after page, each in another view, sees each mailbox
// once, although the clients' clocks differ by up to store.ClockTolerance.
func testConcurrency(h *harness) {
	t := h.tenant("a.example")
	const clients, each = 12, 40
	failure := errors.New("failure")
	boxes := make([]store.Mailbox, clients*each)
	for i := range boxes {
		boxes[i] = h.newMailbox(t, fmt.Sprint("m", i))
		boxes[i].CreatedAt = epoch.Add(-time.Duration(i*7) * time.Second % store.ClockTolerance)
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
			_, err := store.Update(tx, t.account, t.account, func(a *store.Account) error {
				n, _ := strconv.Atoi(a.PlanID) // no number at first
				a.PlanID = strconv.Itoa(n + 1)
				return nil
			})
			switch err = errors.Join(err, tx.Create(&boxes[i])); {
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
				for _, m := range page {
					pages = append(pages, m.ID)
				}
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
			h.view(func(r store.Reader) error { _, err := store.Get[store.Mailbox](r, t.account, id); return err })
		}
	})
	ended.Store(true)
	reader.Wait()
	got := h.mailboxes(t.account)
	equal(h, "pages", pages, got)
	equal(h, "mailboxes", slices.Sorted(slices.Values(got)), slices.Sorted(maps.Keys(kept)))
	account := read(h, func(r store.Reader) (store.Account, error) { return r.Account(t.account) })
	equal(h, "counter", account.PlanID, strconv.Itoa(len(kept)))
}

// testTokenBucketsConcurrently checks that no update of an existing or a new bucket is lost.
func testTokenBucketsConcurrently(h *harness) {
	const clients, updates = 8, 10
	parallel(clients, func(int) {
		for i := range updates {
			err := h.store.Update(h.Context(), func(tx store.Tx) error {
				return tx.UpdateTokenBucket(fmt.Sprint(i), at(0), func(fullAt time.Time) time.Time { return fullAt.Add(time.Minute) })
			})
			assert.Check(h, err)
		}
	})
	for i := range updates {
		bucket := read(h, func(r store.Reader) (time.Time, error) { return r.TokenBucket(fmt.Sprint(i)) })
		equal(h, "bucket", bucket, at(clients))
	}
}

// queue queues a message of a new rule and returns the message.
func (h *harness) queue(t tenant, target string, due time.Time) store.QueuedMessage {
	h.Helper()
	rule := h.newForwarding(t.account, target, store.Scope{Type: vocab.ScopeDomain, ID: t.domain})
	h.create(&rule)
	m := store.QueuedMessage{AccountID: t.account, ForwardingID: rule.ID, RequestID: "request " + target, DueAt: due}
	h.update(func(tx store.Tx) error { return tx.QueueMessage(m) })
	return m
}

// claim checks that a message is claimed at a time, or none if want is nil, and returns it.
func (h *harness) claim(now, until time.Time, want *store.QueuedMessage) (got store.QueuedMessage) {
	h.Helper()
	claim := func(tx store.Tx) (err error) {
		got, err = tx.ClaimMessage(time.Time{}, now, until)
		return err
	}
	if want == nil {
		h.missing(claim)
		return got
	}
	h.update(claim)
	claimed := *want
	claimed.DueAt = until
	equal(h, "claimed", got, claimed)
	return got
}

// testMailQueueClaims checks that a claim ends with its lease and can't be used afterwards.
func testMailQueueClaims(h *harness) {
	t := h.tenant("a.example")
	m := h.queue(t, "ops@c.example", at(0))
	lost := h.claim(at(1), at(10), &m)
	h.claim(at(10).Add(-time.Microsecond), at(20), nil)
	held := h.claim(at(10), at(20), &m)
	h.missing(func(tx store.Tx) error { return tx.RemoveMessage(lost) })
	h.missing(func(tx store.Tx) error { return tx.RetryMessage(lost, at(11)) })
	h.claim(at(11), at(30), nil)

	// Queueing a message again ends its claim.
	again := m
	again.DueAt, again.RequestID = at(12), "another"
	h.update(func(tx store.Tx) error { return tx.QueueMessage(again) })
	h.missing(func(tx store.Tx) error { return tx.RemoveMessage(held) })
	held = h.claim(at(12), at(40), &again)
	held.Attempts = 1
	h.update(func(tx store.Tx) error { return tx.RetryMessage(held, at(13)) })
	held = h.claim(at(13), at(40), &held)
	h.update(func(tx store.Tx) error { return tx.RemoveMessage(held) })
	h.claim(at(99), at(100), nil)

	// A range selects the messages that are due in it.
	late := h.queue(t, "late@c.example", epoch.Add(year))
	h.claim(at(99), at(100), nil)
	h.missing(func(tx store.Tx) error {
		_, err := tx.ClaimMessage(late.DueAt, late.DueAt.Add(year), at(100))
		return err
	})
	var got store.QueuedMessage
	h.update(func(tx store.Tx) (err error) {
		got, err = tx.ClaimMessage(at(99), late.DueAt, at(100))
		return err
	})
	equal(h, "claimed", got.ForwardingID, late.ForwardingID)
	h.queue(t, "later@c.example", at(200))
	equal(h, "due", read(h, store.Reader.MessagesDue), store.MessagesDue{First: at(100), Last: at(200)})
}

// testMailQueueConcurrentClaims checks that concurrent claims return each message once.
func testMailQueueConcurrentClaims(h *harness) {
	t := h.tenant("a.example")
	var want []string
	for i := range 30 {
		want = append(want, h.queue(t, fmt.Sprintf("r%02d@c.example", i), at(i)).ForwardingID)
	}
	const clients = 8
	got := make([][]string, clients)
	parallel(clients, func(i int) {
		for {
			var m store.QueuedMessage
			err := h.store.Update(h.Context(), func(tx store.Tx) (err error) {
				m, err = tx.ClaimMessage(time.Time{}, at(60), at(100+i))
				return err
			})
			if errors.Is(err, store.ErrNotFound) {
				return
			}
			if err != nil {
				h.Error(err)
				return
			}
			got[i] = append(got[i], m.ForwardingID)
		}
	})
	all := slices.Concat(got...)
	slices.Sort(all)
	slices.Sort(want)
	equal(h, "claimed", all, want)
}

// testCreationTimes checks that creation times ascend per account and type, even if the
// clock goes back a little.
func testCreationTimes(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	create := func(owner tenant, local string, given time.Time) time.Time {
		m := h.newMailbox(owner, local)
		m.CreatedAt = given
		h.create(&m)
		equal(h, "UpdatedAt", m.UpdatedAt, m.CreatedAt)
		return m.CreatedAt
	}
	const tick = time.Microsecond
	later := epoch.Add(store.ClockTolerance)
	equal(h, "the first", create(t, "a", epoch), epoch)
	equal(h, "the same", create(t, "b", epoch), epoch.Add(tick))
	equal(h, "an earlier one", create(t, "c", epoch.Add(-store.ClockTolerance+tick)), epoch.Add(2*tick))
	equal(h, "a later one", create(t, "d", later), later)
	equal(h, "less than a tick", create(t, "e", later.Add(tick+1)), later.Add(tick))
	equal(h, "another account", create(other, "a", at(-60)), at(-60))

	r := h.newDNSRecord(t, "@", "TXT", "another kind")
	h.create(&r)
	equal(h, "another kind", r.CreatedAt, epoch)

	var times []time.Time
	h.update(func(tx store.Tx) error { // several in one update, whose other writes one that fails leaves
		times = nil
		for _, local := range []string{"x", "a", "y", "z"} {
			m := h.newMailbox(t, local)
			m.CreatedAt = later
			if err := tx.Create(&m); err == nil {
				times = append(times, m.CreatedAt)
			}
		}
		return nil
	})
	equal(h, "created", times, []time.Time{later.Add(2 * tick), later.Add(3 * tick), later.Add(4 * tick)})
}

// parallel runs fn n times concurrently.
func parallel(n int, fn func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { fn(i) })
	}
	wg.Wait()
}
