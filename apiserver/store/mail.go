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
