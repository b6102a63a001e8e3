package sqlite

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// update is a caller's update on its way through the writer. Its function runs
// in the caller's goroutine, while the writer waits: a panic there has the
// caller's stack, and ends the caller alone.
type update struct {
	begun atomic.Bool
	turn  chan *session // the writer's, lent for fn
	ran   chan bool     // given back: whether fn succeeded
	done  chan error    // what became of the commit
	wrote bool          // whether fn has written; the caller's
}

func newUpdate() *update {
	return &update{
		turn: make(chan *session, 1),
		ran:  make(chan bool, 1),
		done: make(chan error, 1),
	}
}

// begin claims the update for the writer, or for a caller that won't wait any
// longer. Only the first claim succeeds.
func (u *update) begin() bool { return u.begun.CompareAndSwap(false, true) }

// run lends the session to the caller and reports whether its function
// succeeded.
func (u *update) run(s *session) bool {
	u.turn <- s
	return <-u.ran
}

// finish answers the caller.
func (u *update) finish(err error) { u.done <- err }

// await runs fn in its turn and waits for the commit. A caller whose context
// ends before that turn does not wait.
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
			ended = nil // it is this update's turn
		}
	}
}

var errEnded = errors.New("the function ended its goroutine")

// call runs fn and tells the writer how it ended, even where it panics or ends
// its goroutine.
func (u *update) call(
	ctx context.Context, s *session, fn func(context.Context, sqlstore.Querier) error,
) (err error) {
	err = errEnded
	defer func() { u.ran <- err == nil }()
	t := &transaction{session: s}
	// What has begun is not given up half-way, so the context's end is ignored.
	if err = fn(context.WithoutCancel(ctx), t); err == nil {
		err = t.failed
	}
	u.wrote = t.wrote
	return err
}
