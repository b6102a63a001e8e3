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
//	the response of a GET request that looks it up      mark removed
//	the server is killed after the commit               not marked: the next run gets the conflict
//
// In doubt there is no mark: a second resource for an object that another one manages
// would be worse than a conflict, which explains how to import the object.
//
// All of this is in interrupted.go. The client's side is internal/client/create.go.
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

// Records reads and writes idempotency records, and knows the keys of the requests that
// are in flight in this process. It is safe for concurrent use.
type Records struct {
	store  store.Store
	now    func() time.Time
	random *random.Source
	log    *slog.Logger
	// cleanedAt is when expired records were last deleted, in Unix seconds.
	cleanedAt atomic.Int64

	mu       sync.Mutex
	inFlight map[string]*flight
}

// New returns Records in s.
func New(s store.Store, now func() time.Time, source *random.Source, log *slog.Logger) *Records {
	return &Records{store: s, now: now, random: source, log: log, inFlight: map[string]*flight{}}
}

// Reset forgets when expired records were last deleted: the clock may have gone back.
func (r *Records) Reset() { r.cleanedAt.Store(0) }

// flight is shared by the requests in flight under one key: the creates, and GET
// requests that look the outcome up.
type flight struct {
	key      []byte
	requests int  // guarded by Records.mu
	running  bool // likewise: a create is in its operation

	mu        sync.Mutex
	delivered bool // a client got the response, or looked the outcome up
	marked    bool // the record is marked as interrupted
}

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
	key         *key    // nil without an Idempotency-Key
	flight      *flight // nil without a key, unless lookup is set
	lookup      bool    // a GET request that looks up the outcome of a create
	// interrupted reports that the replayed record is marked as interrupted.
	interrupted bool
	response    []byte // as it is stored
	// created is the object that a transaction creates if it is committed.
	created   *created
	committed bool
}

// Begin registers a request under its Idempotency-Key, or under that of a create which it
// looks up; both may be empty. input is everything that distinguishes it from other
// requests to the operation. The error is a conflict if a request with the key is still
// running. The caller must call Ran after the operation, and End after the response.
func (r *Records) Begin(who auth.Caller, operationID, idempotencyKey, lookup string, input any) (*Request, error) {
	q := &Request{records: r, caller: who, operationID: operationID, lookup: lookup != ""}
	switch {
	case idempotencyKey != "":
		var err error
		if q.key, err = newKey(q, idempotencyKey, input); err != nil {
			return nil, err
		}
		if q.flight = r.join(q.key.hash, true); q.flight == nil {
			return nil, api.Conflict("a request with this Idempotency-Key is still running").At("header", api.IdempotencyKeyHeader).RetryAfter(1)
		}
	case q.lookup:
		q.flight = r.join(q.hash(lookup), false)
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

// join adds a request to those of a key. It returns nil if the request is a create and
// another one is running.
func (r *Records) join(key []byte, isCreate bool) *flight {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.inFlight[string(key)]
	if f == nil {
		f = &flight{key: key}
		r.inFlight[string(key)] = f
	}
	if isCreate {
		if f.running {
			return nil
		}
		f.running = true
	}
	f.requests++
	return f
}

// Ran admits the next create with the key: the response to this one is stored.
func (q *Request) Ran() {
	if q.key == nil {
		return
	}
	q.records.mu.Lock()
	defer q.records.mu.Unlock()
	q.flight.running = false
}

func (r *Records) leave(f *flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.requests--; f.requests == 0 {
		delete(r.inFlight, string(f.key))
	}
}

// HasKey reports whether the request has an Idempotency-Key.
func (q *Request) HasKey() bool { return q.key != nil }
