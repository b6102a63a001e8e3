package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// queue queues a message of a new rule and returns the message.
func (h *harness) queue(t tenant, target string, due time.Time) store.QueuedMessage {
	h.Helper()
	m := store.QueuedMessage{
		AccountID: t.account, ForwardingID: h.forwarding(t.account, target, domainScope(t.domain)), RequestID: "request " + target, DueAt: due,
	}
	h.update(func(tx store.Tx) error { return tx.QueueMessage(m) })
	return m
}

// claims checks which messages are claimed at a time, and returns them.
func (h *harness) claims(now, until time.Time, n int, want ...store.QueuedMessage) []store.QueuedMessage {
	h.Helper()
	var got []store.QueuedMessage
	h.update(func(tx store.Tx) (err error) {
		got, err = tx.ClaimMessages(now, until, n)
		return err
	})
	for i := range want {
		want[i].DueAt = until
	}
	equal(h, "claimed", got, want)
	return got
}

// dueNext checks when the next message is due; the zero time stands for an empty queue.
func (h *harness) dueNext(want time.Time) {
	h.Helper()
	if want.IsZero() {
		absent(h, store.Reader.NextMessageDue)
		return
	}
	equal(h, "next message", read(h, store.Reader.NextMessageDue), want)
}

func testMailQueue(h *harness) {
	t := h.tenant("a.example")
	h.dueNext(time.Time{})
	late := h.queue(t, "late@c.example", at(20))
	h.dueNext(at(20))
	second := h.queue(t, "second@c.example", at(2))
	first := h.queue(t, "first@c.example", at(1))
	h.dueNext(at(1))
	h.claims(at(1).Add(-time.Microsecond), at(5), 9)
	h.claims(at(10), at(15), 1, first)
	claimed := h.claims(at(10), at(15), 9, second)
	h.claims(at(10), at(15), 9) // every due message is claimed already

	// A delivered message is removed; a failed one is due again with its number of
	// attempts.
	h.update(func(tx store.Tx) error { return tx.RemoveMessage(claimed[0]) })
	h.missing(func(tx store.Tx) error { return tx.RemoveMessage(claimed[0]) })
	h.dueNext(at(15))
	first.DueAt, first.Attempts = at(15), 1
	h.update(func(tx store.Tx) error { return tx.RetryMessage(first, at(12)) })
	h.dueNext(at(12))
	h.claims(at(12), at(30), 9, first)

	// Deleting a rule deletes its message; deleting a domain deletes the rules and
	// messages in it.
	h.update(func(tx store.Tx) error { return tx.DeleteForwarding(t.account, first.ForwardingID) })
	h.dueNext(at(20))
	gone := tenant{t.account, t.workspace, h.domain(t.account, t.workspace, "gone.example")}
	h.queue(gone, "gone@c.example", at(3))
	h.update(deleteDomain(t.account, gone.domain))
	h.claims(at(20), at(40), 9, late)
	h.missing(func(tx store.Tx) error { return tx.SetForwardingLink(t.account, first.ForwardingID, []byte{1}) })

	rule := read(h, of(store.Reader.Forwarding, t.account, late.ForwardingID))
	h.update(func(tx store.Tx) error { return tx.SetForwardingLink(t.account, rule.ID, []byte{1, 0}) })
	rule.LinkHash = []byte{1, 0}
	equal(h, "rule with a link", read(h, func(r store.Reader) (store.Forwarding, error) { return r.ForwardingByLink([]byte{1, 0}) }), rule)
}

// testMailQueueClaims checks that a claim lasts until its lease expires, and that it
// can't be used afterwards.
func testMailQueueClaims(h *harness) {
	t := h.tenant("a.example")
	m := h.queue(t, "ops@c.example", at(0))
	lost := h.claims(at(1), at(10), 9, m)[0]
	h.claims(at(10).Add(-time.Microsecond), at(20), 9)
	held := h.claims(at(10), at(20), 9, m)[0]
	h.missing(func(tx store.Tx) error { return tx.RemoveMessage(lost) })
	h.missing(func(tx store.Tx) error { return tx.RetryMessage(lost, at(11)) })
	h.claims(at(11), at(30), 9)

	// Queueing a message again ends its claim.
	again := m
	again.DueAt, again.RequestID = at(12), "another"
	h.update(func(tx store.Tx) error { return tx.QueueMessage(again) })
	h.missing(func(tx store.Tx) error { return tx.RemoveMessage(held) })
	held = h.claims(at(12), at(40), 9, again)[0]
	h.update(func(tx store.Tx) error { return tx.RemoveMessage(held) })
	h.dueNext(time.Time{})

	// A rollback undoes a claim.
	h.update(func(tx store.Tx) error { return tx.QueueMessage(m) })
	fail := errors.New("undo")
	err := h.refused(func(tx store.Tx) error {
		_, err := tx.ClaimMessages(at(1), at(10), 9)
		return errors.Join(err, fail)
	})
	assert.Check(h, errors.Is(err, fail), "error = %v", err)
	h.dueNext(at(0))
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
			var claimed []store.QueuedMessage
			if err := h.store.Update(h.Context(), func(tx store.Tx) (err error) {
				claimed, err = tx.ClaimMessages(at(60), at(100+i), 2)
				return err
			}); err != nil {
				h.Error(err)
				return
			}
			if len(claimed) == 0 {
				return
			}
			for _, m := range claimed {
				got[i] = append(got[i], m.ForwardingID)
			}
		}
	})
	all := slices.Concat(got...)
	slices.Sort(all)
	slices.Sort(want)
	equal(h, "claimed", all, want)
}
