package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// The bounds of sending. The pauses outlast usual greylisting.
const (
	concurrency   = 4                // attempts in flight
	sendTimeout   = 30 * time.Second // of one attempt
	lease         = time.Minute      // longer than an attempt with its transactions
	pollInterval  = 15 * time.Second // for messages that another process has queued or claimed
	drainTimeout  = 10 * time.Second // of Close
	cancelTimeout = time.Second      // of a Sender whose context is cancelled
)

var sendPauses = []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}

// Composer writes the message that is queued, within the transaction that claims it.
// It returns nil if nobody waits for the message any more.
type Composer func(tx store.Tx, queued store.QueuedMessage) (*Message, error)

// Queue sends the messages that are queued in the store, in the background. A message is
// queued in the transaction of the change that causes it, claimed under a lease by one
// process, and removed when it is sent or given up: it is sent at least once, and not
// twice within its lease.
//
//	queued ──claim: new link──▶ claimed ──sent, or given up──▶ removed
//	   ▲                          │
//	   └── failed, after a pause; or the lease expires ──┘
//
// The message is written, with a new link, when it is claimed, so that no secret waits in
// the queue. Another attempt has another link: the one before stops working.
//
// Leases and pauses run by the machine's clock, which replicas share and tests of
// the API can't stop, and not by the service's. A nil queue sends nothing.
type Queue struct {
	store   store.Store
	sender  Sender
	compose Composer
	outbox  *Outbox
	log     *slog.Logger
	// wake is signalled when a message was queued or an attempt has ended.
	wake chan struct{}
	// slots holds an element for each attempt in flight.
	slots   chan struct{}
	sending sync.WaitGroup
	// closing is closed to end run, which then closes stopped. ctx is cancelled
	// when the attempts in flight must end.
	closing, stopped chan struct{}
	closeOnce        sync.Once
	ctx              context.Context
	cancel           context.CancelFunc

	// mu is held for reading while the store is used, so that attempts that end at the
	// same time share a commit.
	mu sync.RWMutex
	// detached reports that the store must not be used any more.
	detached bool
}

