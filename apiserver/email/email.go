// Package email defines the messages of a service. Programs that embed a service, and tests,
// provide a [Sender], and read each [Message] from the outbox.
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
	// ForwardingID is the forwarding rule to verify.
	ForwardingID string `json:"forwarding_id"`
	To           string `json:"to"`
	Subject      string `json:"subject"`
	// Text and HTML contain the same message.
	Text string `json:"text"`
	HTML string `json:"html"`
	// Link is the verification link in Text and HTML.
	Link string `json:"link"`
	// SentAt is when the service wrote the message, by its own clock.
	SentAt time.Time `json:"sent_at"`
}

// ErrUndeliverable is wrapped in a Sender's error if another attempt would fail too, for instance
// because a mail server refused the recipient or the content for good.
var ErrUndeliverable = errors.New("the message can't be delivered")

// Sender sends messages, in several goroutines. After any other error than ErrUndeliverable, the
// message is written again and retried, a few times. After a crash a recipient may get it twice.
type Sender interface {
	// Send returns when the message was accepted for delivery, or ctx is cancelled.
	Send(ctx context.Context, m Message) error
}
