package storetest

import (
	"slices"
	"time"

	"gotest.tools/v3/assert"

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

// testFeedback checks only creation, because no operation reads feedback.
func testFeedback(h *harness) {
	f := store.Feedback{
		ID: h.id(), AccountID: h.account(), Title: "Title", Description: "Ünïcode", Category: "other", Status: "new",
		Attributes: []byte(`{"a":1}`), PaidProductFeature: true, CreatedAt: epoch,
	}
	h.create(&f)
	equal(h, "CreatedAt", f.CreatedAt, epoch)
	equal(h, "UpdatedAt", f.UpdatedAt, epoch)
	h.taken(f.ID, new(f))
	second := store.Feedback{ID: h.id(), AccountID: f.AccountID, CreatedAt: epoch}
	h.create(&second)
	assert.Check(h, second.CreatedAt.After(f.CreatedAt), "created at %v after %v", second.CreatedAt, f.CreatedAt)
}

func testPublicURL(h *harness) {
	before := ""
	for _, url := range []string{"https://a.example", "https://a.example", "https://b.example"} {
		h.update(func(tx store.Tx) error {
			got, err := tx.SetPublicURL(url)
			if err == nil {
				equal(h, "the URL before", got, before)
			}
			return err
		})
		before = url
	}
}

func testIdempotency(h *harness) {
	key, other := []byte{1, 2, 0}, []byte{1, 2}
	a := store.IdempotencyRecord{KeyHash: key, Fingerprint: []byte{3}, Response: []byte{0, 4}, ExpiresAt: at(10)}
	put := func(a store.IdempotencyRecord) {
		h.Helper()
		h.update(func(tx store.Tx) error { return tx.PutIdempotencyRecord(a) })
	}
	record := func(key []byte, now time.Time) func(store.Reader) (store.IdempotencyRecord, error) {
		return func(r store.Reader) (store.IdempotencyRecord, error) { return r.IdempotencyRecord(key, now) }
	}
	absent(h, record(key, at(0)))
	put(a)
	equal(h, "record", read(h, record(key, at(0))), a)
	equal(h, "record until it expires", read(h, record(key, at(10).Add(-time.Microsecond))), a)
	absent(h, record(key, at(10)))
	absent(h, record(other, at(0)))

	b := store.IdempotencyRecord{KeyHash: key, Fingerprint: []byte{5}, Response: []byte{6}, ExpiresAt: at(30)}
	put(b) // replaces the expired record
	equal(h, "new record", read(h, record(key, at(11))), b)

	c := store.IdempotencyRecord{KeyHash: other, Fingerprint: []byte{7}, Response: []byte{8}, ExpiresAt: at(40)}
	put(c)
	h.update(func(tx store.Tx) error { return tx.DeleteExpiredIdempotencyRecords(at(35)) })
	absent(h, record(key, at(0)))
	equal(h, "unexpired record", read(h, record(other, at(0))), c)
}

func testDedicatedIPClaims(h *harness) {
	one, other := h.account(), h.account()
	addresses := []string{"203.0.113.2", "203.0.113.1"}
	option := h.dedicatedIPOption(one, addresses...)
	second := h.dedicatedIPOption(one, addresses...)
	foreign := h.dedicatedIPOption(other, addresses...)

	get := func(id string) store.DedicatedIPOption {
		h.Helper()
		return read(h, of(store.Reader.DedicatedIPOption, one, id))
	}
	equal(h, "inventory", get(option).Addresses, addresses)
	equal(h, "claimed at first", len(get(option).Claimed), 0)
	absent(h, of(store.Reader.DedicatedIPOption, one, foreign))

	d := h.newDedicatedIP(one, option, "203.0.113.1")
	h.create(&d)
	equal(h, "claimed", get(option).Claimed, []string{"203.0.113.1"})
	// No other option and no other account can claim the address.
	for _, again := range []store.DedicatedIP{
		h.newDedicatedIP(one, option, "203.0.113.2", "203.0.113.1"), h.newDedicatedIP(one, second, "203.0.113.1"), h.newDedicatedIP(other, foreign, "203.0.113.1"),
	} {
		h.taken(d.ID, &again)
		absent(h, of(store.Reader.DedicatedIP, again.AccountID, again.ID))
	}
	equal(h, "claimed of the second option", get(second).Claimed, []string{"203.0.113.1"})
	equal(h, "claimed of another account's", read(h, of(store.Reader.DedicatedIPOption, other, foreign)).Claimed, []string{"203.0.113.1"})
	equal(h, "claimed after a refusal", get(option).Claimed, []string{"203.0.113.1"})

	equal(h, "listed option", listed(h, dedicatedIPOptionKind.list(one))[0], get(option))

	h.update(func(tx store.Tx) error { return tx.DeleteDedicatedIP(one, d.ID) })
	equal(h, "claimed in the end", len(get(option).Claimed), 0)
	again := h.newDedicatedIP(one, option, addresses...)
	h.create(&again)
	claimed := get(option).Claimed
	equal(h, "all claimed", slices.Sorted(slices.Values(claimed)), slices.Sorted(slices.Values(addresses)))
}
