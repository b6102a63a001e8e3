package store

// Clearer empties the store, for a test that begins anew.
type Clearer interface {
	// Clear deletes every account with all that is in it, the audit log, the mail
	// queue with its limits, and the idempotency records. Ids that the store gives
	// are not given again where the store promises that elsewhere.
	Clear() error
}
