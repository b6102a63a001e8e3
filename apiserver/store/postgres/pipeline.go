package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// An update sends its writes together with its next query, or at its end: a round trip takes
// longer than most statements. It continues as if each had changed its row, and runs again
// without deferring any if one has not.

// maxDeferred is the most statements that wait to be sent.
const maxDeferred = 256

// statement is a statement with the arguments that pgx takes.
type statement struct {
	text string
	args []any
}

// errUnexpected means that a deferred statement has not changed one row.
var errUnexpected = errors.New("a statement has not changed one row")

var _ sqlstore.Deferrer = (*updating)(nil)

// Defer implements sqlstore.Deferrer.
func (u *updating) Defer(ctx context.Context, query string, args ...any) bool {
	if u.careful || u.ready(ctx) != nil {
		return false
	}
	values, err := arguments(args)
	if err != nil {
		return false
	}
	u.wrote = true
	if u.deferred = append(u.deferred, statement{query, values}); len(u.deferred) == maxDeferred {
		u.flush()
	}
	return true
}

// flush sends the deferred statements, after the prelude.
func (t *transaction) flush() {
	if t.failed != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.patience)
	defer cancel()
	results, err := t.send(ctx)
	if err == nil {
		err = results.Close()
	}
	t.fail(err)
}

// send sends the prelude, the deferred statements and others. The results are those of the
// others; the caller closes them.
func (t *transaction) send(ctx context.Context, others ...statement) (pgx.BatchResults, error) {
	all := slices.Concat(t.prelude, t.deferred, others)
	before, deferred := len(t.prelude), len(t.deferred)
	batch := &pgx.Batch{}
	for _, s := range all {
		if isDirect(t.conn) { // it keeps the prepared statement
			if _, err := t.conn.Prepare(ctx, s.text, s.text); err != nil {
				return nil, err
			}
		}
		batch.Queue(s.text, s.args...)
	}
	t.prelude, t.deferred = nil, nil
	results := t.conn.SendBatch(ctx, batch)
	for i := range before + deferred {
		tag, err := results.Exec()
		if err == nil && i >= before && tag.RowsAffected() != 1 {
			err = errUnexpected // also if the next statement fails because of that
		}
		if err != nil {
			_ = results.Close() // reads the other results
			return nil, err
		}
		t.begun = t.begun || i == before-1
	}
	return results, nil
}
