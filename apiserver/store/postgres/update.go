package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// idleTimeout limits how long the server waits for the next statement of an update, so that a
// client without network does not keep an account locked.
const idleTimeout = 5 * time.Second

// beginUpdate begins a transaction in which each statement sees all earlier commits.
var beginUpdate = fmt.Sprintf(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = %d`, milliseconds(idleTimeout))

// lockFirst returns a statement that locks an account in the round trip of BEGIN, or "" if the id is
// empty or must be quoted.
func lockFirst(account string) string {
	if !plainID.MatchString(account) {
		return ""
	}
	return `; SELECT 1 FROM accounts WHERE id = '` + account + `' FOR NO KEY UPDATE`
}

var plainID = regexp.MustCompile(`^[0-9A-Za-z_-]+$`)

// queue lets one update of an account begin a transaction that other updates join: an update that
// waited for the account's row would keep a connection from other accounts, and each commit waits
// for the disk. Accounts that share a queue only wait for each other.
type queue struct {
	running chan struct{} // contains an element while a transaction runs
	joining chan *sqlstore.Turn[*transaction]
}

const (
	// maxGroup and maxGroupTime limit how long a transaction's first update waits for the commit.
	maxGroup     = 64
	maxGroupTime = 25 * time.Millisecond
)

// Update implements sqlstore.Engine.
func (e *engine) Update(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	if e.opts.ReadOnly {
		return store.ErrReadOnly
	}
	for attempt := 1; ; attempt++ {
		err := e.enter(ctx, attempt == 1, fn)
		if _, again := errors.AsType[*retryError](err); !again || attempt == attempts {
			return e.note(err)
		}
	}
}

// enter runs an update when no other update of its account runs in this process or, with share,
// joins the transaction of another update.
func (e *engine) enter(ctx context.Context, share bool, fn func(context.Context, sqlstore.Querier) error) error {
	account := store.AccountOf(ctx)
	if account == "" {
		return e.updateOnce(ctx, account, nil, fn)
	}
	q := e.queues[uint64(advisoryKey(account))%uint64(len(e.queues))]
	if !share {
		q.joining = nil
	}
	timeout := time.NewTimer(acquireTimeout)
	defer timeout.Stop()
	turn := sqlstore.NewTurn[*transaction]()
	select {
	case q.running <- struct{}{}:
		defer func() { <-q.running }()
		return e.updateOnce(ctx, account, q.joining, fn)
	case q.joining <- turn:
		return turn.Await(ctx, func(ctx context.Context, tx *transaction) error {
			tx.LockAccount(ctx, account) // the transaction may be another account's with the same queue
			return fn(ctx, tx)
		})
	case <-ctx.Done():
		return ctx.Err()
	case <-timeout.C:
		return fmt.Errorf("%w: other updates of the account ran for %s", store.ErrLocked, acquireTimeout)
	}
}

// updateOnce locks the account, unless it is "", runs an update in a transaction, and then the
// updates that wait to join it. A running update is not cancelled.
func (e *engine) updateOnce(ctx context.Context, account string, joining <-chan *sqlstore.Turn[*transaction], fn func(context.Context, sqlstore.Querier) error) error {
	t, err := e.begin(ctx, beginUpdate, lockFirst(account), acquireTimeout+e.opts.LockTimeout)
	if err != nil {
		return err
	}
	defer t.release() // it closes the connection if fn panics
	ctx = context.WithoutCancel(ctx)
	t.locked = map[string]bool{}
	if account != "" {
		t.locked[account] = t.begun.String() == "SELECT 1"
		t.LockAccount(ctx, account)
	}
	if err = t.failed; err == nil {
		err = fn(ctx, t)
	}
	if t.failed != nil && (err == nil || retryable(t.failed, t.conn)) {
		err = t.failed
	}
	if err != nil || !t.wrote {
		_ = t.exec(`ROLLBACK`) // release closes a connection that is still in a transaction
		return t.explain(err)
	}
	group, ok := t.runWaiting(joining)
	if ok {
		err = t.commit()
	} else {
		_ = t.exec(`ROLLBACK`)
		err = errors.New("another update of the transaction failed")
	}
	if len(group) > 0 && err != nil && !errors.Is(err, errUnknownOutcome) {
		err = &retryError{err} // each again alone: only one of them may be to blame
	}
	for _, u := range group {
		u.Finish(err)
	}
	return err
}

// runWaiting runs the updates that wait to join the transaction, and reports whether the
// transaction can be committed. An update that fails before it writes does not prevent that.
func (t *transaction) runWaiting(joining <-chan *sqlstore.Turn[*transaction]) (group []*sqlstore.Turn[*transaction], ok bool) {
	for end := time.Now().Add(maxGroupTime); len(group) < maxGroup && time.Now().Before(end); {
		select {
		case turn := <-joining:
			group = append(group, turn)
			t.wrote = false
			if turn.Begin() && !turn.Run(t) && t.wrote || t.failed != nil {
				return group, false
			}
		default:
			return group, true
		}
	}
	return group, true
}
