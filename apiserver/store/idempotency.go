package store

import "time"

// IdempotencyRecord is the response to a request that carried an Idempotency-Key
// and changed something.
type IdempotencyRecord struct {
	// KeyHash is a hash of the account, the caller and the key. It is unique.
	KeyHash []byte
	// Fingerprint is a hash of the request.
	Fingerprint []byte
	// Response is encrypted; the store can't read it.
	Response  []byte
	ExpiresAt time.Time
	// InterruptedRequest identifies the caller and the content of a create whose
	// response was not delivered, and InterruptedID the object that it created.
	// InterruptedRequest is nil for every other request.
	InterruptedRequest []byte
	InterruptedID      string
	// Delivered reports that a client knows the object, by another response than the
	// create's own. The record can't be marked as interrupted any more.
	Delivered bool
}

// IdempotencyReader reads idempotency records.
type IdempotencyReader interface {
	// IdempotencyRecord returns the record of a key that has not expired at now.
	IdempotencyRecord(keyHash []byte, now time.Time) (IdempotencyRecord, error)
	// InterruptedCreate returns a record with an InterruptedRequest that has not
	// expired at now.
	InterruptedCreate(request []byte, now time.Time) (IdempotencyRecord, error)
}

// IdempotencyWriter writes idempotency records.
type IdempotencyWriter interface {
	// PutIdempotencyRecord replaces an expired record of the same key.
	PutIdempotencyRecord(r IdempotencyRecord) error
	// MarkInterrupted sets InterruptedRequest and InterruptedID in the record of a key,
	// if there is one and it is not Delivered.
	MarkInterrupted(keyHash, request []byte, id string) error
	// MarkDelivered sets Delivered in the record of a key, if there is one, and removes the
	// mark of an interrupted create.
	MarkDelivered(keyHash []byte) error
	// DeleteExpiredIdempotencyRecords deletes the records that expired before a
	// time.
	DeleteExpiredIdempotencyRecords(before time.Time) error
}
