package account

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
)

// TestShares checks that an account waits only for its own requests.
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
	rules := New(Dependencies{Random: random.New(nil), PasswordCost: PasswordCost{MemoryKiB: 8, Passes: 1}})
	synctest.Test(t, func(t *testing.T) {
		var leave func()
		for range hashesAtOnce {
			leave, err = rules.hashing.enter(t.Context(), "busy")
			assert.NilError(t, err)
		}
		hashed := make(chan error, 1)
		go func() { _, err := rules.hash(t.Context(), "busy", "secret"); hashed <- err }()
		_, err := rules.hash(t.Context(), "other", "secret")
		assert.NilError(t, err, "a master password waits for those of another account")
		synctest.Wait()
		assert.Check(t, len(hashed) == 0, "an account has more than its share of the hashes")
		leave()
		assert.NilError(t, <-hashed)
	})
}
