package api

import (
	"bytes"
	"encoding/json"

	"github.com/google/uuid"
)

// MaxBodyBytes limits a request body: a bulk request of 1000 mailboxes fits.
const MaxBodyBytes = 1 << 20

// InAccount is the path parameter of every operation.
type InAccount struct {
	AccountID string `path:"account_id" format:"uuid" doc:"Account that the operation is scoped to"`
}

// Keyed is the header of every operation that creates an object or moves money.
type Keyed struct {
	IdempotencyKey string `header:"Idempotency-Key" format:"uuid" doc:"The same request under the same key gets the same response for 24 hours; another request under it is refused"`
}

// Key returns the Idempotency-Key of a request, or "".
func (k Keyed) Key() string { return k.IdempotencyKey }

// KeyedRequest is the request for an operation that creates an object or moves money.
type KeyedRequest[B any] struct {
	InAccount
	Keyed
	Body B
}

// Paged is the query of a list operation that returns a Page.
type Paged struct {
	Page     int `query:"page" default:"1" minimum:"1" doc:"One-based page number"`
	PageSize int `query:"page_size" default:"25" minimum:"1" maximum:"1000" doc:"Maximum number of items on a page"`
}

// SetPaging sets the requested page and page size.
func (p *Paged) SetPaging(page, pageSize int) { p.Page, p.PageSize = page, pageSize }

// ListRequest is the request for a page of a list without filters.
type ListRequest struct {
	InAccount
	Paged
}

// Page is one page of a list, ordered by creation time and then by id.
type Page[T any] struct {
	Items    []T `json:"items" nullable:"false" doc:"The objects of this page"`
	Page     int `json:"page" doc:"Current one-based page number"`
	PageSize int `json:"page_size" doc:"Maximum number of items on a page"`
	Total    int `json:"total" minimum:"0" doc:"Total number of matching items"`
}

// MaxPageSize is the largest page_size.
const MaxPageSize = 1000

// Headers and limits that clients and servers share, in addition to bodies and parameters.
const (
	// IdempotencyKeyHeader identifies a request across retries.
	IdempotencyKeyHeader = "Idempotency-Key"
	// IdempotencyReplayedHeader is true in a replayed response to an earlier request with the same key.
	// It is false in the response to a GET with an Idempotency-Key, with which a client looks up a
	// create: the API honours keys, so the create can be resent.
	IdempotencyReplayedHeader = "Idempotency-Replayed"

	// TimestampLayout is the layout of every time, in UTC: RFC 3339 with microseconds.
	TimestampLayout = "2006-01-02T15:04:05.000000Z"

	// TokenPrefix begins every service account token, for scanners of leaked secrets.
	TokenPrefix = "mhsa"
)

// DefaultWorkspaceID returns the id of an account's default workspace.
func DefaultWorkspaceID(accountID string) string { return DerivedID(accountID, "workspace:default") }

// DerivedID returns the UUIDv5 (RFC 9562) of a name within an account. accountID must be a UUID.
func DerivedID(accountID, name string) string {
	return uuid.NewSHA1(uuid.MustParse(accountID), []byte(name)).String()
}

// IsID reports whether s is a UUID.
func IsID(s string) bool {
	_, err := uuid.Parse(s)
	return err == nil
}

// CanonicalID returns the canonical form of a UUID, and any other text unchanged: RFC 9562 allows upper
// case on input.
func CanonicalID(s string) string {
	if id, err := uuid.Parse(s); err == nil {
		return id.String()
	}
	return s
}

// Value returns the value of an optional field, or the zero value for null.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Nullable is a field of a PATCH body: absent (unchanged), null (cleared) or a value. Use it with omitzero.
type Nullable[T any] struct {
	Sent  bool
	Null  bool
	Value T
}

// NullableFrom sends *v, or null for a nil v.
func NullableFrom[T any](v *T) Nullable[T] {
	if v == nil {
		return Nullable[T]{Sent: true, Null: true}
	}
	return Nullable[T]{Sent: true, Value: *v}
}

func (n *Nullable[T]) UnmarshalJSON(b []byte) error {
	n.Sent = true
	if n.Null = bytes.Equal(b, []byte("null")); n.Null {
		return nil
	}
	return json.Unmarshal(b, &n.Value)
}

func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if n.Null || !n.Sent {
		return []byte("null"), nil
	}
	return json.Marshal(n.Value)
}

// EncodeJSON returns the body of a response, JSON in one line.
func EncodeJSON(v any) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return body.Bytes(), err
}
