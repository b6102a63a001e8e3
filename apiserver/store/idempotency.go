package store

import "time"

// IdempotencyRecord is the response to a keyed request that changed something.
type IdempotencyRecord struct {
	// KeyHash is a hash of the account, the caller and the key. It is unique.
	KeyHash []byte
	// Fingerprint is a hash of the request.
	Fingerprint []byte
	// Response is encrypted; the store can't read it.
	Response  []byte
	ExpiresAt time.Time
}

// IdempotencyReader reads idempotency records.
type IdempotencyReader interface {
	// IdempotencyRecord returns the record of a key that has not expired at now.
	IdempotencyRecord(keyHash []byte, now time.Time) (IdempotencyRecord, error)
}

// IdempotencyWriter writes idempotency records.
type IdempotencyWriter interface {
	// PutIdempotencyRecord replaces an expired record of the same key.
	PutIdempotencyRecord(r IdempotencyRecord) error
	// DeleteExpiredIdempotencyRecords deletes those that expired before a time.
	DeleteExpiredIdempotencyRecords(before time.Time) error
}
