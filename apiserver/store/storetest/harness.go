package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
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

// update runs fn in an update, and fails the test if that fails.
func (h *harness) update(fn func(store.Tx) error) {
	h.Helper()
	assert.NilError(h, h.store.Update(h.Context(), fn), "Update")
}

// view runs fn in a view, and fails the test if that fails.
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

// exists checks that fn returns an *store.ExistsError with an id.
func (h *harness) exists(id string, fn func(store.Tx) error) {
	h.Helper()
	var exists *store.ExistsError
	if err := h.refused(fn); !errors.As(err, &exists) {
		h.Errorf("error = %v, want an ExistsError", err)
	} else if exists.ID != id {
		h.Errorf("exists as %s, want %s", exists.ID, id)
	}
}

// missing checks that fn returns store.ErrNotFound.
func (h *harness) missing(fn func(store.Tx) error) {
	h.Helper()
	assert.Check(h, is.ErrorIs(h.refused(fn), store.ErrNotFound), "error")
}

// replaceWith returns a change that replaces an object with v.
func replaceWith[T any](v T) func(*T) error {
	return func(have *T) error {
		*have = v
		return nil
	}
}

// fixed checks that an update of an immutable field fails.
func (h *harness) fixed(fn func(store.Tx) error) {
	h.Helper()
	var exists *store.ExistsError
	err := h.refused(fn)
	assert.Check(h, !errors.Is(err, store.ErrNotFound) && !errors.As(err, &exists), "error = %v", err)
}

// observed runs fn in an update and returns the changes that it reports.
func (h *harness) observed(fn func(store.Tx) error) (changes []store.Change) {
	h.Helper()
	h.update(func(tx store.Tx) error {
		changes = nil
		tx.Observe(func(c store.Change) { changes = append(changes, c) })
		return fn(tx)
	})
	return changes
}

// read returns what fn reads in a view.
func read[T any](h *harness, fn func(store.Reader) (T, error)) T {
	h.Helper()
	var v T
	h.view(func(r store.Reader) (err error) {
		v, err = fn(r)
		return err
	})
	return v
}

// absent checks that fn returns store.ErrNotFound.
func absent[T any](h *harness, fn func(store.Reader) (T, error)) {
	h.Helper()
	err := h.store.View(h.Context(), func(r store.Reader) error {
		_, err := fn(r)
		return err
	})
	assert.Check(h, errors.Is(err, store.ErrNotFound), "error = %v, want ErrNotFound", err)
}

// equal checks a value.
func equal[T any](h *harness, what string, got, want T) {
	h.Helper()
	assert.Check(h, reflect.DeepEqual(got, want), "%s:\n got %+v\nwant %+v", what, got, want)
}

// everything is a slice that covers all objects of a test.
var everything = store.Slice{Limit: 10_000}

// lister reads a slice of a list.
type lister[T any] func(store.Reader, store.Slice) ([]T, int, error)

// filtered returns the listers of a method with a filter.
func filtered[T, F any](method func(store.Reader, string, F, store.Slice) ([]T, int, error)) func(account string, f F) lister[T] {
	return func(account string, f F) lister[T] {
		return func(r store.Reader, s store.Slice) ([]T, int, error) { return method(r, account, f, s) }
	}
}

// unfiltered returns the listers of a method without a filter.
func unfiltered[T any](method func(store.Reader, string, store.Slice) ([]T, int, error)) func(account string) lister[T] {
	return func(account string) lister[T] {
		return func(r store.Reader, s store.Slice) ([]T, int, error) { return method(r, account, s) }
	}
}

var (
	dedicatedIPs    = filtered(store.Reader.DedicatedIPs)
	dnsRecords      = filtered(store.Reader.DNSRecords)
	domains         = filtered(store.Reader.Domains)
	forwardingRules = filtered(store.Reader.ForwardingRules)
	mailboxes       = filtered(store.Reader.Mailboxes)
	masterPasswords = filtered(store.Reader.MasterPasswords)
	workspaces      = filtered(store.Reader.Workspaces)
)

// of returns the call of a method that reads one object.
func of[T, K any](method func(store.Reader, string, K) (T, error), account string, id K) func(store.Reader) (T, error) {
	return func(r store.Reader) (T, error) { return method(r, account, id) }
}

// listed returns a whole list.
func listed[T any](h *harness, list lister[T]) []T {
	h.Helper()
	return read(h, func(r store.Reader) ([]T, error) {
		items, total, err := list(r, everything)
		assert.Check(h, err != nil || total == len(items), "total = %d, want %d", total, len(items))
		return items, err
	})
}

// lists checks the objects of a list and their order, and that its pages have the same
// objects and the right total.
func lists[T any](h *harness, what string, list lister[T], want ...string) {
	h.Helper()
	if got := idsOf(listed(h, list)); !slices.Equal(got, want) {
		h.Errorf("%s: got %q, want %q", what, got, want)
		return
	}
	for size := range 3 {
		h.pages(what, size, len(want), func(r store.Reader, s store.Slice) ([]string, int, error) {
			items, total, err := list(r, s)
			return idsOf(items), total, err
		}, want)
	}
}

func (h *harness) pages(what string, size, count int, list lister[string], want []string) {
	h.Helper()
	for offset := 0; offset <= count+size; offset += max(size, 1) {
		h.view(func(r store.Reader) error {
			got, total, err := list(r, store.Slice{Offset: offset, Limit: size})
			if err != nil {
				return err
			}
			part := want[min(offset, count):min(offset+size, count)]
			assert.Check(h, slices.Equal(got, part) && total == count, "%s: %d from %d: got %q of %d, want %q of %d", what, size, offset, got, total, part, count)
			return nil
		})
	}
}

// idOf returns the id of an object as text.
func idOf[T any](v T) string { return fmt.Sprint(field(&v, "ID").Interface()) }

func idsOf[T any](items []T) []string {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = idOf(item)
	}
	return ids
}

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
