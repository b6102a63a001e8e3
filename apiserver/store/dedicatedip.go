package store

import "time"

// DedicatedIP is an address allocation of an account.
type DedicatedIP struct {
	ID, AccountID, OptionID string
	Name, Type              string
	State                   Provisioning
	// ASN is zero and CountryCode empty if they are unknown.
	ASN                  int64
	CountryCode          string
	Addresses            []IPAddress
	CreatedAt, UpdatedAt time.Time
}

// Identity implements [Object].
func (d DedicatedIP) Identity() Identity { return Identity{d.AccountID, "dedicated_ip", d.ID, d.Name} }

// IPAddress is one address of a dedicated IP.
type IPAddress struct {
	IP              string `json:"ip"`
	FCrDNSConfirmed bool   `json:"fcrdns_confirmed"`
	Healthy         *bool  `json:"healthy"`
	RDNS            string `json:"rdns,omitempty"`
}

// DedicatedIPOption is a set of addresses from which an account can claim one.
type DedicatedIPOption struct {
	ID, AccountID, Name, Type, CountryCode string
	ASN                                    int64
	// Addresses includes the claimed addresses.
	Addresses []string
	CreatedAt time.Time
	UpdatedAt time.Time

	// Claimed lists the addresses that any account claimed. Only DedicatedIPOptions sets it.
	Claimed []string
}

// Identity implements [Object].
func (o DedicatedIPOption) Identity() Identity {
	return Identity{o.AccountID, "dedicated_ip_option", o.ID, o.Name}
}

// DedicatedIPFilter selects dedicated IPs; an empty field selects all.
type DedicatedIPFilter struct {
	// Status is the status at the time Now.
	Status      string
	Now         time.Time
	CountryCode string
}
