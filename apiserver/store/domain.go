package store

import "time"

// Domain is a domain of an account. Its name is unique in the whole store: two
// accounts can't own one domain.
type Domain struct {
	ID, AccountID, WorkspaceID string
	// Name is in canonical ASCII form.
	Name                 string
	State                Provisioning
	OutboundRoutingReady bool
	AutoRenew            bool
	// DedicatedIPID, RedirectMode, RedirectURL and PurchaseBatchID are empty
	// where there is none.
	DedicatedIPID             string
	RedirectMode, RedirectURL string
	InboundTenant             InboundTenant
	Tags                      []Tag
	// Registrant is the contact that the domain was bought for, as JSON.
	Registrant           []byte
	PurchaseBatchID      string
	CreatedAt, UpdatedAt time.Time
}

// InboundTenant is where a domain's incoming mail is handled.
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
	WorkspaceID string
	// Status is as of Now.
	Status string
	Now    time.Time
	// Tag is a tag's id or its name.
	Tag string
	// Search is a case-insensitive part of the name, in ASCII or as people write
	// it.
	Search string
	Within Within
}

// DomainReader reads domains.
type DomainReader interface {
	Domain(accountID, id string) (Domain, error)
	// DomainByName finds an account's domain by its canonical name.
	DomainByName(accountID, name string) (Domain, error)
	// DomainTaken reports whether any account owns a canonical name.
	DomainTaken(name string) (bool, error)
	Domains(accountID string, f DomainFilter, s Slice) (items []Domain, total int, err error)
	// DomainsOfPurchase returns the domains that a purchase bought, in any
	// account.
	DomainsOfPurchase(batchID string) ([]Domain, error)
	// HideUnpaid makes every later read of this Reader take the domains that were
	// created before or at a time and still wait for their payment as deleted, with
	// all that belongs to them. UnpaidDomains still returns them.
	HideUnpaid(before time.Time)
	// UnpaidDomains returns the domains that were created before or at a time and
	// wait for their payment: an account's or all if accountID is empty, and the one
	// of a name or all if name is empty.
	UnpaidDomains(accountID, name string, before time.Time) ([]Domain, error)
	// MailboxCount returns how many mailboxes a domain has.
	MailboxCount(domainID string) (int, error)
}

// DomainWriter writes domains.
type DomainWriter interface {
	// CreateDomain returns an *ExistsError where any account owns the name.
	CreateDomain(d *Domain) error
	// UpdateDomain must leave the name alone.
	UpdateDomain(accountID, id string, change func(*Domain) error) (Domain, error)
	// DeleteDomain deletes the domain with its DNS records, and the master
	// passwords and forwarding rules of its scope. The caller makes sure that it
	// has no mailboxes. Mailboxes of other domains lose their aliases in it, and
	// the internal rules to those become pending.
	DeleteDomain(accountID, id string, at time.Time) error
}
