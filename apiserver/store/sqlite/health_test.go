package sqlite

import (
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// fails checks that updates and Ping fail with ErrUnavailable and want.
func fails(t *testing.T, s store.Store, want string) {
	t.Helper()
	_, err := create(t.Context(), s, "lost")
	for what, err := range map[string]error{"Update": err, "Ping": s.Ping(t.Context())} {
		assert.Check(t, errors.Is(err, store.ErrUnavailable) && strings.Contains(err.Error(), want), "%s = %v, want ErrUnavailable and %q", what, err, want)
	}
}

func works(t *testing.T, s store.Store, localPart string) {
	t.Helper()
	_, err := create(t.Context(), s, localPart)
	err = errors.Join(err, s.Ping(t.Context()))
	assert.Check(t, err, "the store is not usable")
}

// TestFailedWrites checks that Ping fails after an update that the file rejects, until
// Ping's own trial succeeds.
func TestFailedWrites(t *testing.T) {
	exec := func(pragma string) func(*writer) error {
		return func(w *writer) error { return w.session.exec(pragma) }
	}
	for _, tt := range []struct {
		name        string
		spoil, mend func(*writer) error
		lasting     bool // Ping's own trial fails too
	}{
		{"full", exec(`PRAGMA max_page_count = 1`), exec(`PRAGMA max_page_count = 1000000`), false},
		{"read-only", exec(`PRAGMA query_only = on`), func(*writer) error { return nil }, false}, // until the writer reconnects
		{
			"unopenable",
			func(w *writer) error { w.abandon(); w.path += ".away"; return nil },
			func(w *writer) error { w.path = strings.TrimSuffix(w.path, ".away"); return nil }, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, Options{}, func(t *testing.T, s *Store) {
				idle(t, s)
				assert.NilError(t, tt.spoil(s.engine.writer))
				m := newMailbox(strings.Repeat("x", 1<<16))
				assert.Assert(t, is.ErrorIs(s.Update(t.Context(), func(tx store.Tx) error { return tx.Create(&m) }), store.ErrUnavailable), "Update")
				err := s.View(t.Context(), func(store.Reader) error { return nil })
				assert.Check(t, err, "View")
				_ = s.Update(t.Context(), func(store.Tx) error { return nil })
				assert.Check(t, s.engine.failures.Load() > 0, "the store does not know that it fails")
				err = s.Ping(t.Context())
				assert.Check(t, !tt.lasting || errors.Is(err, store.ErrUnavailable), "Ping = %v, want ErrUnavailable because updates still fail", err)
				if !tt.lasting {
					idle(t, s)
				}
				assert.NilError(t, tt.mend(s.engine.writer))
				err = s.Ping(t.Context())
				assert.Check(t, err == nil, "Ping = %v, want nil because updates succeed again", err)
				works(t, s, "ada")
			})
		})
	}
}
