package journal

import (
	"encoding/json"
	"time"
)

// Entry is a request with its answer.
type Entry struct {
	// Seq counts the requests in the order in which they ended, from 1.
	Seq int64 `json:"seq"`
	// Time is when the request arrived, by the service's clock.
	Time      time.Time `json:"time"`
	RequestID string    `json:"request_id"`
	Method    string    `json:"method"`
	// Path and Query have a one-time link and a token in them replaced.
	Path  string `json:"path"`
	Query string `json:"query,omitempty"`
	// Operation is its id in the OpenAPI document; empty for what is none, such as
	// a page. AccountID is that of its path.
	Operation string `json:"operation,omitempty"`
	AccountID string `json:"account_id,omitempty"`
	// Credential is the kind of it: one of the constants.
	Credential string `json:"credential"`
	// IdempotencyKey is the beginning of the key's SHA-256 in hexadecimal: enough
	// to tell two of them apart. The key itself opens the kept answer.
	IdempotencyKey string `json:"idempotency_key_sha256,omitempty"`
	// Status is what was sent; 0 where the connection was closed without an
	// answer.
	Status int `json:"status"`
	// Milliseconds is how long that took.
	Milliseconds float64 `json:"duration_ms"`
	// Fault is the id of the rule that acted on the request.
	Fault string `json:"fault,omitempty"`
	// Request is the body that the service read and Answer the one that was sent,
	// with secrets replaced. They are kept where they are JSON of at most 64 KiB;
	// else Omitted and AnswerOmitted say why not.
	Request       json.RawMessage `json:"request,omitempty"`
	Omitted       string          `json:"request_omitted,omitempty"`
	Answer        json.RawMessage `json:"answer,omitempty"`
	AnswerOmitted string          `json:"answer_omitted,omitempty"`
}

// The kinds of credential.
const (
	// None is a request without one, or with one that is no bearer token.
	None = "none"
	// ServiceAccount is a bearer token that looks like a service account's, and
	// AccessToken any other: whether it is valid shows in the status.
	ServiceAccount = "service_account"
	AccessToken    = "access_token"
	// Owner is a request of an OwnerClient, which needs none.
	Owner = "owner"
)

// Filter selects entries; an empty field selects all.
type Filter struct {
	Operation string
	Status    int
	// Since is the sequence number after which the entries begin.
	Since int64
}

func (f Filter) selects(e *Entry) bool {
	return e.Seq > f.Since && (f.Operation == "" || e.Operation == f.Operation) && (f.Status == 0 || e.Status == f.Status)
}
