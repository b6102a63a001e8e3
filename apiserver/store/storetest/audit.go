package storetest

import (
	"errors"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

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

// enter adds an entry, the newest, and returns its id.
func (h *harness) enter(e store.AuditEntry) int64 {
	h.Helper()
	h.update(func(tx store.Tx) error { return tx.AddAuditEntry(&e) })
	ids := h.logged(store.AuditFilter{AccountID: e.AccountID})
	return ids[len(ids)-1]
}

func testAudit(h *harness) {
	account := h.id() // the log does not require it to exist
	full := store.AuditEntry{
		AccountID: account, CreatedAt: epoch, Operation: "update-mailbox", RequestID: "r-1", RemoteAddress: "192.0.2.1",
		Subject: store.AuditSubject{Type: "user", ID: "u", Name: "Ünïcode <a@b>"},
		Changes: []store.AuditChange{
			{Action: store.AuditUpdated, Type: "mailbox", ID: h.id(), Name: "ada@a.example", Fields: []string{"first_name", "last_name"}},
			{Action: store.AuditDeleted, Type: "workspace", ID: h.id(), Name: `quote " and \ and` + "\n<line>"},
			{Action: store.AuditCreated, Type: "account", ID: account},
		},
	}
	bare := store.AuditEntry{AccountID: account, CreatedAt: at(-60), Operation: "reset"}
	h.update(func(tx store.Tx) error { return errors.Join(tx.AddAuditEntry(&full), tx.AddAuditEntry(&bare)) })
	var got []store.AuditEntry
	h.view(func(r store.Reader) error {
		got = nil
		return r.EachAuditEntry(store.AuditFilter{}, func(e store.AuditEntry) error {
			got = append(got, e)
			return nil
		})
	})
	assert.Assert(h, len(got) == 2 && got[0].ID != 0 && got[1].ID > got[0].ID, "entries %v", got)
	full.ID, bare.ID = got[0].ID, got[1].ID
	bare.CreatedAt = epoch.Add(time.Microsecond) // just after the one before
	equal(h, "entries", got, []store.AuditEntry{full, bare})

	failure := errors.New("failure")
	_ = h.refused(func(tx store.Tx) error {
		return errors.Join(tx.AddAuditEntry(&store.AuditEntry{AccountID: account, CreatedAt: epoch, Operation: "x"}), failure)
	})
	equal(h, "after an update that was undone", h.logged(store.AuditFilter{}), []int64{full.ID, bare.ID})
	err := h.store.View(h.Context(), func(r store.Reader) error {
		return r.EachAuditEntry(store.AuditFilter{}, func(store.AuditEntry) error { return failure })
	})
	assert.Check(h, err == failure, "View = %v, want fn's error unchanged", err)
}

func testAuditFilter(h *harness) {
	account, other := h.id(), h.id()
	mailbox := store.AuditChange{Action: store.AuditCreated, Type: "mailbox", ID: h.id(), Name: "ada_1@a.example"}
	second := store.AuditChange{Action: store.AuditUpdated, Type: "mailbox", ID: h.id(), Name: `"name":"evil"`, Fields: []string{"first_name"}}
	ci := store.AuditSubject{Type: "service_account", ID: "s", Name: "ci"}
	a := h.enter(store.AuditEntry{AccountID: account, CreatedAt: at(0), Operation: "create-mailbox", RequestID: "r-1", Subject: ci, Changes: []store.AuditChange{mailbox}})
	b := h.enter(store.AuditEntry{AccountID: other, CreatedAt: at(1), Operation: "create-mailbox", RequestID: "r-2", Subject: store.AuditSubject{Type: "user", ID: "ci"}})
	c := h.enter(store.AuditEntry{AccountID: account, CreatedAt: at(2), Operation: "update-mailbox", RequestID: "r-3", Subject: ci, Changes: []store.AuditChange{second, mailbox}})
	for _, tt := range []struct {
		what   string
		filter store.AuditFilter
		want   []int64
	}{
		{"all", store.AuditFilter{}, []int64{a, b, c}},
		{"account", store.AuditFilter{AccountID: account}, []int64{a, c}},
		{"no account", store.AuditFilter{AccountID: h.id()}, nil},
		{"since", store.AuditFilter{Since: at(1)}, []int64{b, c}},
		{"until", store.AuditFilter{Until: at(1)}, []int64{a}},
		{"since and until", store.AuditFilter{Since: at(1), Until: at(2)}, []int64{b}},
		{"operation", store.AuditFilter{Operation: "create-mailbox"}, []int64{a, b}},
		{"request", store.AuditFilter{RequestID: "r-3"}, []int64{c}},
		{"subject", store.AuditFilter{Subject: "s"}, []int64{a, c}},
		{"subject by name", store.AuditFilter{Subject: "ci"}, []int64{a, b, c}},
		{"object", store.AuditFilter{Object: second.ID}, []int64{c}},
		{"object by name", store.AuditFilter{Object: mailbox.Name}, []int64{a, c}},
		{"object by its name in capitals", store.AuditFilter{Object: "ADA_1@A.EXAMPLE"}, []int64{a, c}},
		{"object by a part of its name", store.AuditFilter{Object: "ada"}, nil},
		{"object by a pattern", store.AuditFilter{Object: "adax1@a.example"}, nil},
		{"object with quotes", store.AuditFilter{Object: second.Name}, []int64{c}},
		{"what only looks like a name", store.AuditFilter{Object: "evil"}, nil},
		{"a field is no object", store.AuditFilter{Object: "first_name"}, nil},
		{"newest", store.AuditFilter{Limit: 2}, []int64{b, c}},
		{"more than there are", store.AuditFilter{Limit: 3}, []int64{a, b, c}},
		{"newest of an account", store.AuditFilter{AccountID: account, Limit: 1}, []int64{c}},
		{"together", store.AuditFilter{AccountID: account, Operation: "create-mailbox", Subject: "ci", Object: mailbox.ID, Until: at(2), Limit: 5}, []int64{a}},
	} {
		equal(h, tt.what, h.logged(tt.filter), tt.want)
	}
	// More than an implementation may hold in memory, with equal times.
	many := h.id()
	h.update(func(tx store.Tx) error {
		for range 120 {
			if err := tx.AddAuditEntry(&store.AuditEntry{AccountID: many, CreatedAt: at(3), Operation: "x"}); err != nil {
				return err
			}
		}
		return nil
	})
	all := h.logged(store.AuditFilter{AccountID: many})
	equal(h, "entries", len(all), 120)
	equal(h, "newest of many", h.logged(store.AuditFilter{Limit: 100}), all[20:])
	h.update(func(tx store.Tx) error { _, err := tx.DeleteAuditEntries(many, at(9), 120); return err })
	for _, tt := range []struct {
		account string
		n       int
		left    []int64
	}{{h.id(), 9, []int64{a, b, c}}, {other, 9, []int64{a, c}}, {"", 0, []int64{a, c}}, {"", 1, []int64{c}}, {"", 9, []int64{c}}} {
		left := len(h.logged(store.AuditFilter{}))
		h.update(func(tx store.Tx) error {
			deleted, err := tx.DeleteAuditEntries(tt.account, at(2), tt.n)
			if err == nil {
				equal(h, "deleted entries", deleted, left-len(tt.left))
			}
			return err
		})
		equal(h, "entries that are left", h.logged(store.AuditFilter{}), tt.left)
	}
}
