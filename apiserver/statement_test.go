package apiserver_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// failingEngine is an engine in which a statement fails when left has counted down to zero.
type failingEngine struct {
	sqlstore.Engine
	left *atomic.Int64
}

func (e failingEngine) View(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	return e.Engine.View(ctx, func(ctx context.Context, q sqlstore.Querier) error { return fn(ctx, failingQuerier{q, e.left}) })
}

func (e failingEngine) Update(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	return e.Engine.Update(ctx, func(ctx context.Context, q sqlstore.Querier) error { return fn(ctx, failingQuerier{q, e.left}) })
}

type failingQuerier struct {
	sqlstore.Querier
	left *atomic.Int64
}

func (q failingQuerier) fail() error {
	if q.left.Add(-1) == 0 {
		return errors.New("a statement failed")
	}
	return nil
}

func (q failingQuerier) ExecContext(ctx context.Context, query string, args ...any) (int64, error) {
	if err := q.fail(); err != nil {
		return 0, err
	}
	return q.Querier.ExecContext(ctx, query, args...)
}

func (q failingQuerier) ExecLater(ctx context.Context, query string, args ...any) error {
	_, err := q.ExecContext(ctx, query, args...)
	return err
}

func (q failingQuerier) QueryContext(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	if err := q.fail(); err != nil {
		return nil, err
	}
	return q.Querier.QueryContext(ctx, query, args...)
}

// TestEachStatementFails checks that no operation succeeds if one of its statements fails, and
// that it then changes nothing: the calls that follow succeed.
func TestEachStatementFails(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(t, err)
	c := &exampleCalls{recorded: map[string]example{}, left: new(atomic.Int64)}
	c.Server = apitest.New(t, func(o *apiserver.Options) {
		o.Store = db.Wrap(func(e sqlstore.Engine) sqlstore.Engine { return failingEngine{e, c.left} })
	})
	c.all()
}
