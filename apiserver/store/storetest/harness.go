package storetest

import (
	"reflect"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// harness is a test with its store.
type harness struct {
	*testing.T
	store store.Store
	ids   int
}

// update runs fn in an update, and fails the test if the update fails.
func (h *harness) update(fn func(store.Tx) error) {
	h.Helper()
	assert.NilError(h, h.store.Update(h.Context(), fn), "Update")
}

// view runs fn in a view, and fails the test if the view fails.
func (h *harness) view(fn func(store.Reader) error) {
	h.Helper()
	assert.NilError(h, h.store.View(h.Context(), fn), "View")
}

// refused runs fn in an update that must fail, and returns its error.
func (h *harness) refused(fn func(store.Tx) error) error {
	h.Helper()
	err := h.store.Update(h.Context(), fn)
	assert.Assert(h, err != nil, "Update succeeded, want an error")
	return err
}

// missing checks that an update with fn returns store.ErrNotFound.
func (h *harness) missing(fn func(store.Tx) error) {
	h.Helper()
	assert.Check(h, is.ErrorIs(h.refused(fn), store.ErrNotFound), "error")
}

// read runs fn in a view and returns its result.
func read[T any](h *harness, fn func(store.Reader) (T, error)) T {
	h.Helper()
	var v T
	h.view(func(r store.Reader) (err error) {
		v, err = fn(r)
		return err
	})
	return v
}

// mailboxes returns the ids of an account's mailboxes, in order.
func (h *harness) mailboxes(account string) (ids []string) {
	h.Helper()
	for _, m := range read(h, func(r store.Reader) ([]store.Mailbox, error) {
		items, total, err := r.Mailboxes(account, store.MailboxFilter{}, everything)
		assert.Check(h, err != nil || total == len(items), "total = %d, want %d", total, len(items))
		return items, err
	}) {
		ids = append(ids, m.ID)
	}
	return ids
}

// equal checks that got equals want. The failure begins with what.
func equal[T any](h *harness, what string, got, want T) {
	h.Helper()
	assert.Check(h, reflect.DeepEqual(got, want), "%s:\n got %+v\nwant %+v", what, got, want)
}

// everything is a slice that covers all objects of a test.
var everything = store.Slice{Limit: 10_000}

// epoch is the start time of the tests, with microseconds because stores keep no finer
// time.
var epoch = time.Date(2031, time.May, 4, 12, 30, 15, 123_456_000, time.UTC)

// at returns a time in minutes after epoch.
func at(minutes int) time.Time { return epoch.Add(time.Duration(minutes) * time.Minute) }

// logged returns the ids of the entries that match a filter, in order.
func (h *harness) logged(f store.AuditFilter) (ids []int64) {
	h.Helper()
	h.view(func(r store.Reader) error {
		ids = nil
		return r.EachAuditEntry(f, func(e store.AuditEntry) error {
			ids = append(ids, e.ID)
			return nil
		})
	})
	return ids
}