// NewQueue starts a queue that sends with sender and adds every message to outbox.
func NewQueue(s store.Store, sender Sender, compose Composer, outbox *Outbox, log *slog.Logger) *Queue {
	q := &Queue{
		store: s, sender: sender, compose: compose, outbox: outbox, log: log,
		wake: make(chan struct{}, 1), slots: make(chan struct{}, concurrency),
		closing: make(chan struct{}), stopped: make(chan struct{}),
	}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	go q.run()
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

// run sends due messages until the queue is closed, and then those that are due at that
// time, as long as ctx allows.
func (q *Queue) run() {
	defer close(q.stopped)
	for !q.isClosing() {
		timer := time.NewTimer(q.sendDue())
		select {
		case <-timer.C:
		case <-q.wake:
		case <-q.closing:
		}
		timer.Stop()
	}
	q.sending.Wait()
	for q.ctx.Err() == nil && q.sendDue() == 0 {
		q.sending.Wait()
	}
}

func (q *Queue) isClosing() bool {
	select {
	case <-q.closing:
		return true
	default:
		return false
	}
}

func (q *Queue) nextDue() (due time.Time, err error) {
	err = q.store.View(q.ctx, func(r store.Reader) (err error) {
		due, err = r.NextMessageDue()
		return err
	})
	return due, err
}

// claimedMessage is a message with the claim under which it is sent.
type claimedMessage struct {
	Message
	claim store.QueuedMessage
}

// sendDue starts an attempt for each message that is due, as far as there are free
// slots. It returns how long run may wait before the next call; 0 if more may be due.
func (q *Queue) sendDue() time.Duration {
	free := cap(q.slots) - len(q.slots) // only this goroutine takes one
	if free == 0 {
		return pollInterval // the end of an attempt wakes run earlier
	}
	due, err := q.nextDue()
	if errors.Is(err, store.ErrNotFound) {
		return pollInterval
	}
	var claimed []claimedMessage
	if err == nil {
		if wait := time.Until(due); wait > 0 {
			return min(wait, pollInterval)
		}
		claimed, err = q.claim(free)
	}
	if err != nil {
		if q.ctx.Err() == nil {
			q.log.Warn("can't read the mail queue; trying again", "again_in", pollInterval, "error", err)
		}
		return pollInterval
	}
	for _, m := range claimed {
		q.outbox.Add(m.Message)
		q.slots <- struct{}{}
		q.sending.Go(func() {
			defer q.Notify()
			defer func() { <-q.slots }()
			q.send(m)
		})
	}
	return 0
}

// claim claims up to n due messages and writes them. It removes those that nobody waits
// for any more; messages of deleted rules are gone already.
func (q *Queue) claim(n int) (claimed []claimedMessage, err error) {
	now := time.Now()
	err = q.store.Update(q.ctx, func(tx store.Tx) error {
		claimed = nil
		queued, err := tx.ClaimMessages(now, now.Add(lease), n)
		if err != nil {
			return err
		}
		for _, claim := range queued {
			message, err := q.compose(tx, claim)
			switch {
			case err != nil:
				return err
			case message != nil:
				claimed = append(claimed, claimedMessage{*message, claim})
				continue
			}
			if err := tx.RemoveMessage(claim); err != nil {
				return err
			}
		}
		return nil
	})
	return claimed, err
}

// send makes one attempt to send a message, and writes the outcome to the store.
func (q *Queue) send(m claimedMessage) {
	err := q.attempt(m.Message)
	claim := m.claim
	log := q.log.With("request_id", claim.RequestID, "forwarding_id", claim.ForwardingID, "attempts", claim.Attempts+1)
	switch {
	case err == nil:
		log.Info("verification message sent")
		q.settle(log, func(tx store.Tx) error { return tx.RemoveMessage(claim) })
	case q.ctx.Err() != nil: // the service stops: not a failed attempt
		q.settle(log, func(tx store.Tx) error { return tx.RetryMessage(claim, time.Now()) })
	case errors.Is(err, ErrUndeliverable) || claim.Attempts >= len(sendPauses):
		log.Error("verification message not sent; set the rule's target_email again to send a new one", "error", m.redacted(err))
		q.settle(log, func(tx store.Tx) error { return tx.RemoveMessage(claim) })
	default:
		pause := sendPauses[claim.Attempts]
		claim.Attempts++
		log.Warn("verification message not sent yet", "again_in", pause, "error", m.redacted(err))
		q.settle(log, func(tx store.Tx) error { return tx.RetryMessage(claim, time.Now().Add(pause)) })
	}
}

// attempt sends a message once.
func (q *Queue) attempt(m Message) (err error) {
	ctx, cancel := context.WithTimeout(q.ctx, sendTimeout)
	defer cancel()
	defer func() { // a Sender that panics must not end the process
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: the sender panicked: %v", ErrUndeliverable, cause)
		}
	}()
	return q.sender.Send(ctx, m)
}

// settle ends a claim. If that fails, the message is sent again when the lease has
// expired. A claim that has ended already is ignored: the rule was deleted, or its
// message was queued again.
func (q *Queue) settle(log *slog.Logger, end func(store.Tx) error) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.detached {
		return
	}
	// The context of the attempts may have ended, and this must be written.
	err := q.store.Update(context.WithoutCancel(q.ctx), end)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		log.Error("can't update the mail queue; the message may be sent again", "error", err)
	}
}

// Close sends the messages that are due, for at most some seconds. The others stay
// queued for the next process. The queue does not use the store afterwards.
func (q *Queue) Close() {
	if q == nil {
		return
	}
	q.closeOnce.Do(func() { close(q.closing) })
	if !waitFor(drainTimeout, q.stopped) {
		q.cancel()
		waitFor(cancelTimeout, q.stopped)
	}
	q.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.detached = true
	err := q.store.View(context.Background(), func(r store.Reader) error {
		_, err := r.NextMessageDue()
		return err
	})
	if err == nil {
		q.log.Info("verification messages are still queued; the next start sends them")
	}
}

// waitFor reports whether a channel is closed within a time limit.
func waitFor(limit time.Duration, ended <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}
