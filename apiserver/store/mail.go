package store

import "time"

// QueuedMessage is the verification message of a forwarding rule that has not been
// sent. The link is created when it is sent, so that the queue holds no secret. A
// rule has at most one, which is deleted with it.
type QueuedMessage struct {
	AccountID, ForwardingID string
	// RequestID identifies the request that caused the message, for the log.
	RequestID string
	// Attempts is how many attempts to send it have failed.
	Attempts int
	// DueAt is when the message can be claimed, or the end of the lease if it is
	// claimed.
	DueAt time.Time
}

// MailReader reads the mail queue.
type MailReader interface {
	// NextMessageDue returns when the first queued message can be claimed, and
	// ErrNotFound if the queue is empty.
	NextMessageDue() (time.Time, error)
	// QueuedMessages returns how many messages are queued.
	QueuedMessages() (int, error)
}

// MailWriter writes the mail queue.
type MailWriter interface {
	// QueueMessage queues the message of a rule. It replaces a queued one and ends
	// its claim.
	QueueMessage(m QueuedMessage) error
	// ClaimMessages leases up to n messages that are due at now, those that were due
	// first. No other claim returns them before until.
	ClaimMessages(now, until time.Time, n int) ([]QueuedMessage, error)
	// RetryMessage ends the claim of a message and sets its Attempts. It can be
	// claimed again at a time. It returns ErrNotFound if the claim has ended.
	RetryMessage(m QueuedMessage, at time.Time) error
	// RemoveMessage deletes a claimed message. It returns ErrNotFound if the claim has
	// ended.
	RemoveMessage(m QueuedMessage) error
	// SetForwardingLink sets a rule's LinkHash. It is not reported to the observer.
	SetForwardingLink(accountID, id string, hash []byte) error
}
