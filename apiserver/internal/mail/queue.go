package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// The limits of sending. The pauses outlast usual greylisting.
const (
	concurrency  = 4                // attempts in flight
	sendTimeout  = 30 * time.Second // for one attempt
	lease        = time.Minute      // longer than an attempt with its transactions
	pollInterval = 15 * time.Second // for messages that another process queued or claimed
	drainTimeout = 10 * time.Second // for Close
)

var sendPauses = []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}

// Composer writes a claimed message, or returns nil if it is no longer needed.
type Composer func(tx store.Tx, queued store.QueuedMessage) (*email.Message, error)

// Queue sends the queued messages of the store in the background. A message is queued in the
// transaction of the change that causes it, claimed under a lease by one process, and removed when
// it is sent or given up. It is sent at least once, and not twice within its lease.
//
//	queued ──claim: new link──▶ claimed ──sent, or given up──▶ removed
//	   ▲                          │
//	   └── failed, after a pause; or the lease expires ──┘
//
// The message is written, with a new link, after it is claimed, so that the queue contains no
// secret. Another attempt sends another link and invalidates the link before it. Claiming and
// writing are separate transactions, so that none waits for an account while it locks a message
// that a change in the account waits for.
//
// Leases and pauses use the machine's clock, because replicas share it and tests of the API can't
// stop it. A message that is due later than any pause takes was claimed by a server whose clock was ahead; it
// is sent when it has not changed for the time of a lease. A nil queue sends nothing.
type Queue struct {
	store   store.Store
	sender  email.Sender
	compose Composer
	outbox  *Outbox
	log     *slog.Logger
	workers sync.WaitGroup
	// GivenUp counts the messages that this process gave up.
	GivenUp atomic.Int64
	// future is the last due time that no pause explains, and seen is when it was noticed. Only next uses them.
	future, seen time.Time
	// turn is full while a worker is in next. wake ends its wait.
	turn, wake chan struct{}
	// closing ends when the workers must stop, ctx when the attempts in flight must end.
	closing, ctx  context.Context
	close, cancel context.CancelFunc
}

// NewQueue starts a queue that sends with sender and adds every message to outbox.
func NewQueue(s store.Store, sender email.Sender, compose Composer, outbox *Outbox, log *slog.Logger) *Queue {
	q := &Queue{
		store: s, sender: sender, compose: compose, outbox: outbox, log: log,
		turn: make(chan struct{}, 1), wake: make(chan struct{}, 1),
	}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	q.closing, q.close = context.WithCancel(q.ctx)
	for range concurrency {
		q.workers.Go(q.work)
	}
	return q
}

// Notify wakes the queue after a message was queued.
func (q *Queue) Notify() {
	if q == nil {
		return
	}
	select {
	case q.wake <- struct{}{}:
	default: // already awake
	}
}

// work sends messages until the queue is closed and none is due.
func (q *Queue) work() {
	for {
		message, claim := q.next()
		if message == nil {
			return
		}
		q.outbox.Add(*message)
		q.send(*message, claim)
		q.Notify() // the message may be due again before next wakes
	}
}

// next waits for a due message and claims it, one worker at a time. It returns nil if the queue is
// closed.
func (q *Queue) next() (message *email.Message, claim store.QueuedMessage) {
	q.turn <- struct{}{}
	defer func() { <-q.turn }()
	for q.ctx.Err() == nil {
		due, err := store.Read(q.ctx, q.store, store.Reader.MessagesDue)
		now := time.Now()
		after, until, isDue := q.claimable(due, now)
		if err == nil && isDue {
			switch message, claim, err = q.claim(after, until, now); {
			case err == nil && message != nil:
				return message, claim
			case err == nil: // another process was faster, or the message is no longer needed
				if !after.IsZero() {
					q.future = time.Time{}
				}
				continue
			}
		}
		wait := pollInterval
		if err == nil {
			wait = min(due.First.Sub(now), pollInterval)
		} else if !errors.Is(err, store.ErrNotFound) && q.ctx.Err() == nil {
			q.log.Warn("can't read the mail queue; trying again", "again_in", pollInterval, "error", err)
		}
		if q.closing.Err() != nil {
			break
		}
		select {
		case <-time.After(wait):
		case <-q.wake:
		case <-q.closing.Done(): // check once more
		}
	}
	return nil, claim
}

