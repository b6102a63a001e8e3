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

const (
	// maxGroup and maxGroupTime bound how long the first update of a group waits for the
	// commit. The server slows down with more than 64 savepoints in a transaction.
	maxGroup     = 60
	maxGroupTime = 25 * time.Millisecond
	// idleTimeout is how long the server waits for the next statement of an update, so
	// that a machine that has lost its network does not keep an account locked.
	idleTimeout = 15 * time.Second
)

// beginUpdate begins a transaction in which each statement sees what was committed before.
func (o Options) beginUpdate() string {
	return fmt.Sprintf(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = %d; SET LOCAL statement_timeout = %d;
		SET LOCAL idle_in_transaction_session_timeout = %d; `+planSettings,
		milliseconds(o.LockTimeout), milliseconds(o.StatementTimeout), milliseconds(idleTimeout))
}

// queue has the updates of an account that wait while others are in a transaction.
type queue struct{ waiting []*turn }

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
	for attempt := 1; ; attempt++ {
		u := newTurn()
		u.careful = attempt > 1
		e.submit(store.AccountOf(ctx), u)
		err := u.await(ctx, fn)
		if _, again := errors.AsType[*retryError](err); !again || attempt == attempts {
			return e.note(err)
		}
	}
}

// submit starts an update, or adds it to those of its account that wait.
func (e *engine) submit(account string, u *turn) {
	if account == "" {
		go e.group(account, u)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if q := e.accounts[account]; q != nil {
		q.waiting = append(q.waiting, u)
		return
	}
	e.accounts[account] = &queue{}
	go func() {
		for u := u; u != nil; u = e.nextOrEnd(account) {
			e.group(account, u)
		}
	}()
}

// next returns an update of an account that waits, or nil.
func (e *engine) next(account string) *turn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.accounts[account].next()
}

// nextOrEnd is next, and removes the queue if nothing waits.
func (e *engine) nextOrEnd(account string) *turn {
	e.mu.Lock()
	defer e.mu.Unlock()
	u := e.accounts[account].next()
	if u == nil {
		delete(e.accounts, account)
	}
	return u
}

// next removes the first update. A nil queue has none.
func (q *queue) next() *turn {
	if q == nil || len(q.waiting) == 0 {
		return nil
	}
	u := q.waiting[0]
	q.waiting = q.waiting[1:]
	return u
}

// group runs an update, and others of the account that arrive meanwhile, in one
// transaction.
func (e *engine) group(account string, u *turn) {
	c, err := e.beginGroup(account)
	if err != nil {
		e.refuse(account, u, err)
		return
	}
	defer c.release()
	var waiting []*turn // for the commit
	wrote := false
	memo, prelude := sqlstore.NewMemo(), []statement{{text: `SAVEPOINT one`}}
	end := time.Now().Add(maxGroupTime)
	for n := 1; u != nil; n++ {
		tx := &updating{transaction: transaction{session: &c.session, prelude: prelude, begun: len(prelude) == 0}, locked: map[string]bool{accountKey(account): true}, memo: memo, careful: u.careful}
		if u.Begin() {
			ok := u.Run(tx)
			if !ok {
				err = c.undo(tx)
			}
			if ok || wrote {
				waiting, wrote = append(waiting, u), wrote || ok && tx.wrote
			} else {
				u.Finish(nil) // it failed for nothing that is not committed
			}
			if err != nil {
				break
			}
			switch {
			case !tx.begun:
			case ok:
				prelude = []statement{{text: `RELEASE SAVEPOINT one`}, {text: `SAVEPOINT one`}}
			default:
				memo, prelude = sqlstore.NewMemo(), nil
			}
		}
		if n == e.opts.maxGroup || time.Now().After(end) {
			break
		}
		u = e.next(account)
	}
	switch {
	case err != nil:
		err = &retryError{unavailable(fmt.Errorf("another update of the same commit failed: %w", err))}
	case wrote:
		err = c.commit()
	default:
		_ = c.exec(`ROLLBACK`) // release closes a connection that is still in a transaction
	}
	for _, u := range waiting {
		u.Finish(err)
	}
}

// beginGroup begins a transaction that has locked an account, unless that is "".
func (e *engine) beginGroup(account string) (*connection, error) {
	c, err := e.acquire(context.Background(), e.opts.beginUpdate())
	if err != nil {
		return nil, err
	}
	tx := &updating{transaction: transaction{session: &c.session}, locked: map[string]bool{}}
	if account != "" {
		tx.LockAccount(context.Background(), account)
	}
	if err = tx.explain(tx.failed); err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

// undo undoes an update that has failed, and nothing of those before it.
func (c *connection) undo(tx *updating) error {
	switch {
	case tx.begun:
		return c.exec(`ROLLBACK TO SAVEPOINT one`)
	case c.conn.PgConn().TxStatus() != 'T':
		return tx.failed
	}
	return nil
}

// refuse fails an update that could not begin, and those that wait: they would fail in the
// same way after the same time.
func (e *engine) refuse(account string, u *turn, err error) {
	for ; u != nil; u = e.next(account) {
		u.Finish(err)
	}
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
