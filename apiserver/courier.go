package apiserver

import (
	"context"
	"sync"
	"time"
)

// Message is an e-mail that the service sends.
type Message struct {
	To, Subject, Text string
	// Link is the one-time link in Text.
	Link   string
	SentAt time.Time
}

// Courier sends messages. It is called by one goroutine for each message.
type Courier interface {
	Send(ctx context.Context, m Message) error
}

// courierTimeout is how long sending one message may take.
const courierTimeout = 30 * time.Second

// outboxSize is how many messages the outbox remembers.
const outboxSize = 1000

// outbox remembers the newest messages, for operators and tests.
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

// Outbox returns the newest messages that this process sent, oldest first.
func (s *Service) Outbox() []Message {
	s.outbox.mu.Lock()
	defer s.outbox.mu.Unlock()
	return append([]Message(nil), s.outbox.messages...)
}

// deliver sends a message, if there is one. The request has succeeded by then:
// what fails is logged, and asking again for the same target sends a new one.
func (c *call) deliver(m *Message) {
	if m == nil {
		return
	}
	c.outbox.add(*m)
	if c.courier == nil {
		return
	}
	// A caller who hangs up now does not keep the message from its recipient.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), courierTimeout)
	defer cancel()
	if err := c.courier.Send(ctx, *m); err != nil {
		c.log.Error("verification message not sent", "request_id", requestID(c.ctx), "error", err)
	}
}
