package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// TestSharedTransactions checks that updates of an account that wait at the same time share a
// transaction, and that each returns its own result: an update that panics or fails, before or after
// a write, leaves no trace and does not disturb the others.
func TestSharedTransactions(t *testing.T) {
	t.Parallel()
	s := open(t, postgres.Options{})
	// commits returns how many transactions wrote the existing workspaces.
	commits := func() (n int) {
		s.Wrap(func(e sqlstore.Engine) sqlstore.Engine {
			assert.NilError(t, e.View(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
				rows, err := q.QueryContext(ctx, `SELECT COUNT(DISTINCT xmin::text) FROM workspaces`)
				if err == nil && rows.Next() {
					err = rows.Scan(&n)
				}
				return errors.Join(err, rows.Close())
			}))
			return e
		})
		return n
	}
	const account = "account"
	assert.NilError(t, s.Update(t.Context(), func(tx store.Tx) error { return tx.Create(&store.Account{ID: account, CreatedAt: epoch}) }))
	ctx := store.InAccount(t.Context(), account)
	refused, thrown := errors.New("refused"), errors.New("thrown")
	add := func(tx store.Tx, name string) error {
		return tx.Create(&store.Workspace{ID: name, AccountID: account, Name: name, CreatedAt: epoch})
	}
	kinds := map[string]struct {
		run  func(tx store.Tx, name string) error
		want error
	}{
		"kept":     {add, nil},
		"early":    {func(store.Tx, string) error { return refused }, refused},
		"late":     {func(tx store.Tx, name string) error { return errors.Join(add(tx, name), refused) }, refused},
		"panicked": {func(tx store.Tx, name string) error { panic(errors.Join(add(tx, name), thrown)) }, thrown},
	}
	var want []string
	// round runs updates while another update holds the account, and returns the number of committed
	// transactions.
	round := func(number int, names ...string) int {
		before := commits()
		var wg sync.WaitGroup
		start := func() {
			for i, kind := range names {
				name := fmt.Sprint(kind, number, "-", i)
				if kind == "kept" {
					want = append(want, name)
				}
				wg.Go(func() {
					defer func() {
						err, ok := recover().(error)
						assert.Check(t, !ok || errors.Is(err, kinds[kind].want), "%s panicked with %v", name, err)
					}()
					assert.Check(t, is.ErrorIs(s.Update(ctx, func(tx store.Tx) error { return kinds[kind].run(tx, name) }), kinds[kind].want), name)
				})
			}
			runtime.Gosched()
		}
		first, once := fmt.Sprint("first", number), sync.Once{}
		want = append(want, first)
		err := s.Update(ctx, func(tx store.Tx) error {
			once.Do(start)
			return add(tx, first)
		})
		assert.Check(t, err)
		wg.Wait()
		return commits() - before
	}
	round(0, "kept", "early", "kept", "late", "kept", "panicked", "kept", "kept", "early")
	shared := false
	for number := 1; number < 200 && !shared; number++ {
		shared = round(number, "kept", "early", "kept", "kept") < 4
	}
	assert.Check(t, shared, "each update had a transaction of its own")
	var got []string
	err := s.View(t.Context(), func(r store.Reader) error {
		workspaces, _, err := r.Workspaces(account, store.Within{}, store.Slice{Limit: 10_000})
		for i, w := range workspaces {
			got = append(got, w.ID)
			assert.Check(t, i <= 0 || w.CreatedAt.After(workspaces[i-1].CreatedAt), "%s was not created after the one before", w.ID)
		}
		return err
	})
	assert.NilError(t, err)
	slices.Sort(got)
	slices.Sort(want)
	assert.Check(t, slices.Equal(got, want), "the workspaces are %q, want %q", got, want)
}
