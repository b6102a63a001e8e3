package apiserver

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// No answer is left that a key from before a reset could belong to.
func TestResetForgetsDeliveries(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s.delivered.add([]byte{1})
	if err := s.Reset(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if keys := s.delivered.list(); len(keys) > 0 {
		t.Errorf("%d keys are left", len(keys))
	}
}
