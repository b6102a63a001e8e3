// Package idempotency replays the response of an earlier request under the same
// Idempotency-Key.
//
// The record of a response is written in the transaction of the change: either both are
// durable or none. Only a response that changed something is recorded, and a request that
// was refused is evaluated again.
//
// The keys that are in use are known to one process. A second request under such a key is a
// conflict there; in another process it waits for the account, and replays the response.
//
// A create of the same object under another key is a conflict that names the object, even
// if nobody has received the response to the first one.
package idempotency

import (
	"sync"
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
)

// Records knows the keys of the requests of this process. The zero value knows none. It is safe
// for concurrent use.
type Records struct {
	// cleanedAt is when expired records were last deleted, in Unix seconds.
	cleanedAt atomic.Int64
	running   sync.Map // of true, by key.hash
}

// Reset forgets when expired records were last deleted: the clock may have gone back.
func (r *Records) Reset() { r.cleanedAt.Store(0) }

// Request is the idempotency state of one request. One goroutine at a time uses it.
type Request struct {
	// Replayed reports that the response is an idempotency record's.
	Replayed bool

	records  *Records
	key      *key   // nil without an Idempotency-Key
	response []byte // as it is stored
}

// Begin registers a request under its Idempotency-Key, which may be empty. input distinguishes
// it from other requests to the operation. A key in use is a conflict. Done must follow.
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

// Done admits the next request with the key: the response to this one is stored.
func (q *Request) Done() {
	if q.key != nil {
		q.records.running.Delete(string(q.key.hash))
	}
}
