package client

import (
	"context"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// Options configure a Client, Hooks replace its clock and randomness in tests.
type (
	Options = transport.Options
	Hooks   = transport.Hooks
)

// Client calls the API. It is safe for concurrent use. It keeps what it learns of
// the API for its lifetime.
type Client struct {
	*core

	dedicatedIPs    collection[api.DedicatedIP]
	dnsRecords      collection[api.DNSRecord]
	domains         collection[api.Domain]
	forwarding      collection[api.Forwarding]
	mailboxes       collection[api.Mailbox]
	masterPasswords collection[api.MasterPassword]
	serviceAccounts collection[api.ServiceAccount]

	// claims (of size 1) serializes the claims of dedicated IPs, see
	// ClaimDedicatedIP.
	claims        chan struct{}
	recordDomains *recordDomains
	// refreshedRecords are the ids of the DNS records that NoteRefreshedDNSRecord got.
	refreshedRecords sync.Map
}

// New returns a client. It sends nothing yet.
func New(o Options) (*Client, error) {
	t, err := transport.New(o)
	if err != nil {
		return nil, err
	}
	c := &core{transport: t}
	return &Client{
		core:            c,
		dedicatedIPs:    newCollection(c, "dedicated IP", api.ListDedicatedIPs, dedicatedIPKeys),
		dnsRecords:      newCollection(c, "DNS record", api.ListDNSRecords, dnsRecordKeys),
		domains:         newCollection(c, "domain", api.ListDomains, domainKeys),
		forwarding:      newCollection(c, "forwarding rule", api.ListForwarding, forwardingKeys),
		mailboxes:       newCollection(c, "mailbox", api.ListMailboxes, mailboxKeys),
		masterPasswords: newCollection(c, "master password", api.ListMasterPasswords, masterPasswordKeys),
		serviceAccounts: newCollection(c, "service account", api.ListServiceAccounts, serviceAccountKeys),
		claims:          make(chan struct{}, 1),
		recordDomains:   newRecordDomains(),
	}, nil
}

// AccountID returns the account that the client works on.
func (c *Client) AccountID() string { return c.transport.AccountID() }

// UsesServiceAccount reports whether the client authenticates with the token of the
// service account that has this prefix and public id. It can't know for a
// TokenSource.
func (c *Client) UsesServiceAccount(tokenPrefix, publicID string) bool {
	return publicID != "" && c.transport.HasToken(tokenPrefix+"_"+publicID+"_")
}

// ClockOffset returns how far the API's clock is ahead of this machine's, to about
// a second; clocks that may agree count as equal. Before the first response it
// sends a request to find out. An API that sends no Date, such as the embedded one,
// is assumed to have this machine's clock.
func (c *Client) ClockOffset(ctx context.Context) time.Duration {
	offset, known := c.transport.ClockOffset()
	if !known && !c.transport.Reached() {
		_ = c.ping(ctx) // a refusal has a Date too
		offset, _ = c.transport.ClockOffset()
	}
	if offset <= 0 && offset > -clockSlack {
		return 0
	}
	return offset
}
