package store

import "time"

// QueuedMessage is the verification message of a forwarding rule that has not
// been sent yet. It holds no link and no other secret: whoever sends it creates
// the link. A rule has at most one; it is deleted together with the rule.
type QueuedMessage struct {
	AccountID, ForwardingID string
	// RequestID names the request that caused the message, for the log.
	RequestID string
	// Attempts is how many attempts to send it have failed.
	Attempts int
	// DueAt is when the message can be claimed. In a claimed message it is the end
	// of the lease.
	DueAt time.Time
}

// MailReader reads the mail queue and the limits of verification messages.
type MailReader interface {
	// NextMessageDue returns when the first queued message can be claimed, and
	// ErrNotFound if the queue is empty.
	NextMessageDue() (time.Time, error)
	// MessageLimit returns when a token bucket is full again; the zero time if it
	// is full or unknown.
	MessageLimit(bucket string) (fullAt time.Time, err error)
}

// MailWriter writes the mail queue and the limits of verification messages.
type MailWriter interface {
	// QueueMessage queues the message of a rule. It replaces one that is queued
	// already, whose claim ends.
	QueueMessage(m QueuedMessage) error
	// ClaimMessages returns up to n messages that are due at now, those that were
	// due first, under a lease until a later time: no other claim returns them
	// before.
	ClaimMessages(now, until time.Time, n int) ([]QueuedMessage, error)
	// RetryMessage ends the claim of a message that was not sent: it can be claimed
	// again at a time, with its Attempts as given. It returns ErrNotFound if the
	// claim does not hold any more.
	RetryMessage(m QueuedMessage, at time.Time) error
	// RemoveMessage removes a claimed message that was sent or given up. It returns
	// ErrNotFound if the claim does not hold any more.
	RemoveMessage(m QueuedMessage) error
	// SetForwardingLink sets a rule's LinkHash alone.
	SetForwardingLink(accountID, id string, hash []byte) error
	// SetMessageLimit sets when a token bucket is full again.
	SetMessageLimit(bucket string, fullAt time.Time) error
	// ForgetMessageLimits deletes the buckets that are full at a time.
	ForgetMessageLimits(now time.Time) error
}
