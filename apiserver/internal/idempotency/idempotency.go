// Package idempotency replays the response of an earlier request under the same
// Idempotency-Key, and resumes creates that were interrupted.
//
// A create whose response does not reach its client leaves an object that the client
// does not know: a later run of the same configuration would get a conflict. The
// idempotency record of such a create is therefore marked as interrupted. The same
// request of the same caller under another key then returns the object, once, with an
// Idempotency-Resumed header.
//
//	event                                               record
//	the client disconnects before the commit            marked by the create's transaction
//	it disconnects before the last byte was written     marked at the end of the request
//	a replay of the response is delivered, or
//	the response of a GET request that looks it up      mark removed, and none is set any more
//	the create is resumed                               likewise
//	the server is killed after the commit               not marked: the next run gets the conflict
//
// All of it is in the record, because another replica may serve the next request while this
// one waits for the client to disconnect. Only the keys that are in use are known to one
// replica alone. A second create under such a key gets a conflict there; on another
// replica it waits for the account, and replays the response.
//
// In doubt there is no mark: a second resource for an object that another one manages
// would be worse than a conflict, which explains how to import the object.
//
// All of this is in interrupted.go. The client's side is internal/client/create.go.
//
// A client that keeps a state, and may be killed before it has stored what it created, adds
// an Idempotency-Origin to its creates (origin.go). Their objects are unconfirmed until its
// next run has reported which of them the state has:
//
//	event                                              object
//	a create with an origin                            unconfirmed
//	the run, or a later one, reports it                forgotten
//	a later run reports that the state has no others   lost
//	an equal create by the same caller in another run  returned if it is lost, and unconfirmed again
//	a week has passed                                  forgotten
package idempotency

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Records reads and writes idempotency records, and knows the keys of the creates that
// run in this process. It is safe for concurrent use.
type Records struct {
	store  store.Store
	now    func() time.Time
	random *random.Source
	log    *slog.Logger
	// cleanedAt is when expired records were last deleted, in Unix seconds.
	cleanedAt atomic.Int64

	mu      sync.Mutex
	running map[string]bool // by key.hash
}

// New returns Records in s.
func New(s store.Store, now func() time.Time, source *random.Source, log *slog.Logger) *Records {
	return &Records{store: s, now: now, random: source, log: log, running: map[string]bool{}}
}

// Reset forgets when expired records were last deleted: the clock may have gone back.
func (r *Records) Reset() { r.cleanedAt.Store(0) }

// Request is the idempotency state of one request. One goroutine at a time uses it.
type Request struct {
	// Replayed reports that the response is an idempotency record's.
	Replayed bool
	// Resumed reports that the response names an object that an interrupted request
	// created.
	Resumed bool

	records     *Records
	caller      auth.Caller
	operationID string
	key         *key   // nil without an Idempotency-Key
	lookup      []byte // hash of the key of the create that a GET request looks up
	origin      Origin
	// known reports that the replayed record is store.IdempotencyRecord.Delivered.
	known    bool
	response []byte // as it is stored
	// created is the object that a transaction creates if it is committed.
	created   *created
	committed bool
}

// Headers are those of a request that concern idempotency. Each may be empty.
type Headers struct {
	// Key is the Idempotency-Key, and Lookup that of a create which a GET request looks up.
	Key, Lookup string
	Origin      Origin
}

// Begin registers a request under its Idempotency-Key, or under that of a create which it
// looks up. input is everything that distinguishes it from other requests to the
// operation. The error is a conflict if a request with the key is still running. The
// caller must call Ran after the operation, and End after the response.
func (r *Records) Begin(who auth.Caller, operationID string, h Headers, input any) (*Request, error) {
	q := &Request{records: r, caller: who, operationID: operationID, origin: h.Origin}
	switch {
	case h.Key != "":
		var err error
		if q.key, err = newKey(q, h.Key, input); err != nil {
			return nil, err
		}
		if !r.begin(q.key) {
			return nil, api.Conflict("a request with this Idempotency-Key is still running").At("header", api.IdempotencyKeyHeader).RetryAfter(1)
		}
	case h.Lookup != "":
		q.lookup = q.hash(h.Lookup)
	}
	return q, nil
}

// hash identifies the caller and some text.
func (q *Request) hash(text ...string) []byte {
	hash := sha256.New()
	for _, part := range append([]string{q.caller.AccountID, q.caller.Subjects[0].Type, q.caller.Subjects[0].ID}, text...) {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	return hash.Sum(nil)
}

// begin registers a key. It returns false if a create with the key is running.
func (r *Records) begin(k *key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running[string(k.hash)] {
		return false
	}
	r.running[string(k.hash)] = true
	return true
}

// Ran admits the next create with the key: the response to this one is stored.
func (q *Request) Ran() {
	if q.key == nil {
		return
	}
	q.records.mu.Lock()
	defer q.records.mu.Unlock()
	delete(q.records.running, string(q.key.hash))
}

// HasKey reports whether the request has an Idempotency-Key.
func (q *Request) HasKey() bool { return q.key != nil }
