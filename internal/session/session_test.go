package session_test

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

func newClient(t *testing.T) (*client.Client, *fakeapi.API) {
	t.Helper()
	f := fakeapi.New()
	c := client.New(client.Options{BaseURL: "https://api.example.com", AccountID: "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e", Transport: f})
	return c, f
}

// TestOpensOnce calls the session from several goroutines at once.
func TestOpensOnce(t *testing.T) {
	t.Parallel()
	want, _ := newClient(t)
	var opened atomic.Int32
	failure := error(&session.OpenError{Reason: "no such file"})
	s := session.New(func(context.Context) (*client.Client, error) {
		opened.Add(1)
		return want, failure
	})
	assert.Check(t, opened.Load() == 0, "it is opened before the first use")
	got, err := s.Client(t.Context())
	assert.Check(t, got == nil && is.Error(err, "no such file")().Success() && opened.Swap(0) == 1, "got %p, %v", got, err)
	failure = nil
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

// TestContexts checks which reads may come from a list: a plan's, unless the session serves several
// walks, and a data source's only after a refresh, which only a plan does.
func TestContexts(t *testing.T) {
	t.Parallel()
	own := t.Context()
	one, several := session.New(nil), session.New(nil)
	several.Walk().Disable()
	shared, uncached := client.WithReads(own, client.Shared), client.WithReads(own, client.Uncached)
	for s, want := range map[*session.Session][2]context.Context{one: {own, shared}, several: {uncached, uncached}} {
		early := [2]context.Context{s.ForDataSource(own), s.ForPlan(own)}
		assert.Check(t, reflect.DeepEqual(early, want) && !s.HasRefreshed(), "%v", early)
		late := [2]context.Context{s.ForRefresh(own), s.ForDataSource(own)}
		assert.Check(t, reflect.DeepEqual(late, [2]context.Context{want[1], want[1]}) && s.HasRefreshed(), "%v", late)
	}
}

// TestAccountCreatedAt reads the account once, only if it is embedded.
func TestAccountCreatedAt(t *testing.T) {
	t.Parallel()
	const created = "2026-03-01T12:00:00Z"
	for failure, want := range map[error]string{nil: created, errors.New("no such file"): ""} {
		c, f := newClient(t)
		f.Refuses = map[string]fakeapi.Response{"get-account": {Status: 200, Body: fakeapi.Object{"id": fakeapi.AccountID, "created_at": created}}}
		s := session.New(func(context.Context) (*client.Client, error) { return c, failure })
		remote := s.AccountCreatedAt(t.Context())
		s.Backend.Embedded = true
		assert.Check(t, remote+s.AccountCreatedAt(t.Context()) == want && s.AccountCreatedAt(t.Context()) == want && f.Count("get-account") == len(want)/20, "%v", failure)
	}
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

// TestNotes checks that a session that serves several walks keeps no notes between them.
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
