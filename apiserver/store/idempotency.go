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
