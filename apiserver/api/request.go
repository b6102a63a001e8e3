package api

// MaxBodyBytes is the largest request body, in bytes: a bulk request of 1000
// mailboxes with long names fits.
const MaxBodyBytes = 1 << 20

// InAccount is the path parameter of every operation.
type InAccount struct {
	AccountID string `path:"account_id" format:"uuid" doc:"Account that the operation is scoped to"`
}

// Keyed is the header of every operation that creates something or moves money.
type Keyed struct {
	IdempotencyKey string `header:"Idempotency-Key" format:"uuid" doc:"The same request under the same key gets the same answer for 24 hours; another request under it is refused"`
}

// Key returns the Idempotency-Key of a request, or "".
func (k Keyed) Key() string { return k.IdempotencyKey }

// Paged is the query of a list operation whose response is a Page.
type Paged struct {
	Page     int `query:"page" default:"1" minimum:"1" doc:"One-based page number"`
	PageSize int `query:"page_size" default:"25" minimum:"1" maximum:"1000" doc:"Maximum number of items on a page"`
}

// SetPaging sets the page and the page size to ask for.
func (p *Paged) SetPaging(page, pageSize int) { p.Page, p.PageSize = page, pageSize }

// Page is one page of a list, ordered by creation time and then by id.
type Page[T any] struct {
	Items    []T `json:"items" nullable:"false" doc:"The objects of this page"`
	Page     int `json:"page" doc:"Current one-based page number"`
	PageSize int `json:"page_size" doc:"Maximum number of items on a page"`
	Total    int `json:"total" doc:"Total number of matching items"`
}

// MaxPageSize is the largest page_size.
const MaxPageSize = 1000
