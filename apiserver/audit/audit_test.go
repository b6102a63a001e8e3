package audit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

const account = "11111111-2222-4333-8444-555555555555"

var epoch = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)

// newStore returns a store that attributes its changes to an origin.
func newStore(t *testing.T, from audit.Origin) store.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return audit.NewStore(db, func() time.Time { return epoch }, func(context.Context) audit.Origin { return from })
}

// log returns the audit entries without their ids.
func log(t *testing.T, s store.Store) (entries []store.AuditEntry) {
	t.Helper()
	err := s.View(t.Context(), func(r store.Reader) error {
		return r.EachAuditEntry(store.AuditFilter{}, func(e store.AuditEntry) error {
			e.ID = 0
			entries = append(entries, e)
			return nil
		})
	})
	assert.NilError(t, err)
	return entries
}

func makeAccount(tx store.Tx) error {
	return tx.Create(&store.Account{ID: account, Status: "active", PlanID: "a", CreatedAt: epoch})
}

// TestUnattributedChange checks that a transaction without an origin is rolled back.
func TestUnattributedChange(t *testing.T) {
	s := newStore(t, audit.Origin{Subject: audit.ControlPlane, RequestID: "r"})
	assert.Check(t, is.ErrorIs(s.Update(t.Context(), makeAccount), audit.ErrUnattributed), "Update")
	err := s.View(t.Context(), func(r store.Reader) error {
		_, err := r.Account(account)
		return err
	})
	assert.Check(t, errors.Is(err, store.ErrNotFound), "Account = %v, want ErrNotFound", err)
	err = s.Update(t.Context(), func(store.Tx) error { return nil })
	assert.Check(t, err, "a transaction that changes nothing")
	got := log(t, s)
	assert.Check(t, len(got) == 0, "logged: %+v", got)
}

func TestOrigin(t *testing.T) {
	user := store.AuditSubject{Type: "user", ID: "u", Name: "u@example.org"}
	request := audit.Origin{Operation: "change-plan", Subject: user, RequestID: "r", RemoteAddress: "192.0.2.7", Fields: []string{"plan_id"}}
	recipient := audit.Recipient("joe@example.net")
	for _, tt := range []struct {
		name      string
		from      audit.Origin
		attribute func(store.Tx)
		want      audit.Origin
	}{
		{"a request", request, func(store.Tx) {}, request},
		{"no request", audit.Origin{}, func(tx store.Tx) { audit.Attribute(tx, audit.Operator("jane"), audit.LoadFixture) },
			audit.Origin{Operation: "load-fixture", Subject: audit.Operator("jane")}},
		{"the context has a subject", audit.Origin{Subject: audit.ControlPlane}, func(tx store.Tx) { audit.Attribute(tx, audit.Operator("jane"), audit.SettlePayment, "status") },
			audit.Origin{Operation: "settle-payment", Subject: audit.ControlPlane, Fields: []string{"status"}}},
		{"a page", audit.Origin{RequestID: "r", RemoteAddress: "192.0.2.7"}, func(tx store.Tx) { audit.Attribute(tx, recipient, audit.ConfirmForwarding, "verification_state") },
			audit.Origin{Operation: "confirm-forwarding", Subject: recipient, RequestID: "r", RemoteAddress: "192.0.2.7", Fields: []string{"verification_state"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t, tt.from)
			err := s.Update(t.Context(), func(tx store.Tx) error {
				tt.attribute(tx)
				if err := makeAccount(tx); err != nil {
					return err
				}
				_, err := store.Update(tx, account, account, func(a *store.Account) error { a.PlanID = "b"; return nil })
				return err
			})
			assert.NilError(t, err)
			got := log(t, s)
			assert.Assert(t, len(got) == 1 && len(got[0].Changes) == 2, "logged: %+v", got)
			e := got[0]
			logged := audit.Origin{Operation: e.Operation, Subject: e.Subject, RequestID: e.RequestID, RemoteAddress: e.RemoteAddress, Fields: e.Changes[1].Fields}
			if logged.Operation != tt.want.Operation || logged.Subject != tt.want.Subject || logged.RequestID != tt.want.RequestID ||
				logged.RemoteAddress != tt.want.RemoteAddress || !slices.Equal(logged.Fields, tt.want.Fields) {
				t.Errorf("logged %+v, want %+v", logged, tt.want)
			}
			assert.Check(t, e.AccountID == account && e.CreatedAt.Equal(epoch) && e.Changes[0].Fields == nil, "logged %+v", e)
		})
	}
}

// TestOperations checks that each operation's name is unique.
func TestOperations(t *testing.T) {
	names := audit.Operations()
	for i, name := range names {
		assert.Check(t, name != "" && !slices.Contains(names[:i], name), "the name %q is empty or not unique: %q", name, names)
	}
	for _, want := range []string{"create-mailbox", string(audit.EnsureAccount), string(audit.Reset)} {
		assert.Check(t, slices.Contains(names, want), "%q is not among %q", want, names)
	}
	assert.Check(t, !slices.Contains(names, "list-mailboxes"), "a read operation is among %q", names)
}
