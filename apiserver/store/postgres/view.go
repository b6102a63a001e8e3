package postgres

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// beginView begins one snapshot. Its reader may wait for a slow client between statements.
const beginView = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0`

// View implements sqlstore.Engine.
func (e *engine) View(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	select {
	case e.viewing <- struct{}{}:
		defer func() { <-e.viewing }()
		return e.viewNow(ctx, fn)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// viewNow is View on one of the connections that are left for updates.
func (e *engine) viewNow(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	end, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	c, err := e.acquire(ctx, beginView, "", e.opts.acquireTimeout)
	if err != nil {
		return err
	}
	defer func() { // also if fn panics
		_ = c.exec(`ROLLBACK`) // release closes a connection that is still in a transaction
		c.release()
	}()
	t := &transaction{session: &c.session}
	err = fn(ctx, t)
	if err == nil {
		err = t.failed
	}
	return t.explain(err)
}
