package apiserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// The bounds of sending. The pauses outlast usual greylisting.
const (
	mailsAtOnce      = 4                // attempts in flight
	sendTimeout      = 30 * time.Second // of one attempt
	mailLease        = time.Minute      // longer than an attempt with its transactions
	mailPoll         = 15 * time.Second // for messages that another process has queued or claimed
	mailDrainTimeout = 10 * time.Second // of Close
	courierEndTime   = time.Second      // of a Courier whose context is cancelled
)

var sendPauses = []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}

// mailQueue sends the verification messages that are queued in the store, in the
// background. A message is queued in the transaction of the change that causes it,
// claimed under a lease by one process, and removed when it is sent or given up:
// it is sent at least once, and not twice within its lease.
//
//	queued ──claim: new link──▶ claimed ──sent, or given up──▶ removed
//	   ▲                          │
//	   └── failed, after a pause; or the lease expires ──┘
//
// The link is created when the message is claimed and its hash stored in the same
// transaction, so that no secret waits in the queue. Another attempt has another
// link: the one before stops working.
//
// Leases and pauses run by the machine's clock, which replicas share and tests of
// the API can't stop, and not by the service's. A nil queue sends nothing.
type mailQueue struct {
	service *Service
	courier Courier
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

	mu sync.Mutex
	// detached says that the store may not be used any more.
	detached bool
}

func newMailQueue(s *Service, courier Courier) *mailQueue {
	if courier == nil {
		return nil
	}
	q := &mailQueue{
		service: s, courier: courier, log: s.log, wake: make(chan struct{}, 1), slots: make(chan struct{}, mailsAtOnce),
		closing: make(chan struct{}), stopped: make(chan struct{}),
	}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	go q.run()
	return q
}

// notify says that there may be something to do.
func (q *mailQueue) notify() {
	if q == nil {
		return
	}
	select {
	case q.wake <- struct{}{}:
	default: // run has not looked since the last time
	}
}

// run sends what is due until the queue is closed, and then what is due at that
// time, as long as ctx allows.
func (q *mailQueue) run() {
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

func (q *mailQueue) isClosing() bool {
	select {
	case <-q.closing:
		return true
	default:
		return false
	}
}

func (q *mailQueue) nextDue() (due time.Time, err error) {
	err = q.service.store.View(q.ctx, func(r store.Reader) (err error) {
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
// slots. It returns how long it need not be called again: 0 if more may be due.
func (q *mailQueue) sendDue() time.Duration {
	free := cap(q.slots) - len(q.slots) // only this goroutine takes one
	if free == 0 {
		return mailPoll // the end of an attempt wakes run earlier
	}
	due, err := q.nextDue()
	if errors.Is(err, store.ErrNotFound) {
		return mailPoll
	}
	var claimed []claimedMessage
	if err == nil {
		if wait := time.Until(due); wait > 0 {
			return min(wait, mailPoll)
		}
		claimed, err = q.claim(free)
	}
	if err != nil {
		if q.ctx.Err() == nil {
			q.log.Warn("can't read the mail queue; trying again", "again_in", mailPoll, "error", err)
		}
		return mailPoll
	}
	for _, m := range claimed {
		q.service.outbox.add(m.Message)
		q.slots <- struct{}{}
		q.sending.Go(func() {
			defer q.notify()
			defer func() { <-q.slots }()
			q.send(m)
		})
	}
	return 0
}

// claim claims up to n due messages and creates their links. It removes those that
// nobody waits for any more: of a rule that was verified, became internal or has
// expired meanwhile, or whose account is cancelled. Messages of deleted rules are
// gone already.
func (q *mailQueue) claim(n int) (claimed []claimedMessage, err error) {
	s := q.service
	links := make([]verificationLink, n)
	for i := range links {
		links[i] = s.newLink()
	}
	at, now := s.now(), time.Now()
	err = s.store.Update(q.ctx, func(tx store.Tx) error {
		claimed = nil
		queued, err := tx.ClaimMessages(now, now.Add(mailLease), n)
		if err != nil {
			return err
		}
		for i, m := range queued {
			rule, err := tx.Forwarding(m.AccountID, m.ForwardingID)
			if err != nil {
				return err
			}
			state, err := s.linkState(tx, rule)
			if err != nil {
				return err
			}
			if state != linkOpen || rule.SentAt.IsZero() {
				if err := tx.RemoveMessage(m); err != nil {
					return err
				}
				continue
			}
			if err := tx.SetForwardingLink(rule.AccountID, rule.ID, links[i].hash()); err != nil {
				return err
			}
			claimed = append(claimed, claimedMessage{*s.verificationMessage(rule, links[i], at), m})
		}
		return nil
	})
	return claimed, err
}

// send makes one attempt to send a message, and writes what became of it.
func (q *mailQueue) send(m claimedMessage) {
	err := q.attempt(m.Message)
	claim := m.claim
	log := q.log.With("request_id", claim.RequestID, "forwarding_id", claim.ForwardingID, "attempts", claim.Attempts+1)
	switch {
	case err == nil:
		log.Info("verification message sent")
		q.settle(log, func(tx store.Tx) error { return tx.RemoveMessage(claim) })
	case q.ctx.Err() != nil: // the service ends, which is no fault of the mail server's
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
func (q *mailQueue) attempt(m Message) (err error) {
	ctx, cancel := context.WithTimeout(q.ctx, sendTimeout)
	defer cancel()
	defer func() { // a Courier that panics must not end the process
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: the courier panicked: %v", ErrUndeliverable, cause)
		}
	}()
	return q.courier.Send(ctx, m)
}

// settle ends a claim. If that fails, the message is sent again when the lease has
// expired. A claim that does not hold any more is not this process's to end: the
// rule is gone, or its message was queued again.
func (q *mailQueue) settle(log *slog.Logger, end func(store.Tx) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.detached {
		return
	}
	// The context of the attempts may have ended, and this must be written.
	err := q.service.store.Update(context.WithoutCancel(q.ctx), end)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		log.Error("can't update the mail queue; the message may be sent again", "error", err)
	}
}

// close sends what is due, for a bounded time. What is left stays queued for the
// next process. The store is not used after it.
func (q *mailQueue) close() {
	if q == nil {
		return
	}
	q.closeOnce.Do(func() { close(q.closing) })
	if !within(mailDrainTimeout, q.stopped) {
		q.cancel()
		within(courierEndTime, q.stopped)
	}
	q.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.detached = true
	err := q.service.store.View(context.Background(), func(r store.Reader) error {
		_, err := r.NextMessageDue()
		return err
	})
	if err == nil {
		q.log.Info("verification messages are still queued; the next start sends them")
	}
}

// within reports whether something ends in time.
func within(limit time.Duration, ended <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}

// redacted returns the text of an error without the secret of the message's link:
// a mail server that refuses a message may quote it.
func (m Message) redacted(err error) string {
	if secret := m.Link[strings.LastIndexByte(m.Link, '/')+1:]; secret != "" {
		return strings.ReplaceAll(err.Error(), secret, "[secret]")
	}
	return err.Error()
}
