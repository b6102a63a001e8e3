package account

import (
	"context"
	"errors"
	"testing"

	"gotest.tools/v3/assert"
)

// TestShares checks that an account waits for its own requests and for no others'.
func TestShares(t *testing.T) {
	s := shares{slots: 2}
	enter := func(ctx context.Context, id string) func() {
		t.Helper()
		leave, err := s.enter(ctx, id)
		assert.NilError(t, err)
		return leave
	}
	first := enter(t.Context(), "busy")
	enter(t.Context(), "busy")
	enter(t.Context(), "other")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.enter(ended, "busy")
	assert.Check(t, errors.Is(err, context.Canceled), "a third request enters: %v", err)
	first()
	enter(t.Context(), "busy")
}
