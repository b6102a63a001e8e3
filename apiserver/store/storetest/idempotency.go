package storetest

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

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
