package api

// What the wire has beside bodies and parameters, for those who write or read it.
const (
	// IdempotencyKeyHeader names a logical request.
	IdempotencyKeyHeader = "Idempotency-Key"
	// IdempotencyReplayedHeader marks the response of an earlier request under the
	// same key.
	IdempotencyReplayedHeader = "Idempotency-Replayed"
	// IdempotencyDeliveredHeader is on every replayed response: "false" means that
	// the earlier request's caller may not have received it.
	IdempotencyDeliveredHeader = "Idempotency-Delivered"

	// TimestampLayout is how every time is told, in UTC: RFC 3339 with
	// microseconds.
	TimestampLayout = "2006-01-02T15:04:05.000000Z"

	// TokenPrefix begins every service account token, before an underscore, so
	// that scanners for leaked secrets can find one.
	TokenPrefix = "mhsa"
)
