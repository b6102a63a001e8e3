package apiserver

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Message is an e-mail that the service sends.
type Message struct {
	// ID identifies a message by its link: what stands left of the @ in a
	// Message-ID (RFC 5322, section 3.6.4). Another attempt to send a rule's message
	// has another link, and therefore another ID.
	ID string
	// ForwardingID is the rule whose verification the message is for.
	ForwardingID string
	// Text and HTML say the same.
	To, Subject, Text, HTML string
	// Link is the one-time link in Text and HTML.
	Link string
	// SentAt is when the service wrote the message, by its own clock.
	SentAt time.Time
}

// ErrUndeliverable is wrapped by a Courier's error if another attempt to send the
// message would fail too, as after a 5yz reply of SMTP (RFC 5321, section 4.2.1).
var ErrUndeliverable = errors.New("the message can't be delivered")

// Courier sends messages. It is called in the background, by several goroutines
// at once. After an error that is not ErrUndeliverable, the service writes the
// message again and retries later, a few times. A message is sent at least once:
// after a crash, a recipient may get it twice.
type Courier interface {
	// Send returns when the message was accepted for delivery, or ctx is cancelled.
	Send(ctx context.Context, m Message) error
}

// outboxSize is how many messages the outbox holds.
const outboxSize = 1000

// outbox holds the newest messages, for operators and tests.
type outbox struct {
	mu       sync.Mutex
	messages []Message
}

func (o *outbox) add(m Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.messages = append(o.messages, m)
	if extra := len(o.messages) - outboxSize; extra > 0 {
		o.messages = append([]Message(nil), o.messages[extra:]...)
	}
}

// forget empties the outbox.
func (o *outbox) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.messages = nil
}

// Outbox returns the newest messages that this process wrote, oldest first. With a
// Courier, a message is written for each attempt to send it.
func (s *Service) Outbox() []Message {
	s.outbox.mu.Lock()
	defer s.outbox.mu.Unlock()
	return append([]Message(nil), s.outbox.messages...)
}
