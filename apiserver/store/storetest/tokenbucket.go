package storetest

import (
	"errors"
	"fmt"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// bucket returns when a token bucket is full again.
func (h *harness) bucket(name string) time.Time {
	h.Helper()
	return read(h, func(r store.Reader) (time.Time, error) { return r.TokenBucket(name) })
}

// setBucket sets at a time when a token bucket is full again.
func setBucket(name string, now, fullAt time.Time) func(store.Tx) error {
	return func(tx store.Tx) error {
		return tx.UpdateTokenBucket(name, now, func(time.Time) (time.Time, error) { return fullAt, nil })
	}
}

func testTokenBuckets(h *harness) {
	change := func(name string, now, want, fullAt time.Time) {
		h.Helper()
		h.update(func(tx store.Tx) error {
			return tx.UpdateTokenBucket(name, now, func(got time.Time) (time.Time, error) {
				equal(h, name+" in the transaction", got, want)
				return fullAt, nil
			})
		})
		equal(h, name, h.bucket(name), fullAt)
	}
	equal(h, "unknown bucket", h.bucket("a"), time.Time{})
	change("a", at(0), time.Time{}, at(1))
	change("b", at(0), time.Time{}, at(20))
	change("a", at(0), at(1), at(3))
	change("a", at(3).Add(-time.Microsecond), at(3), at(5))
	change("a", at(5), time.Time{}, at(6))

	fail := errors.New("undo")
	err := h.refused(func(tx store.Tx) error {
		return tx.UpdateTokenBucket("a", at(5), func(time.Time) (time.Time, error) { return at(9), fail })
	})
	assert.Check(h, errors.Is(err, fail), "error = %v", err)
	equal(h, "a after an error", h.bucket("a"), at(6))

	// Full buckets are deleted, several with each update.
	for i := range 10 {
		h.update(setBucket(fmt.Sprint(i), at(0), at(7)))
	}
	for range 10 {
		h.update(setBucket("b", at(7), at(20)))
	}
	for _, name := range []string{"a", "0", "9"} {
		equal(h, name+" when it is full", h.bucket(name), time.Time{})
	}
	equal(h, "b", h.bucket("b"), at(20))
}

// testTokenBucketsConcurrently checks that no update of a bucket is lost, also of one that
// does not exist yet.
func testTokenBucketsConcurrently(h *harness) {
	const clients, updates = 8, 10
	parallel(clients, func(int) {
		for i := range updates {
			err := h.store.Update(h.Context(), func(tx store.Tx) error {
				return tx.UpdateTokenBucket(fmt.Sprint(i), at(0), func(fullAt time.Time) (time.Time, error) {
					if fullAt.IsZero() {
						fullAt = at(0)
					}
					return fullAt.Add(time.Minute), nil
				})
			})
			assert.Check(h, err)
		}
	})
	for i := range updates {
		equal(h, "bucket", h.bucket(fmt.Sprint(i)), at(clients))
	}
}
