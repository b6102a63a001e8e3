package store

import "time"

// TokenBucketReader reads the token buckets of limits that hold for all processes.
type TokenBucketReader interface {
	// TokenBucket returns when a bucket is full again, the zero time if it is full.
	TokenBucket(name string) (fullAt time.Time, err error)
}

// TokenBucketWriter writes token buckets.
type TokenBucketWriter interface {
	// UpdateTokenBucket calls change with when a bucket is full again, the zero time if it is
	// full at now, and sets that to what change returns, unless that is an error. No other
	// transaction changes the bucket meanwhile. It also deletes some buckets that are full.
	UpdateTokenBucket(name string, now time.Time, change func(fullAt time.Time) (time.Time, error)) error
}
