package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// planSettings keep the plans of prepared statements: planning takes longer than most
// statements run. Each is a search in an index, also where the plan was made while a table
// was small. Starting workers would take longer than any of them.
const planSettings = `; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off`

// settings returns what each transaction sets after BEGIN, unless its connection has done so
// before.
func (o Options) settings() string {
	return fmt.Sprintf(`; SET LOCAL lock_timeout = %d; SET LOCAL statement_timeout = %d`, milliseconds(o.LockTimeout), milliseconds(o.StatementTimeout)) + planSettings
}

// session is a connection while a transaction runs on it.
type session struct {
	conn *pgx.Conn
	mode pgx.QueryExecMode
	// patience is how long to wait for the result of a statement: longer than the server
	// lets it run.
	patience time.Duration
	// outdated means that the connection is not used again, see isOutdated.
	outdated bool
}

// exec runs a script without arguments.
func (s *session) exec(script string) error {
	_, err := s.execWithin(s.patience, script)
	return err
}

// execWithin is exec with a timeout of its own. A timeout closes the connection.
func (s *session) execWithin(timeout time.Duration, script string) (pgconn.CommandTag, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return s.conn.Exec(ctx, script, pgx.QueryExecModeSimpleProtocol)
}

// transaction is the sqlstore.Querier of one View or Update.
type transaction struct {
	*session
	// failed is the first error of a statement. The server runs no statement after it.
	failed error
	// wrote means that a statement ran which may have changed something.
	wrote bool
}

var _ sqlstore.Querier = (*transaction)(nil)

// ExecContext implements sqlstore.Querier.
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (int64, error) {
	values, err := t.begin(ctx, args)
	if err != nil {
		return 0, err
	}
	t.wrote = true
	if len(args) == 0 { // it may be a script
		t.fail(t.exec(query))
		return 0, t.failed
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.patience)
	defer cancel()
	tag, err := t.conn.Exec(limit, query, append([]any{t.mode}, values...)...)
	t.fail(err)
	return tag.RowsAffected(), err
}

// binaryFormat requests each column in its binary format.
var binaryFormat = pgx.QueryResultFormats{1}

// QueryContext implements sqlstore.Querier.
func (t *transaction) QueryContext(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	values, err := t.begin(ctx, args)
	if err != nil {
		return nil, err
	}
	t.wrote = t.wrote || strings.Contains(query, "RETURNING")
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.patience)
	found, err := t.conn.Query(limit, query, append([]any{t.mode, binaryFormat}, values...)...)
	if err != nil {
		cancel()
		t.fail(err)
		return nil, err
	}
	return &rows{found, t, cancel}, nil
}

// begin checks the context before each statement and returns the statement's arguments as pgx
// takes them. Statements are not interrupted: the connection could not be used any more.
func (t *transaction) begin(ctx context.Context, args []any) (values []any, err error) {
	if t.failed != nil {
		return nil, t.failed
	}
	for i, arg := range args {
		v, err := argument(arg)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
		values = append(values, v)
	}
	return values, ctx.Err()
}

// fail keeps the first error of a statement. An outdated connection is not used again.
func (t *transaction) fail(err error) {
	if t.failed == nil {
		t.failed = err
	}
	t.outdated = t.outdated || isOutdated(err)
}
