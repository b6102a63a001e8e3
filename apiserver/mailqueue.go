package apiserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// The bounds of sending. The pauses outlast a usual greylisting; by the last of
// them a person has long asked for a new link.
const (
	mailQueueSize    = 1000             // messages that are not sent yet
	mailsAtOnce      = 4                // messages that are being sent
	sendTimeout      = 30 * time.Second // for one attempt
	mailDrainTimeout = 10 * time.Second // for all that is left when the service ends
	courierEndTime   = time.Second      // for a Courier whose context is cancelled
)

var sendPauses = []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}

var (
	errMailQueueFull = errors.New("too many messages wait to be sent")
	errMailClosed    = errors.New("the service has shut down")
)

// letter is a message on its way.
type letter struct {
	Message
	requestID string
	// dropped is closed when it is given up while it waits.
	dropped chan struct{}
}

// mailQueue sends messages in the background. It is in memory: what a process
// has not sent when it is killed is not sent, and setting the same address again
// sends a new link. A nil queue sends nothing.
type mailQueue struct {
	courier Courier
	log     *slog.Logger
	// slots holds one element for each message that is being sent.
	slots chan struct{}
	// closing is closed when nothing may be waited for any more; ctx is cancelled
	// when nothing may be sent any more.
	closing chan struct{}
	ctx     context.Context
	cancel  context.CancelFunc

	mu      sync.Mutex
	closed  bool
	pending map[*letter]bool
	sending sync.WaitGroup
}

func newMailQueue(courier Courier, log *slog.Logger) *mailQueue {
	if courier == nil {
		return nil
	}
	q := &mailQueue{
		courier: courier, log: log, slots: make(chan struct{}, mailsAtOnce), closing: make(chan struct{}), pending: map[*letter]bool{},
	}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	return q
}

// hand takes a message over. It never waits: a letter that pauses costs a
// goroutine and keeps no other from being sent.
func (q *mailQueue) hand(l letter) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		q.notSent(&l, 0, errMailClosed)
	case len(q.pending) >= mailQueueSize:
		q.notSent(&l, 0, errMailQueueFull)
	default:
		l.dropped = make(chan struct{})
		q.pending[&l] = true
		q.sending.Go(func() { q.send(&l) })
	}
}

// send sends a message until that succeeds or is of no more use.
func (q *mailQueue) send(l *letter) {
	for attempts := 1; q.waits(l); attempts++ {
		err := q.attempt(l)
		if err == nil {
			if q.done(l) {
				q.log.Info("verification message sent", "request_id", l.requestID, "forwarding_id", l.ForwardingID, "attempts", attempts)
			}
			return
		}
		if !q.waits(l) {
			return
		}
		if errors.Is(err, ErrUndeliverable) || attempts > len(sendPauses) || q.isClosing() {
			if q.done(l) {
				q.notSent(l, attempts, err)
			}
			return
		}
		pause := sendPauses[attempts-1]
		q.log.Warn("verification message not sent yet", "request_id", l.requestID, "forwarding_id", l.ForwardingID,
			"attempts", attempts, "again_in", pause, "error", l.redacted(err))
		q.pause(l, pause)
	}
}

// attempt sends a message once.
func (q *mailQueue) attempt(l *letter) (err error) {
	select {
	case q.slots <- struct{}{}:
	case <-q.ctx.Done():
		return errMailClosed
	}
	defer func() { <-q.slots }()
	ctx, cancel := context.WithTimeout(q.ctx, sendTimeout)
	defer cancel()
	defer func() { // a Courier that panics must not end the process
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: the courier panicked: %v", ErrUndeliverable, cause)
		}
	}()
	return q.courier.Send(ctx, l.Message)
}

// pause waits before a message is tried again, unless the service ends: then it
// gets one more attempt.
func (q *mailQueue) pause(l *letter, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-q.closing:
	case <-l.dropped:
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

// done forgets a message, and reports false where close has given it up before.
func (q *mailQueue) done(l *letter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	waited := q.pending[l]
	delete(q.pending, l)
	return waited
}

// forget gives up what waits to be sent, except for what is being sent.
func (q *mailQueue) forget() {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for l := range q.pending {
		close(l.dropped)
	}
	clear(q.pending)
}

// waits reports whether a message is still to be sent.
func (q *mailQueue) waits(l *letter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pending[l]
}

// close takes no more messages, and gives what waits one more attempt, for a
// bounded time. What is left then is logged.
func (q *mailQueue) close() {
	if q == nil {
		return
	}
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.closing)
	}
	q.mu.Unlock()
	defer q.cancel()
	sent := make(chan struct{})
	go func() {
		q.sending.Wait()
		close(sent)
	}()
	if within(mailDrainTimeout, sent) {
		return
	}
	q.cancel()
	if within(courierEndTime, sent) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for l := range q.pending {
		q.notSent(l, 0, errMailClosed)
		delete(q.pending, l)
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

// notSent logs that a message is given up.
func (q *mailQueue) notSent(l *letter, attempts int, err error) {
	q.log.Error("verification message not sent; set the rule's target_email again to send a new one",
		"request_id", l.requestID, "forwarding_id", l.ForwardingID, "attempts", attempts, "error", l.redacted(err))
}

// redacted is an error without the link's secret: a mail server that refuses a
// message may quote it.
func (l *letter) redacted(err error) string {
	if secret := l.Link[strings.LastIndexByte(l.Link, '/')+1:]; secret != "" {
		return strings.ReplaceAll(err.Error(), secret, "[secret]")
	}
	return err.Error()
}
