// Package idempotency replays the response of an earlier request with the same Idempotency-Key.
//
// The record of a response is written in the transaction of the change: either both are durable or
// none. Only a response with a change is recorded. A refused request is evaluated again.
//
// Each process tracks the keys in use. A second request with such a key is a conflict; in another
// process it waits for the account, and replays the response.
//
// A create of the same object with another key is a conflict that names the object, even if nobody
// received the response to the first create.
package idempotency

import (
	"sync"
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
)

// Records tracks the keys in use by this process, initially none. It is safe for concurrent use.
type Records struct {
	// cleanedAt is when expired records were last deleted, in Unix seconds.
	cleanedAt atomic.Int64
	running   sync.Map // key.hash → true
}

// Reset makes the next Save delete expired records: the clock may have gone back.
func (r *Records) Reset() { r.cleanedAt.Store(0) }

// Request is the idempotency state of one request. Only one goroutine uses it at a time.
type Request struct {
	// Replayed reports that the response comes from an idempotency record.
	Replayed bool

	records  *Records
	key      *key   // nil without an Idempotency-Key
	response []byte // as stored
}

// Begin registers a request with an optional Idempotency-Key. input distinguishes it from other
// requests to the operation. A key in use is a conflict. Call Done after the response is stored.
func (r *Records) Begin(who auth.Caller, operationID, idempotencyKey string, input any) (*Request, error) {
	q := &Request{records: r}
	if idempotencyKey == "" {
		return q, nil
	}
	q.key = newKey(who, operationID, idempotencyKey, input)
	if _, running := r.running.LoadOrStore(string(q.key.hash), true); running {
		return nil, api.Conflict("a request with this Idempotency-Key is still running").At("header", api.IdempotencyKeyHeader).RetryAfter(1)
	}
	return q, nil
}

// Done releases the key, so that the next request can use it.
func (q *Request) Done() {
	if q.key != nil {
		q.records.running.Delete(string(q.key.hash))
	}
}
