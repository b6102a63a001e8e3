package postgres_test

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
)

// TestGroup checks that updates which share a transaction fail alone, whatever those before
// them did: an update that succeeds is kept as a whole, one that fails leaves nothing, and
// each reads what the others have written.
func TestGroup(t *testing.T) {
	const account, updates = "a", 50
	s := open(t, postgres.Options{})
	if err := s.Update(t.Context(), func(tx store.Tx) error {
		return tx.CreateAccount(&store.Account{ID: account, CreatedAt: epoch})
	}); err != nil {
		t.Fatal(err)
	}
	ctx := store.InAccount(t.Context(), account)
	failure := errors.New("failure")
	// An update of each kind follows one of each kind.
	kinds := []func(tx store.Tx, name string) error{
		func(tx store.Tx, name string) error { return createWorkspaces(tx, account, name, name+"'") },
		func(tx store.Tx, name string) error {
			return cmp.Or(createWorkspaces(tx, account, name, name+"'"), failure)
		},
		func(store.Tx, string) error { return failure },
		func(tx store.Tx, _ string) error { _, err := tx.Workspace(account, "none"); return err },
		func(tx store.Tx, name string) error { return createWorkspaces(tx, account, name, "taken") },
	}
	if err := s.Update(ctx, func(tx store.Tx) error { return createWorkspaces(tx, account, "taken") }); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	var wg sync.WaitGroup
	errs := make([]error, updates)
	for i := range updates {
		wg.Go(func() {
			errs[i] = s.Update(ctx, func(tx store.Tx) error {
				<-release
				_, before, err := tx.Workspaces(account, store.Within{}, store.Slice{})
				if err != nil {
					return err
				}
				if before%2 != 1 { // each that is kept has created two
					return fmt.Errorf("%d workspaces", before)
				}
				return kinds[(i+i/len(kinds))%len(kinds)](tx, fmt.Sprint(i))
			})
		})
	}
	for s.Waiting(account) < updates-1 {
		runtime.Gosched()
	}
	close(release)
	wg.Wait()
	want := []string{"taken"}
	for i, err := range errs {
		var exists *store.ExistsError
		switch kind := (i + i/len(kinds)) % len(kinds); {
		case kind == 0:
			want = append(want, fmt.Sprint(i), fmt.Sprint(i)+"'")
			if err != nil {
				t.Errorf("update %d: %v", i, err)
			}
		case kind < 3 && err != failure, kind == 3 && !errors.Is(err, store.ErrNotFound), kind == 4 && !errors.As(err, &exists):
			t.Errorf("update %d of kind %d: %v", i, kind, err)
		}
	}
	var got []string
	if err := s.View(t.Context(), func(r store.Reader) error {
		items, _, err := r.Workspaces(account, store.Within{}, store.Slice{Limit: 1000})
		for _, item := range items {
			got = append(got, item.ID)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("workspaces\n%v, want\n%v", got, want)
	}
}

// createWorkspaces creates workspaces whose ids are their names.
func createWorkspaces(tx store.Tx, account string, names ...string) error {
	for _, name := range names {
		if err := tx.CreateWorkspace(&store.Workspace{ID: name, AccountID: account, Name: name, CreatedAt: epoch}); err != nil {
			return err
		}
	}
	return nil
}
