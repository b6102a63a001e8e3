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
	// Empty if there is none.
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
	WorkspaceID string
	// Status is the one at the time Now.
	Status string
	Now    time.Time
	// Tag is a tag's id or its name.
	Tag string
	// Search is a case-insensitive part of the name, in ASCII or Unicode.
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
	// DomainsOfPurchase returns the domains of a purchase, in any account.
	DomainsOfPurchase(batchID string) ([]Domain, error)
	// HideUnpaid hides from later reads the domains that were created at or before a time and
	// are not paid for, with all that is in them. UnpaidDomains still returns them.
	HideUnpaid(before time.Time)
	// UnpaidDomains returns the unpaid domains that were created at or before a time. An empty
	// accountID or name selects all.
	UnpaidDomains(accountID, name string, before time.Time) ([]Domain, error)
}

// DomainWriter writes domains.
type DomainWriter interface {
	// CreateDomain returns an *ExistsError if any account owns the name.
	CreateDomain(d *Domain) error
	// UpdateDomain must leave the name alone.
	UpdateDomain(accountID, id string, change func(*Domain) error) (Domain, error)
	// DeleteDomain deletes the domain with its DNS records, and the master passwords and
	// forwarding rules of its scope. It must have no mailboxes. Those of other domains lose
	// their aliases in it. The confirmed rules of every account to addresses in it become
	// pending; of an unpaid domain, only those to the aliases.
	DeleteDomain(accountID, id string, at time.Time) error
}
