package postgres

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// turn is a caller's update in the queue of its account. Its function runs in the caller's
// goroutine while the queue waits, so that a panic has the caller's stack and ends only
// the caller.
type turn struct {
	begun atomic.Bool
	start chan *updating // passes the transaction to the caller
	ran   chan bool      // returns it: whether fn succeeded
	done  chan error     // the result of the commit
}

func newTurn() *turn {
	return &turn{start: make(chan *updating, 1), ran: make(chan bool, 1), done: make(chan error, 1)}
}

// begin claims the update for the queue, or for a caller that stops waiting. Only the
// first claim succeeds.
func (u *turn) begin() bool { return u.begun.CompareAndSwap(false, true) }

// run lets the caller run its function and reports whether it succeeded.
func (u *turn) run(tx *updating) bool {
	u.start <- tx
	return <-u.ran
}

// finish passes the result of the commit to the caller.
func (u *turn) finish(err error) { u.done <- err }

// await runs fn when it is its turn, and waits for the commit. If the context ends
// earlier, it returns the context's error.
func (u *turn) await(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	ended := ctx.Done()
	for {
		select {
		case tx := <-u.start:
			if err := u.call(ctx, tx, fn); err != nil {
				return err
			}
			return <-u.done
		case err := <-u.done:
			return err
		case <-ended:
			if u.begin() {
				return ctx.Err()
			}
			ended = nil // it has begun
		}
	}
}

var errEnded = errors.New("the function ended its goroutine")

// call runs fn and passes its result to the queue, also if it panics or ends its
// goroutine.
func (u *turn) call(ctx context.Context, tx *updating, fn func(context.Context, sqlstore.Querier) error) (err error) {
	err = errEnded
	defer func() { u.ran <- err == nil }()
	// An update that has begun is not cancelled.
	err = fn(context.WithoutCancel(ctx), tx)
	if tx.failed != nil && (err == nil || retryable(tx.failed, tx.conn)) {
		err = tx.failed
	}
	return tx.explain(err)
}
