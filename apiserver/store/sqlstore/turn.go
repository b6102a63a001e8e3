package sqlstore

import (
	"context"
	"errors"
	"sync/atomic"
)

// Turn is a caller's update in an engine's queue, which runs updates one by one and commits
// several together. The update's function runs in the caller's goroutine while the queue waits,
// so that a panic ends only the caller. T is the type of the transaction that the queue passes
// to the function.
type Turn[T any] struct {
	begun atomic.Bool
	start chan T     // passes the transaction to the caller
	ran   chan bool  // returns the transaction, with the success of the function
	done  chan error // the result of the commit
}

// NewTurn returns an unclaimed turn.
func NewTurn[T any]() *Turn[T] {
	return &Turn[T]{start: make(chan T, 1), ran: make(chan bool, 1), done: make(chan error, 1)}
}

// Begin claims the update for the queue, or for a caller that stops waiting. It returns true once.
func (u *Turn[T]) Begin() bool { return u.begun.CompareAndSwap(false, true) }

// Run lets the caller run its function, and reports whether the function succeeded.
func (u *Turn[T]) Run(tx T) bool {
	u.start <- tx
	return <-u.ran
}

// Finish passes the result of the commit to the caller. A failed update waits for it too: an
// uncommitted write of another update may be the reason.
func (u *Turn[T]) Finish(err error) { u.done <- err }

// Await runs fn at its turn, and returns the error of the commit or else fn's error. If the
// context ends before fn begins, it returns the context's error.
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
			ended = nil // fn has begun
		}
	}
}

var errEnded = errors.New("the function called runtime.Goexit")

// call runs fn and passes its result to the queue, also if fn panics or calls runtime.Goexit.
func (u *Turn[T]) call(ctx context.Context, tx T, fn func(context.Context, T) error) (err error) {
	err = errEnded
	defer func() { u.ran <- err == nil }()
	return fn(context.WithoutCancel(ctx), tx) // a running update is not cancelled
}
