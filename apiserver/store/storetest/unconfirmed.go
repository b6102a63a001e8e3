package storetest

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func testUnconfirmedCreates(h *harness) {
	account, other := h.account(), h.account()
	create := func(origin, run, objectType, id string) store.UnconfirmedCreate {
		return store.UnconfirmedCreate{
			AccountID: account, Origin: origin, Run: run, ObjectType: objectType, ObjectID: id, Caller: []byte{0, 1}, ExpiresAt: at(10),
		}
	}
	a1, a2, b := create("here", "1", "mailbox", "a1"), create("here", "1", "mailbox", "a2"), create("here", "2", "domain", "b")
	elsewhere := create("there", "1", "mailbox", "a1")
	add := func(c store.UnconfirmedCreate, ids ...string) {
		h.Helper()
		h.update(func(tx store.Tx) error { return tx.AddUnconfirmedCreates(c, ids) })
	}
	unconfirmed := func(want ...store.UnconfirmedCreate) {
		h.Helper()
		equal(h, "unconfirmed creates", read(h, func(r store.Reader) ([]store.UnconfirmedCreate, error) {
			return r.UnconfirmedCreates(account, "here", "", at(9))
		}), want)
	}
	has := func(origin string, now time.Time, want bool) {
		h.Helper()
		equal(h, "there are unconfirmed creates", read(h, func(r store.Reader) (bool, error) {
			return r.HasUnconfirmedCreates(account, origin, now)
		}), want)
	}
	one := func(accountID, origin, objectType, id string, now time.Time) func(store.Reader) (store.UnconfirmedCreate, error) {
		return func(r store.Reader) (store.UnconfirmedCreate, error) {
			return r.UnconfirmedCreate(accountID, origin, objectType, id, now)
		}
	}
	has("here", at(0), false)
	add(a1, "a1", "a2")
	add(b, "b")
	add(b) // nothing
	add(elsewhere, "a1")
	unconfirmed(b, a1, a2)
	has("here", at(9), true)
	has("here", at(10), false)
	equal(h, "those of a type", read(h, func(r store.Reader) ([]store.UnconfirmedCreate, error) {
		return r.UnconfirmedCreates(account, "here", "domain", at(9))
	}), []store.UnconfirmedCreate{b})
	equal(h, "one of them", read(h, one(account, "here", "mailbox", "a2", at(9))), a2)
	absent(h, one(account, "here", "mailbox", "a2", at(10)))
	absent(h, one(account, "there", "mailbox", "a2", at(9)))
	absent(h, one(account, "here", "domain", "a2", at(9)))
	absent(h, one(other, "here", "mailbox", "a2", at(9)))

	h.update(func(tx store.Tx) error { return tx.MarkCreatesLost(account, "here") })
	a1.Lost, a2.Lost, b.Lost = true, true, true
	unconfirmed(b, a1, a2)
	equal(h, "one of another origin", read(h, one(account, "there", "mailbox", "a1", at(9))), elsewhere)
	a2.Run, a2.Lost = "3", false
	add(a2, "a2") // replaces
	unconfirmed(b, a1, a2)

	h.update(func(tx store.Tx) error { return tx.ConfirmRun(account, "here", "3") })
	unconfirmed(b, a1)
	h.update(func(tx store.Tx) error { return tx.ConfirmCreates(account, "here", "domain", []string{"a1"}) })
	unconfirmed(b, a1)
	h.update(func(tx store.Tx) error { return tx.ConfirmCreates(account, "here", "mailbox", []string{"a1", "a2"}) })
	unconfirmed(b)
	h.update(func(tx store.Tx) error { return tx.DeleteExpiredCreates(account, at(10)) })
	unconfirmed(b)
	h.update(func(tx store.Tx) error { return tx.DeleteExpiredCreates(account, at(11)) })
	unconfirmed()
	has("there", at(0), false)
}
