package store

import "time"

// QueuedMessage is the only unsent verification message of a forwarding rule. The link is created
// when the message is sent, so that the queue holds no secret.
type QueuedMessage struct {
	AccountID, ForwardingID string
	// RequestID identifies the request that caused the message, for the log.
	RequestID string
	// Attempts counts the failed attempts to send the message.
	Attempts int
	// DueAt is when the message can be claimed: for a claimed message, the end of its lease.
	DueAt time.Time
}

// MessagesDue is when the first and the last message of a queue can be claimed.
type MessagesDue struct {
	First, Last time.Time
}
