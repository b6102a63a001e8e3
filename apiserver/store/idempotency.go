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

// TokenBucketReader reads the token buckets of limits that hold for all processes.
type TokenBucketReader interface {
	// TokenBucket returns when a bucket is full again, the zero time if it is full.
	TokenBucket(name string) (fullAt time.Time, err error)
}

// TokenBucketWriter writes token buckets.
type TokenBucketWriter interface {
	// UpdateTokenBucket calls change with when a bucket is full again, which may be over, and
	// sets that to what change returns. No other transaction changes the bucket meanwhile. It
	// also deletes some buckets that are full.
	UpdateTokenBucket(name string, now time.Time, change func(fullAt time.Time) time.Time) error
}

// ServerWriter writes what the servers of a database share.
type ServerWriter interface {
	// SetPublicURL stores the URL under which a server is reached, and returns the one
	// before: "" on a new database.
	SetPublicURL(url string) (before string, err error)
}
