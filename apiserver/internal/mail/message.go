// Package mail writes the service's e-mail and sends it: verification messages for
// forwarding rules, out of a queue in the store.
package mail

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
)

// Message is an e-mail that the service sends.
type Message struct {
	// ID identifies the message by its link: the left part of a Message-ID (RFC 5322, section
	// 3.6.4).
	ID string
	// ForwardingID is the rule whose verification the message is for.
	ForwardingID string
	// Text and HTML say the same.
	To, Subject, Text, HTML string
	// Link is the verification link in Text and HTML.
	Link string
	// SentAt is when the service wrote the message, by its own clock.
	SentAt time.Time
}

// redacted returns the text of an error without the link: a mail server may quote the message.
func (m Message) redacted(err error) string {
	if secret := m.Link[strings.LastIndexByte(m.Link, '/')+1:]; secret != "" {
		return strings.ReplaceAll(err.Error(), secret, "[secret]")
	}
	return err.Error()
}

// ErrUndeliverable is in a Sender's error if another attempt would fail too, as after a 5yz
// reply of SMTP (RFC 5321, section 4.2.1).
var ErrUndeliverable = errors.New("the message can't be delivered")

// Sender sends messages, in several goroutines. After an error that is not ErrUndeliverable, the
// message is written again and retried, a few times. A recipient may get it twice after a crash.
type Sender interface {
	// Send returns when the message was accepted for delivery, or ctx is cancelled.
	Send(ctx context.Context, m Message) error
}

// outboxSize is how many messages an Outbox holds.
const outboxSize = 1000

// Outbox holds the newest messages of this process. It is safe for concurrent use.
type Outbox struct {
	mu       sync.Mutex
	messages []Message
}

// Add adds messages; the oldest are dropped if there are too many.
func (o *Outbox) Add(messages ...Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.messages = append(o.messages, messages...)
	o.messages = slices.Delete(o.messages, 0, max(0, len(o.messages)-outboxSize))
}

// Messages returns the messages, oldest first.
func (o *Outbox) Messages() []Message {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.messages)
}

// Clear empties the outbox.
func (o *Outbox) Clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.messages = nil
}
