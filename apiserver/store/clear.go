package store

// Clearer empties the store, for a test that begins anew.
type Clearer interface {
	// Clear deletes every account with all that is in it, the audit log, and the
	// answers that are kept under Idempotency-Keys. Ids that the store gives are
	// not given again where the store promises that elsewhere.
	Clear() error
}
