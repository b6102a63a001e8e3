package sqlstore

import (
	"context"
	"errors"
	"sync/atomic"
)

// Turn is a caller's update in an engine's queue, which runs updates one by one and commits
// several together. Its function runs in the caller's goroutine while the queue waits, so
// that a panic ends only the caller. T is what the queue passes to the function, such as its
// transaction.
type Turn[T any] struct {
	begun atomic.Bool
	start chan T     // passes the transaction to the caller
	ran   chan bool  // returns it: whether the function succeeded
	done  chan error // the result of the commit
}

// NewTurn returns a turn that has not begun.
func NewTurn[T any]() *Turn[T] {
	return &Turn[T]{start: make(chan T, 1), ran: make(chan bool, 1), done: make(chan error, 1)}
}

// Begin claims the update for the queue, or for a caller that stops waiting, once.
func (u *Turn[T]) Begin() bool { return u.begun.CompareAndSwap(false, true) }

// Run lets the caller run its function and reports whether it succeeded.
func (u *Turn[T]) Run(tx T) bool {
	u.start <- tx
	return <-u.ran
}

// Finish passes the result of the commit to the caller. It also ends a failed update: an
// uncommitted write of another one may be the reason.
func (u *Turn[T]) Finish(err error) { u.done <- err }

// Await runs fn when it is its turn, and returns the error of the commit or else that of fn.
// Until fn begins, the end of the context ends it.
func (u *Turn[T]) Await(ctx context.Context, fn func(context.Context, T) error) error {
	ended := ctx.Done()
	for {
		select {
		case tx := <-u.start:
			err := u.call(ctx, tx, fn)
			if failure := <-u.done; failure != nil {
				return failure
			}
			return err
		case err := <-u.done:
			return err
		case <-ended:
			if u.Begin() {
				return ctx.Err()
			}
			ended = nil // it has begun
		}
	}
}

var errEnded = errors.New("the function ended its goroutine")

// call runs fn and passes its result to the queue, also if it panics or ends its goroutine.
func (u *Turn[T]) call(ctx context.Context, tx T, fn func(context.Context, T) error) (err error) {
	err = errEnded
	defer func() { u.ran <- err == nil }()
	return fn(context.WithoutCancel(ctx), tx) // an update that has begun is not cancelled
}
