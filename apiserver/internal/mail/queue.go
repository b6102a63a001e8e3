package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// The bounds of sending. The pauses outlast usual greylisting.
const (
	concurrency  = 4                // attempts in flight
	sendTimeout  = 30 * time.Second // of one attempt
	lease        = time.Minute      // longer than an attempt with its transactions
	pollInterval = 15 * time.Second // for messages that another process has queued or claimed
	drainTimeout = 10 * time.Second // of Close
)

var sendPauses = []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}

// Composer writes a claimed message, or returns nil if nobody waits for it any more.
type Composer func(tx store.Tx, queued store.QueuedMessage) (*email.Message, error)

// Queue sends the messages that are queued in the store, in the background. A message is
// queued in the transaction of the change that causes it, claimed under a lease by one
// process, and removed when it is sent or given up: it is sent at least once, and not
// twice within its lease.
//
//	queued ──claim: new link──▶ claimed ──sent, or given up──▶ removed
//	   ▲                          │
//	   └── failed, after a pause; or the lease expires ──┘
//
// The message is written, with a new link, after it is claimed, so that no secret waits in
// the queue. Another attempt has another link: the one before stops working. Claiming and
// writing are two transactions, so that none waits for an account while it holds a message
// for which a change in the account waits.
//
// Leases and pauses run by the machine's clock, which replicas share and tests of
// the API can't stop, and not by the service's. A nil queue sends nothing.
type Queue struct {
	store   store.Store
	sender  email.Sender
	compose Composer
	outbox  *Outbox
	log     *slog.Logger
	workers sync.WaitGroup
	// GivenUp is how many messages this process has given up.
	GivenUp atomic.Int64
	// turn holds an element while a worker is in next, and wake ends its wait.
	turn, wake chan struct{}
	// closing ends when the workers must stop, and ctx when the attempts in flight must end.
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
	default: // the queue is awake already
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
		q.Notify() // it may be due again earlier than what next waits for
	}
}

// next waits for a due message and claims it, one worker at a time; nil if the queue is closed.
func (q *Queue) next() (message *email.Message, claim store.QueuedMessage) {
	q.turn <- struct{}{}
	defer func() { <-q.turn }()
	for q.ctx.Err() == nil {
		due, err := store.Read(q.ctx, q.store, store.Reader.NextMessageDue)
		now := time.Now()
		if err == nil && !due.After(now) {
			switch message, claim, err = q.claim(now); {
			case err == nil && message != nil:
				return message, claim
			case err == nil: // another process was faster, or nobody waits for it any more
				continue
			}
		}
		wait := pollInterval
		if err == nil {
			wait = min(due.Sub(now), pollInterval)
		} else if !errors.Is(err, store.ErrNotFound) && q.ctx.Err() == nil {
			q.log.Warn("can't read the mail queue; trying again", "again_in", pollInterval, "error", err)
		}
		if q.closing.Err() != nil {
			break
		}
		select {
		case <-time.After(wait):
		case <-q.wake:
		case <-q.closing.Done(): // looks once more
		}
	}
	return nil, claim
}

// claim claims the first due message and writes it. It returns no message if another process has
// claimed it or nobody waits for it.
func (q *Queue) claim(now time.Time) (message *email.Message, claim store.QueuedMessage, err error) {
	err = q.store.Update(q.ctx, func(tx store.Tx) (err error) {
		claim, err = tx.ClaimMessage(now, now.Add(lease))
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
			return tx.RetryMessage(claim, claim.DueAt) // changes nothing: is the claim still valid?
		})
	}
	if errors.Is(err, store.ErrNotFound) { // or the rule was deleted, or its message queued again
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
	defer func() { // a Sender that panics must not end the process
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: the sender panicked: %v", email.ErrUndeliverable, cause)
		}
	}()
	return q.sender.Send(ctx, m)
}

// settle ends a claim. If that fails, the message is sent again. A claim that has ended is
// ignored.
func (q *Queue) settle(log *slog.Logger, end func(store.Tx) error) {
	// The context of the attempts may have ended, and this must be written.
	err := q.store.Update(context.WithoutCancel(q.ctx), end)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		log.Error("can't update the mail queue; the message may be sent again", "error", err)
	}
}

// Close sends the messages that are due, for at most some seconds. The others stay queued.
func (q *Queue) Close() {
	if q == nil {
		return
	}
	q.close()
	defer time.AfterFunc(drainTimeout, q.cancel).Stop()
	q.workers.Wait()
	if _, err := store.Read(context.Background(), q.store, store.Reader.NextMessageDue); err == nil {
		q.log.Info("verification messages are still queued; the next start sends them")
	}
}
