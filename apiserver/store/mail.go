package store

import "time"

// QueuedMessage is the unsent verification message of a forwarding rule, which has at most one.
// The link is created when it is sent, so that the queue holds no secret.
type QueuedMessage struct {
	AccountID, ForwardingID string
	// RequestID identifies the request that caused the message, for the log.
	RequestID string
	// Attempts is how many attempts to send it have failed.
	Attempts int
	// DueAt is when the message can be claimed: for a claimed one, the end of its lease.
	DueAt time.Time
}

// MailReader reads the mail queue.
type MailReader interface {
	// NextMessageDue returns when the first message can be claimed, or ErrNotFound.
	NextMessageDue() (time.Time, error)
	// QueuedMessages returns how many messages are queued.
	QueuedMessages() (int, error)
}

// MailWriter writes the mail queue.
type MailWriter interface {
	// QueueMessage queues the message of a rule, replaces an earlier one and ends its claim.
	QueueMessage(m QueuedMessage) error
	// ClaimMessages leases up to n due messages, the first due first, until a time.
	ClaimMessages(now, until time.Time, n int) ([]QueuedMessage, error)
	// RetryMessage ends the claim of a message, which can be claimed again at a time, and sets
	// its Attempts. It returns ErrNotFound if the claim has ended.
	RetryMessage(m QueuedMessage, at time.Time) error
	// RemoveMessage deletes a claimed message. It returns ErrNotFound if the claim has
	// ended.
	RemoveMessage(m QueuedMessage) error
	// SetForwardingLink sets a rule's LinkHash. It is not reported to the observer.
	SetForwardingLink(accountID, id string, hash []byte) error
}
