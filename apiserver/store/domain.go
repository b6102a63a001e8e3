package store

import "time"

// Domain is a domain of an account. Its name is unique in the whole store.
type Domain struct {
	ID, AccountID, WorkspaceID string
	// Name is in canonical ASCII form.
	Name                 string
	State                Provisioning
	OutboundRoutingReady bool
	AutoRenew            bool
	// DedicatedIPID may be empty.
	DedicatedIPID             string
	RedirectMode, RedirectURL string
	InboundTenant             InboundTenant
	Tags                      []Tag
	// Registrant is the contact of the purchase, as JSON.
	Registrant           []byte
	PurchaseBatchID      string
	CreatedAt, UpdatedAt time.Time
}

// Identity implements [Object].
func (d Domain) Identity() Identity { return Identity{d.AccountID, "domain", d.ID, d.Name} }

// InboundTenant identifies the service that handles a domain's incoming mail.
type InboundTenant struct {
	ID         string `json:"id,omitempty"`
	ExternalID string `json:"external_id,omitempty"`
	Name       string `json:"name,omitempty"`
	Type       string `json:"type,omitempty"`
}

// Tag is a label of a domain.
type Tag struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// DomainFilter selects domains; an empty field selects all.
type DomainFilter struct {
	WorkspaceID, DedicatedIPID string
	// Status is the status at the time Now.
	Status string
	Now    time.Time
	// Tag is a tag's id or its name.
	Tag string
	// Search is a case-insensitive part of the name, in ASCII or Unicode.
	Search string
	Within Within
}
