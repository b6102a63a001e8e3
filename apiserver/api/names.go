package api

import (
	"bytes"
	"encoding/json"
)

// EncodeJSON returns the body of a response: JSON in one line.
func EncodeJSON(v any) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return body.Bytes(), err
}

// What the wire has beside bodies and parameters, for those who write or read it.
const (
	// IdempotencyKeyHeader names a logical request.
	IdempotencyKeyHeader = "Idempotency-Key"
	// IdempotencyReplayedHeader marks the response of an earlier request under the
	// same key.
	IdempotencyReplayedHeader = "Idempotency-Replayed"
	// IdempotencyLookupHeader names, in a GET request, the Idempotency-Key of a create
	// whose outcome it looks up: the client is there, and will know of the object.
	IdempotencyLookupHeader = "Idempotency-Lookup"
	// IdempotencyResumedHeader marks a response whose object was created by an
	// earlier request under another key, whose response was not delivered.
	IdempotencyResumedHeader = "Idempotency-Resumed"

	// TimestampLayout is the layout of every time, in UTC: RFC 3339 with
	// microseconds.
	TimestampLayout = "2006-01-02T15:04:05.000000Z"

	// TokenPrefix begins every service account token, before an underscore, so
	// that scanners for leaked secrets can find one.
	TokenPrefix = "mhsa"
)
