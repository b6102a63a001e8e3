package sqlite

import (
	"context"
	"errors"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

var errInjected = errors.New("an injected error")

// failing is a Querier whose nth statement fails: it does not run, or its rows end with an error.
type failing struct {
	sqlstore.Querier
	n, ran int
	inRows bool
}

func (f *failing) fails() bool {
	f.ran++
	return f.ran == f.n
}

func (f *failing) ExecContext(ctx context.Context, query string, args ...any) (int64, error) {
	if f.fails() {
		return 0, errInjected
	}
	return f.Querier.ExecContext(ctx, query, args...)
}

func (f *failing) ExecLater(ctx context.Context, query string, args ...any) error {
	_, err := f.ExecContext(ctx, query, args...)
	return err
}

func (f *failing) QueryContext(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	if fails := f.fails(); fails && !f.inRows {
		return nil, errInjected
	} else if fails {
		return failedRows{}, nil
	}
	return f.Querier.QueryContext(ctx, query, args...)
}

type failedRows struct{ sqlstore.Rows }

func (failedRows) Next() bool   { return false }
func (failedRows) Err() error   { return errInjected }
func (failedRows) Close() error { return nil }

// TestDatabaseErrors checks that package sqlstore loses no error of a statement.
func TestDatabaseErrors(t *testing.T) {
	for _, inRows := range []bool{false, true} {
		s := openStore(t, Memory, Options{})
		undo := errors.New("undo")
		storetest.DatabaseErrors(t, s, func(n int, fn func(store.Tx) error) (failed bool, result error) {
			err := s.engine.Update(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
				f := &failing{Querier: q, n: n, inRows: inRows}
				result = sqlstore.New(within{f}, dialect{}).Update(ctx, fn)
				failed = f.ran >= n
				return undo
			})
			if err != undo {
				t.Fatal(err)
			}
			if failed && !errors.Is(result, errInjected) {
				result = nil // another error, such as ErrNotFound, hides it
			}
			return failed, result
		})
	}
}
