package session_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

func newClient(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{BaseURL: "https://api.example.com", AccountID: "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"})
	assert.NilError(t, err)
	return c
}

// TestOpensOnce calls the session from several goroutines at once.
func TestOpensOnce(t *testing.T) {
	t.Parallel()
	want := newClient(t)
	var opened atomic.Int32
	s := session.New(func(context.Context) (*client.Client, error) {
		opened.Add(1)
		return want, nil
	})
	assert.Check(t, opened.Load() == 0, "it is opened before the first use")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			got, err := s.Client(t.Context())
			assert.Check(t, got == want && err == nil, "got %p, %v", got, err)
		})
	}
	wg.Wait()
	n := opened.Load()
	assert.Check(t, n == 1, "opened %d times", n)
}

// TestClose runs every registered cleanup once, and returns every error.
func TestClose(t *testing.T) {
	t.Parallel()
	s := session.New(nil)
	var cleared atomic.Int32
	failures := []error{errors.New("one"), errors.New("two"), nil}
	for i, failure := range failures {
		s.AddCleanup(string(rune('a'+i)), func(context.Context) error {
			cleared.Add(1)
			return failure
		})
	}
	s.AddCleanup("removed", func(context.Context) error {
		t.Error("a removed cleanup was run")
		return nil
	})
	s.RemoveCleanup("removed")
	s.RemoveCleanup("never added")
	err := s.Close(t.Context())
	n := int(cleared.Load())
	assert.Check(t, n == len(failures) && errors.Is(err, failures[0]) && errors.Is(err, failures[1]), "cleared %d: %v", n, err)
	err = s.Close(t.Context())
	assert.Check(t, err == nil && int(cleared.Load()) == len(failures), "a second end cleared %d: %v", cleared.Load(), err)
}

// TestNotes checks that a session that serves several walks keeps nothing from one to the next.
func TestNotes(t *testing.T) {
	t.Parallel()
	one, several := session.New(nil), session.New(nil)
	several.Walk().Disable()
	for s, isKept := range map[*session.Session]bool{one: true, several: false} {
		s.Notes().Store("key", "value")
		_, ok := s.Notes().Load("key")
		assert.Check(t, ok == isKept, "the note is kept: %t, want %t", ok, isKept)
	}
}
