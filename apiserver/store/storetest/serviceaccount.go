package storetest

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func testServiceAccount(h *harness) {
	one, other := h.account(), h.account()
	a := h.newServiceAccount(one, "public-1")
	a.CreatedByUserID, a.ExpiresAt = "user-1", at(60)
	b := h.newServiceAccount(one, "public-2")
	foreign := h.newServiceAccount(other, "public-3")
	h.update(func(tx store.Tx) error { return tx.CreateServiceAccount(&a) })
	h.update(func(tx store.Tx) error { return tx.CreateServiceAccount(&b) })
	h.update(func(tx store.Tx) error { return tx.CreateServiceAccount(&foreign) })

	get := func(account, id string) func(store.Reader) (store.ServiceAccount, error) {
		return func(r store.Reader) (store.ServiceAccount, error) { return r.ServiceAccount(account, id) }
	}
	byPublicID := func(id string) func(store.Reader) (store.ServiceAccount, error) {
		return func(r store.Reader) (store.ServiceAccount, error) { return r.ServiceAccountByPublicID(id) }
	}
	equal(h, "service account", read(h, get(one, a.ID)), a)
	equal(h, "by public id", read(h, byPublicID("public-3")), foreign)
	absent(h, get(other, a.ID))
	absent(h, byPublicID("public-4"))

	id := func(a store.ServiceAccount) string { return a.ID }
	lists(h, "all", id, func(r store.Reader, s store.Slice) ([]store.ServiceAccount, int, error) {
		return r.ServiceAccounts(one, s)
	}, a.ID, b.ID)

	h.exists(a.ID, func(tx store.Tx) error {
		again := h.newServiceAccount(other, "public-1") // in any account
		return tx.CreateServiceAccount(&again)
	})
}

func testServiceAccountUse(h *harness) {
	one, other := h.account(), h.account()
	a := h.newServiceAccount(one, "public-1")
	h.update(func(tx store.Tx) error { return tx.CreateServiceAccount(&a) })
	check := func(what string) {
		h.Helper()
		equal(h, what, read(h, func(r store.Reader) (store.ServiceAccount, error) {
			return r.ServiceAccount(one, a.ID)
		}), a)
	}
	touch := func(when time.Time) {
		h.Helper()
		h.update(func(tx store.Tx) error { return tx.TouchServiceAccount(a.ID, when) })
	}
	touch(at(5))
	a.LastUsedAt = at(5)
	check("used")
	touch(at(4)) // a later use is known
	check("used earlier")
	touch(at(6))
	a.LastUsedAt = at(6)
	check("used later")

	revoke := func(account, by string, when time.Time) func(store.Tx) error {
		return func(tx store.Tx) error {
			_, err := tx.UpdateServiceAccount(account, a.ID, func(a *store.ServiceAccount) error {
				a.RevokedAt, a.RevokedByUserID, a.UpdatedAt = when, by, when
				return nil
			})
			return err
		}
	}
	h.missing(revoke(other, "user-1", at(10)))
	h.update(revoke(one, "user-1", at(10)))
	a.RevokedAt, a.RevokedByUserID, a.UpdatedAt = at(10), "user-1", at(10)
	check("revoked")

	h.missing(func(tx store.Tx) error { return tx.TouchServiceAccount(h.id(), epoch) })
}