// claimable returns between which times a message may be due that can be claimed now.
func (q *Queue) claimable(due store.MessagesDue, now time.Time) (after, until time.Time, isDue bool) {
	latest := now.Add(slices.Max(sendPauses) + store.ClockTolerance)
	switch {
	case !due.First.After(now):
		return time.Time{}, now, true
	case !due.Last.After(latest):
		q.future = time.Time{}
	case q.future.IsZero():
		q.future, q.seen = due.Last, now
	case now.Sub(q.seen) >= lease: // by the clock that doesn't jump
		return latest, q.future, true
	}
	return after, until, false
}

// claim claims the first message that is due between two times and writes it. message is nil if another process claimed it or
// it is no longer needed.
func (q *Queue) claim(after, until, now time.Time) (message *email.Message, claim store.QueuedMessage, err error) {
	err = q.store.Update(q.ctx, func(tx store.Tx) (err error) {
		claim, err = tx.ClaimMessage(after, until, now.Add(lease))
		return err
	})
	if err == nil {
		err = q.store.Update(q.ctx, func(tx store.Tx) (err error) {
			message, err = q.compose(tx, claim)
			switch {
			case err != nil:
				return err
			case message == nil:
				return tx.RemoveMessage(claim)
			}
			return tx.RetryMessage(claim, claim.DueAt) // changes nothing, but fails if the claim ended
		})
	}
	if errors.Is(err, store.ErrNotFound) { // another process claimed it, the rule was deleted, or its message was queued again
		return nil, claim, nil
	}
	return message, claim, err
}

// send makes one attempt to send a message, and writes the outcome to the store.
func (q *Queue) send(m email.Message, claim store.QueuedMessage) {
	err := q.attempt(m)
	log := q.log.With("request_id", claim.RequestID, "forwarding_id", claim.ForwardingID, "attempts", claim.Attempts+1)
	remove := func(tx store.Tx) error { return tx.RemoveMessage(claim) }
	switch {
	case err == nil:
		log.Info("verification message sent")
		q.settle(log, remove)
	case q.ctx.Err() != nil: // the service stops: not a failed attempt
		q.settle(log, func(tx store.Tx) error { return tx.RetryMessage(claim, time.Now()) })
	case errors.Is(err, email.ErrUndeliverable) || claim.Attempts >= len(sendPauses):
		log.Error("verification message not sent; set the rule's target_email again to send a new one", "error", redacted(m, err))
		q.GivenUp.Add(1)
		q.settle(log, remove)
	default:
		pause := sendPauses[claim.Attempts]
		claim.Attempts++
		log.Warn("verification message not sent yet", "again_in", pause, "error", redacted(m, err))
		q.settle(log, func(tx store.Tx) error { return tx.RetryMessage(claim, time.Now().Add(pause)) })
	}
}

// attempt sends a message once.
func (q *Queue) attempt(m email.Message) (err error) {
	ctx, cancel := context.WithTimeout(q.ctx, sendTimeout)
	defer cancel()
	defer func() { // a panic of a Sender must not end the process
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: the sender panicked: %v", email.ErrUndeliverable, cause)
		}
	}()
	return q.sender.Send(ctx, m)
}

// settle ends a claim, and ignores a claim that has already ended. After an error the message is
// sent again.
func (q *Queue) settle(log *slog.Logger, end func(store.Tx) error) {
	// The outcome must be written even if the context of the attempts has ended.
	err := q.store.Update(context.WithoutCancel(q.ctx), end)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		log.Error("can't update the mail queue; the message may be sent again", "error", err)
	}
}

// Close sends the due messages, for at most some seconds. Other messages stay queued.
func (q *Queue) Close() {
	if q == nil {
		return
	}
	q.close()
	defer time.AfterFunc(drainTimeout, q.cancel).Stop()
	q.workers.Wait()
	if _, err := store.Read(context.Background(), q.store, store.Reader.MessagesDue); err == nil {
		q.log.Info("verification messages are still queued; the next start sends them")
	}
}
