package store

import "time"

// IdempotentAnswer is the answer to a request that carried an Idempotency-Key.
type IdempotentAnswer struct {
	// KeyHash names the account, the caller and the key; it is unique.
	KeyHash []byte
	// Fingerprint is a hash of the request.
	Fingerprint []byte
	// Answer is encrypted; the store can't read it.
	Answer    []byte
	ExpiresAt time.Time
	// Delivered says that the answer was sent to the caller whole, as far as the
	// server could see.
	Delivered bool
}

// IdempotencyReader reads kept answers.
type IdempotencyReader interface {
	// IdempotentAnswer returns the answer of a key that has not expired at now.
	IdempotentAnswer(keyHash []byte, now time.Time) (IdempotentAnswer, error)
}

// IdempotencyWriter writes kept answers.
type IdempotencyWriter interface {
	// KeepIdempotentAnswer replaces an expired answer of the same key.
	KeepIdempotentAnswer(a IdempotentAnswer) error
	// MarkDelivered notes that the answers of the keys were delivered. A key
	// without an answer is passed over.
	MarkDelivered(keyHashes [][]byte) error
	// ForgetIdempotentAnswers deletes what expired before a time.
	ForgetIdempotentAnswers(before time.Time) error
}
