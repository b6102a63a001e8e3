package apiserver

import (
	"errors"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// A transaction that nobody answers for is undone: whoever adds one must say
// whose it is.
func TestUnattributedChange(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	const id = "11111111-2222-4333-8444-555555555555"
	change := func(tx store.Tx) error { return createAccount(tx, newAccount(id, s.now()), nil) }
	if err := s.store.Update(t.Context(), change); !errors.Is(err, errUnattributed) {
		t.Errorf("Update = %v, want errUnattributed", err)
	}
	if accounts, err := s.Accounts(t.Context()); err != nil || len(accounts) > 0 {
		t.Errorf("the accounts are %v, error %v", accounts, err)
	}
	if err := s.store.Update(t.Context(), func(tx store.Tx) error {
		attribute(tx, operator, AuditEnsureAccount)
		return change(tx)
	}); err != nil {
		t.Error(err)
	}
	if err := s.store.Update(t.Context(), func(store.Tx) error { return nil }); err != nil {
		t.Errorf("a transaction that changes nothing: %v", err)
	}
}
