package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

const (
	connectTimeout   = 5 * time.Second
	migrationTimeout = time.Hour
	// attempts limits the runs of an update that can be retried.
	attempts = 5
)

// begin returns a new transaction, which it begins with the script begin, the settings, then. It
// replaces a lost connection, because a restart of the server ends all idle connections.
func (e *engine) begin(ctx context.Context, begin, then string, timeout time.Duration) (*transaction, error) {
	for attempt := 1; ; attempt++ {
		t, err := e.connect(ctx)
		if err != nil {
			return nil, err
		}
		script := begin + e.opts.settings() + then
		if isDirect(t.conn) {
			script = begin + then
		}
		if t.begun, err = t.execWithin(timeout, script); err == nil {
			return t, nil
		}
		lost := t.conn.IsClosed()
		t.release()
		if !lost || attempt == attempts {
			return nil, unavailable(fmt.Errorf("begin a transaction: %w", err))
		}
		e.pool.Reset()
		if pgconn.Timeout(err) { // another connection would wait as long
			return nil, unavailable(fmt.Errorf("begin a transaction: no response in %s; a pooler may have too few connections: %w", timeout, err))
		}
	}
}

// connect returns a transaction on a connection of the pool, before its BEGIN.
func (e *engine) connect(ctx context.Context) (*transaction, error) {
	limit, cancel := context.WithTimeout(ctx, acquireTimeout)
	defer cancel()
	pooled, err := e.pool.Acquire(limit)
	switch {
	case err == nil:
	case e.closed.Load():
		return nil, store.ErrClosed
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded) && e.pool.Stat().AcquiredConns() >= e.pool.Stat().MaxConns():
		return nil, unavailable(fmt.Errorf("none of the %d connections was free for %s", e.pool.Stat().MaxConns(), acquireTimeout))
	default:
		return nil, unavailable(err)
	}
	return &transaction{pooled: pooled, conn: pooled.Conn(), patience: statementTimeout + connectTimeout}, nil
}

// release returns the connection to the pool, which closes a connection in a transaction.
func (t *transaction) release() {
	if t.outdated {
		_ = t.conn.Close(context.Background())
	}
	t.pooled.Release()
}

// milliseconds returns a timeout in the unit of the server's settings. 0 would mean no timeout.
func milliseconds(d time.Duration) int64 { return max(d.Milliseconds(), 1) }
