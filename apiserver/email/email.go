// Package email is what a service sends, and through whom: programs that embed a service, and
// tests, give it a [Sender], and read each [Message] of the outbox.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package email

import (
	"context"
	"errors"
	"time"
)

// Message is an e-mail that the service sends. The control plane uses the JSON names.
type Message struct {
	// ID identifies the message by its link: the left part of a Message-ID (RFC 5322, section
	// 3.6.4).
	ID string `json:"id"`
	// ForwardingID is the rule whose verification the message is for.
	ForwardingID string `json:"forwarding_id"`
	To           string `json:"to"`
	Subject      string `json:"subject"`
	// Text and HTML say the same.
	Text string `json:"text"`
	HTML string `json:"-"`
	// Link is the verification link in Text and HTML.
	Link string `json:"link"`
	// SentAt is when the service wrote the message, by its own clock.
	SentAt time.Time `json:"sent_at"`
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
