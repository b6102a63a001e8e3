package storetest

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func testIdempotency(h *harness) {
	key, other := []byte{1, 2, 0}, []byte{1, 2}
	a := store.IdempotentAnswer{KeyHash: key, Fingerprint: []byte{3}, Answer: []byte{0, 4}, ExpiresAt: at(10)}
	keep := func(a store.IdempotentAnswer) {
		h.Helper()
		h.update(func(tx store.Tx) error { return tx.KeepIdempotentAnswer(a) })
	}
	answer := func(key []byte, now time.Time) func(store.Reader) (store.IdempotentAnswer, error) {
		return func(r store.Reader) (store.IdempotentAnswer, error) { return r.IdempotentAnswer(key, now) }
	}
	absent(h, answer(key, at(0)))
	keep(a)
	equal(h, "answer", read(h, answer(key, at(0))), a)
	equal(h, "answer to the last", read(h, answer(key, at(10).Add(-time.Microsecond))), a)
	absent(h, answer(key, at(10)))
	absent(h, answer(other, at(0)))

	h.update(func(tx store.Tx) error { return tx.MarkDelivered([][]byte{key, other}) })
	delivered := a
	delivered.Delivered = true
	equal(h, "delivered answer", read(h, answer(key, at(0))), delivered)

	b := store.IdempotentAnswer{KeyHash: key, Fingerprint: []byte{5}, Answer: []byte{6}, ExpiresAt: at(30)}
	keep(b) // in place of the expired one
	equal(h, "new answer", read(h, answer(key, at(11))), b)

	c := store.IdempotentAnswer{KeyHash: other, Fingerprint: []byte{7}, Answer: []byte{8}, ExpiresAt: at(40)}
	keep(c)
	h.update(func(tx store.Tx) error { return tx.ForgetIdempotentAnswers(at(35)) })
	absent(h, answer(key, at(0)))
	equal(h, "unexpired answer", read(h, answer(other, at(0))), c)
}
