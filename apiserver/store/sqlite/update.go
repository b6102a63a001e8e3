package sqlite

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// update is a caller's update in the writer's queue. Its function runs in the caller's
// goroutine while the writer waits, so that a panic has the caller's stack and ends
// only the caller.
type update struct {
	begun atomic.Bool
	turn  chan *session // passes the writer's session to the caller
	ran   chan bool     // returns it: whether fn succeeded
	done  chan error    // the result of the commit
	wrote bool          // whether fn has written; set by the caller
}

func newUpdate() *update {
	return &update{
		turn: make(chan *session, 1),
		ran:  make(chan bool, 1),
		done: make(chan error, 1),
	}
}

// begin claims the update for the writer, or for a caller that stops waiting. Only the
// first claim succeeds.
func (u *update) begin() bool { return u.begun.CompareAndSwap(false, true) }

// run lets the caller run its function with the session and reports whether it
// succeeded.
func (u *update) run(s *session) bool {
	u.turn <- s
	return <-u.ran
}

// finish passes the result of the commit to the caller.
func (u *update) finish(err error) { u.done <- err }

// await runs fn when the writer has reached the update, and waits for the commit. If
// the context ends earlier, it returns the context's error.
func (u *update) await(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	ended := ctx.Done()
	for {
		select {
		case s := <-u.turn:
			if err := u.call(ctx, s, fn); err != nil {
				return err
			}
			return <-u.done
		case err := <-u.done:
			return err
		case <-ended:
			if u.begin() {
				return ctx.Err()
			}
			ended = nil // the writer has begun it
		}
	}
}

var errEnded = errors.New("the function ended its goroutine")

// call runs fn and passes its result to the writer, also if it panics or ends its
// goroutine.
func (u *update) call(
	ctx context.Context, s *session, fn func(context.Context, sqlstore.Querier) error,
) (err error) {
	err = errEnded
	defer func() { u.ran <- err == nil }()
	t := &transaction{session: s}
	// An update that has begun is not cancelled.
	if err = fn(context.WithoutCancel(ctx), t); err == nil {
		err = t.failed
	}
	u.wrote = t.wrote
	return err
}
