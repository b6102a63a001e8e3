package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// idleTimeout is how long the server waits for the next statement of an update, so that a
// machine that has lost its network does not keep an account locked.
const idleTimeout = 15 * time.Second

// beginUpdate begins a transaction in which each statement sees what was committed before.
func (o Options) beginUpdate() string {
	return fmt.Sprintf(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = %d; SET LOCAL statement_timeout = %d;
		SET LOCAL idle_in_transaction_session_timeout = %d; `+planSettings,
		milliseconds(o.LockTimeout), milliseconds(o.StatementTimeout), milliseconds(idleTimeout))
}

// Update implements sqlstore.Engine.
func (e *engine) Update(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	end, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if e.opts.ReadOnly {
		return ErrReadOnly
	}
	account := store.AccountOf(ctx)
	leave, err := e.enter(ctx, account)
	if err != nil {
		return err
	}
	defer leave()
	for attempt := 1; ; attempt++ {
		err := e.updateOnce(ctx, account, fn)
		if _, again := errors.AsType[*retryError](err); !again || attempt == attempts {
			return e.note(err)
		}
	}
}

// enter waits until no other update of the account runs in this process: while it waited for
// the account's row, it would keep a connection from other accounts. Accounts that share
// one of the queues only wait for each other.
func (e *engine) enter(ctx context.Context, account string) (leave func(), err error) {
	if account == "" {
		return func() {}, nil
	}
	queue := e.queues[uint64(advisoryKey(account))%uint64(len(e.queues))]
	timeout := time.NewTimer(e.opts.acquireTimeout)
	defer timeout.Stop()
	select {
	case queue <- struct{}{}:
		return func() { <-queue }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timeout.C:
		return nil, unavailable(fmt.Errorf("other updates of the account ran for %s", e.opts.acquireTimeout))
	}
}

// updateOnce runs an update in a transaction that has locked the account, unless that is "".
// An update that has begun is not cancelled.
func (e *engine) updateOnce(ctx context.Context, account string, fn func(context.Context, sqlstore.Querier) error) error {
	c, err := e.acquire(ctx, e.opts.beginUpdate())
	if err != nil {
		return err
	}
	defer c.release() // it closes the connection if fn panics
	ctx = context.WithoutCancel(ctx)
	tx := &updating{transaction: transaction{session: &c.session}, locked: map[string]bool{}}
	if account != "" {
		tx.LockAccount(ctx, account)
	}
	if err = tx.failed; err == nil {
		err = fn(ctx, tx)
	}
	if tx.failed != nil && (err == nil || retryable(tx.failed, tx.conn)) {
		err = tx.failed
	}
	if err == nil && tx.wrote {
		return c.commit()
	}
	_ = c.exec(`ROLLBACK`) // release closes a connection that is still in a transaction
	return tx.explain(err)
}

// commit commits the transaction. The server's response to the commit of a transaction that
// has failed is ROLLBACK.
func (c *connection) commit() error {
	ctx, cancel := context.WithTimeout(context.Background(), c.patience)
	defer cancel()
	tag, err := c.conn.Exec(ctx, `COMMIT`, pgx.QueryExecModeSimpleProtocol)
	if err == nil && tag.String() != "COMMIT" {
		return &retryError{fmt.Errorf("the server ended a transaction with %s", tag)}
	}
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Severity != "ERROR" {
		return unavailable(fmt.Errorf("%w: %w", errUnknownOutcome, err))
	}
	t := &transaction{session: &c.session, failed: err}
	return t.explain(fmt.Errorf("commit: %w", err))
}
