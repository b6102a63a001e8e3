// Package journal records requests and responses, so that tests can check a client's requests.
//
// Set a Journal's Middleware in apiserver.Options, around the middleware of package fault. Entries
// are in memory and contain no secrets: no credential, no Idempotency-Key, no one-time link, and no
// secret member of a body.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package journal

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
)

// Size is the maximum number of entries in a Journal. The oldest are dropped first.
const Size = 1000

// Entry is a request with its response.
type Entry struct {
	// Seq numbers the requests in the order in which they ended, from 1.
	Seq int64 `json:"seq"`
	// Time is the request's arrival by the service's clock.
	Time      time.Time `json:"time"`
	RequestID string    `json:"request_id"`
	Method    string    `json:"method"`
	// Path and Query are redacted, see Redacted.
	Path  string `json:"path"`
	Query string `json:"query,omitempty"`
	// Operation is the operation's id in the OpenAPI document, AccountID the account in the path.
	// Both are empty for other requests, such as pages.
	Operation string `json:"operation,omitempty"`
	AccountID string `json:"account_id,omitempty"`
	// Credential is the kind of credential: None, ServiceAccount, AccessToken or Owner.
	Credential string `json:"credential"`
	// IdempotencyKey is the start of the key's SHA-256 in hexadecimal, enough to compare keys. The
	// key itself would give access to the stored response.
	IdempotencyKey string `json:"idempotency_key_sha256,omitempty"`
	// Status is the status code, 0 if the connection was closed without a response.
	Status       int     `json:"status"`
	Milliseconds float64 `json:"duration_ms"`
	// Fault is the id of the applied fault rule. OtherFaults are the rules that delayed the request or
	// shortened its page before. If the operation's faults are left to chance, Key is the object, by
	// its name, and Attempt the number of the request for the operation on it: both are the same in
	// each run with the same seed.
	Fault       string   `json:"fault,omitempty"`
	OtherFaults []string `json:"other_faults,omitempty"`
	Key         string   `json:"fault_key,omitempty"`
	Attempt     int      `json:"fault_attempt,omitempty"`
	// Request is the body that the service read, Response the body that was sent, both redacted. If
	// the body is not JSON or larger than 64 KiB, RequestOmitted or ResponseOmitted contains the
	// reason instead.
	Request         json.RawMessage `json:"request,omitempty"`
	RequestOmitted  string          `json:"request_omitted,omitempty"`
	Response        json.RawMessage `json:"response,omitempty"`
	ResponseOmitted string          `json:"response_omitted,omitempty"`
}

// The kinds of credential.
const (
	// None is no credential, or a credential other than a bearer token.
	None = "none"
	// ServiceAccount is a bearer token in the form of a service account token, AccessToken any
	// other bearer token, valid or not.
	ServiceAccount = "service_account"
	AccessToken    = "access_token"
	// Owner is a request from an apiserver.Service's OwnerClient.
	Owner = "owner"
)

// Journal stores the newest entries. It contains an entry before the client can have read the whole
// response. The zero value is an empty journal. It is safe for concurrent use and must not be
// copied.
type Journal struct {
	// Faults are the faults of the same service, for Check; nil checks less.
	Faults *fault.Injector

	mu      sync.Mutex
	entries []Entry // in order
	last    int64
	dropped int64
}

// Entries returns the matching entries in order. It panics if the filter is invalid, because a test
// with such a filter could pass for the wrong reason; see Check.
func (j *Journal) Entries(f Filter) []Entry {
	if err := j.Check(f); err != nil {
		panic("journal: " + err.Error())
	}
	return j.matching(f)
}

func (j *Journal) matching(f Filter) []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(append([]Entry{}, j.entries...), func(e Entry) bool { return !f.matches(e) })
}

// Last returns the newest entry's sequence number, for Filter.Since, or 0. dropped is the number of
// entries replaced by newer ones since Clear.
func (j *Journal) Last() (seq, dropped int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last, j.dropped
}

// Clear removes all entries. Sequence numbers continue.
func (j *Journal) Clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries, j.dropped = nil, 0
}

func (j *Journal) add(e Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	e.Seq = j.last
	if len(j.entries) == Size {
		j.entries = j.entries[1:]
		j.dropped++
	}
	j.entries = append(j.entries, e)
}
