package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// expiring is a context that expires after the first question for its error.
type expiring struct {
	context.Context
	asked bool
}

func (c *expiring) Err() error {
	if c.asked {
		return context.DeadlineExceeded
	}
	c.asked = true
	return nil
}

// TestCheckPagesWithinTime checks that a check which takes too long is not taken for damage.
func TestCheckPagesWithinTime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mailhost.db")
	s, err := Open(t.Context(), path, Options{unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := CheckPages(&expiring{Context: ended}, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
