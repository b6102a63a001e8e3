package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// planSettings make prepared statements use generic plans: each is one index lookup, even if its
// table was small when it was planned, and planning or starting workers costs more than running it.
const planSettings = `; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off`

// textSettings make the server read statements and write the definitions of objects in one way, whatever the database,
// the user or the URL sets.
const textSettings = `; SET LOCAL quote_all_identifiers = off; SET LOCAL standard_conforming_strings = on; SET LOCAL transform_null_equals = off`

// settings returns the statements that follow BEGIN. Direct connections run them once instead.
func (o Options) settings() string {
	return fmt.Sprintf(`; SET LOCAL lock_timeout = %d; SET LOCAL statement_timeout = %d`, milliseconds(o.LockTimeout), milliseconds(statementTimeout)) + textSettings + planSettings
}

// transaction is the sqlstore.Querier of one View or Update, on a connection of the pool.
type transaction struct {
	pooled *pgxpool.Conn
	conn   *pgx.Conn
	// begun is the result of the last statement of begin's script.
	begun pgconn.CommandTag
	// patience limits the wait for the result of a statement. It is longer than the server's timeout.
	patience time.Duration
	// failed is the first error of a statement. The server runs no statement after it.
	failed error
	// wrote means that a statement ran that may have changed rows.
	wrote bool
	// outdated means that the connection is not used again, see isOutdated.
	outdated bool
	// locked holds the accounts that an update locked. listLocked means that it locked their list.
	locked     map[string]bool
	listLocked bool
}

var _ sqlstore.Querier = (*transaction)(nil)

// exec runs a script without arguments.
func (t *transaction) exec(script string) error {
	_, err := t.execWithin(t.patience, script)
	return err
}

// execWithin is exec with another timeout. A timeout closes the connection.
func (t *transaction) execWithin(timeout time.Duration, script string) (pgconn.CommandTag, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return t.conn.Exec(ctx, script, pgx.QueryExecModeSimpleProtocol)
}

// ExecContext implements sqlstore.Querier.
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (int64, error) {
	t.wrote = true
	if strings.Contains(query, ";") { // a script
		err := t.exec(query)
		t.fail(err)
		return 0, err
	}
	return t.run(ctx, query, args...)
}

// run runs a statement and returns the number of changed or selected rows.
func (t *transaction) run(ctx context.Context, query string, args ...any) (int64, error) {
	limit, cancel, err := t.prepare(ctx, query)
	defer cancel()
	if err != nil {
		return 0, err
	}
	tag, err := t.conn.Exec(limit, query, args...)
	t.fail(err)
	return tag.RowsAffected(), err
}

// QueryContext implements sqlstore.Querier.
func (t *transaction) QueryContext(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	t.wrote = t.wrote || strings.Contains(query, "RETURNING")
	limit, cancel, err := t.prepare(ctx, query)
	if err != nil {
		cancel()
		return nil, err
	}
	found, err := t.conn.Query(limit, query, args...)
	r := &rows{found, t, cancel}
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// prepare prepares a statement on a direct connection, and returns the context to run it with. Statements
// are not interrupted, because an interruption makes the connection unusable.
func (t *transaction) prepare(ctx context.Context, query string) (limit context.Context, cancel context.CancelFunc, err error) {
	limit, cancel = context.WithTimeout(context.WithoutCancel(ctx), t.patience)
	if err = cmp.Or(t.failed, ctx.Err()); err == nil && isDirect(t.conn) {
		_, err = t.conn.Prepare(limit, query, query)
		t.fail(err)
	}
	return limit, cancel, err
}

// fail records the first error of a statement, and whether the connection is outdated.
func (t *transaction) fail(err error) {
	if t.failed == nil {
		t.failed = err
	}
	t.outdated = t.outdated || isOutdated(err)
}

// commit commits the transaction. The server's response to the commit of a failed transaction is
// ROLLBACK.
func (t *transaction) commit() error {
	if t.failed != nil {
		return t.explain(t.failed)
	}
	tag, err := t.execWithin(t.patience, `COMMIT`)
	t.fail(err)
	if err == nil && tag.String() != "COMMIT" {
		return &retryError{fmt.Errorf("the server ended a transaction with %s", tag)}
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); err != nil && (!ok || e.Severity != "ERROR") {
		return unavailable(fmt.Errorf("%w: %w", errUnknownOutcome, err))
	}
	return t.explain(err)
}

// beginView begins one snapshot. The reader may wait for a slow client between statements.
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

// viewNow is View that may also use the connections left for updates.
func (e *engine) viewNow(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	t, err := e.begin(ctx, beginView, "", acquireTimeout)
	if err != nil {
		return err
	}
	defer func() { // also if fn panics
		_ = t.exec(`ROLLBACK`) // release closes a connection that is still in a transaction
		t.release()
	}()
	err = fn(ctx, t)
	if err == nil {
		err = t.failed
	}
	return t.explain(err)
}

// rows are the sqlstore.Rows of a statement.
type rows struct {
	pgx.Rows
	transaction *transaction
	cancel      context.CancelFunc
}

// Close implements sqlstore.Rows. The error is in Err.
func (r *rows) Close() error {
	r.Rows.Close()
	r.transaction.fail(r.Err())
	r.cancel()
	return nil
}
