package storetest

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func testServiceAccountUse(h *harness) {
	one := h.account()
	a := h.newServiceAccount(one, "public-1")
	h.create(&a)
	check := func(what string) {
		h.Helper()
		equal(h, what, read(h, of(store.Reader.ServiceAccount, one, a.ID)), a)
	}
	touch := func(when time.Time) {
		h.Helper()
		h.update(func(tx store.Tx) error { return tx.TouchServiceAccount(a.ID, when) })
	}
	touch(at(5))
	a.LastUsedAt = at(5)
	check("used")
	touch(at(4)) // a later use is recorded already
	check("used earlier")
	touch(at(6))
	a.LastUsedAt = at(6)
	check("used later")

	byPublicID := func(id string) func(store.Reader) (store.ServiceAccount, error) {
		return func(r store.Reader) (store.ServiceAccount, error) { return r.ServiceAccountByPublicID(id) }
	}
	equal(h, "by public id", read(h, byPublicID("public-1")), a)
	absent(h, byPublicID("public-2"))
	h.missing(func(tx store.Tx) error { return tx.TouchServiceAccount(h.id(), epoch) })
}
