package client

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/listcache"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// Options configure a Client; Hooks replace its clock, randomness and limits in tests.
type (
	Options = transport.Options
	Hooks   = transport.Hooks
)

// Client calls the API. It is safe for concurrent use.
type Client struct {
	DedicatedIPs    *Objects[api.DedicatedIP]
	DNSRecords      *Objects[api.DNSRecord]
	Domains         *Objects[api.Domain]
	Forwarding      *Objects[api.Forwarding]
	Mailboxes       *Objects[api.Mailbox]
	MasterPasswords *Objects[api.MasterPassword]
	ServiceAccounts *Objects[api.ServiceAccount]

	transport  *transport.Transport
	operations sync.Map // *operation, by id
	known      sync.Map // ids of objects whose secret a create has returned
	// supports contains [Objects.supports] by tag: an API supports all lifecycle operations on a kind, or none.
	supports map[string]func(ctx context.Context, op api.Spec, id string) bool

	bulkLimit atomic.Int64 // items in a bulk request

	claims *semaphore.Weighted // see ClaimDedicatedIP
}

// The keys that identify the objects of each kind.
var (
	dedicatedIPKeys    = byID(func(d *api.DedicatedIP) string { return d.ID })
	dnsRecordKeys      = byID(func(r *api.DNSRecord) string { return strconv.FormatInt(r.ID, 10) })
	forwardingKeys     = byID(func(f *api.Forwarding) string { return f.ID })
	masterPasswordKeys = byID(func(p *api.MasterPassword) string { return p.ID })
	serviceAccountKeys = byID(func(a *api.ServiceAccount) string { return a.ID })

	domainKeys = listcache.Keys[api.Domain]{
		ID:        func(d *api.Domain) string { return d.ID },
		Name:      func(d *api.Domain) string { return d.Name },
		Normalize: normalizeDomain,
	}
	mailboxKeys = listcache.Keys[api.Mailbox]{
		ID:        func(m *api.Mailbox) string { return m.ID },
		Name:      func(m *api.Mailbox) string { return m.PrimaryEmail },
		Normalize: normalizeAddress,
	}
)

func byID[T any](id func(*T) string) listcache.Keys[T] {
	return listcache.Keys[T]{ID: id, Normalize: normalizeID}
}

func normalizeID(id string) string { return strings.ToLower(id) }

// normalizeDomain returns the canonical form of a domain's name or id.
func normalizeDomain(s string) string {
	if canonical, err := domainname.Normalize(s); err == nil {
		return canonical
	}
	return normalizeID(s)
}

// normalizeAddress returns the canonical form of an address, or of an id.
func normalizeAddress(s string) string {
	if canonical, err := emailaddr.Normalize(s); err == nil {
		return canonical
	}
	return normalizeID(s)
}

// New returns a client. It sends no request.
func New(o Options) *Client {
	c := &Client{transport: transport.New(o), supports: map[string]func(context.Context, api.Spec, string) bool{}, claims: semaphore.NewWeighted(1)}
	c.bulkLimit.Store(api.MaxBulkItems)
	c.DedicatedIPs = newKind(c, dedicatedIPKeys, api.ListDedicatedIPs, api.GetDedicatedIP, api.ReleaseDedicatedIP,
		func(id string) *api.DedicatedIPRequest { return &api.DedicatedIPRequest{DedicatedIPID: id} })
	c.DNSRecords = newKind(c, dnsRecordKeys, api.ListDNSRecords, api.GetDNSRecord, api.DeleteDNSRecord,
		func(id string) *api.DNSRecordRequest { return &api.DNSRecordRequest{DNSRecordID: dnsRecordID(id)} })
	c.Domains = newKind(c, domainKeys, api.ListDomains, api.GetDomain, api.DeleteDomain,
		func(idOrName string) *api.DomainRequest { return &api.DomainRequest{Domain: idOrName} })
	c.Forwarding = newKind(c, forwardingKeys, api.ListForwarding, api.GetForwarding, api.DeleteForwarding,
		func(id string) *api.ForwardingRequest { return &api.ForwardingRequest{ForwardingID: id} })
	c.Mailboxes = newKind(c, mailboxKeys, api.ListMailboxes, api.GetMailbox, api.DeleteMailbox,
		func(idOrAddress string) *api.MailboxRequest { return &api.MailboxRequest{Mailbox: idOrAddress} })
	c.MasterPasswords = newKind(c, masterPasswordKeys, api.ListMasterPasswords, api.GetMasterPassword, api.DeleteMasterPassword,
		func(id string) *api.MasterPasswordRequest { return &api.MasterPasswordRequest{CredentialID: id} })
	c.ServiceAccounts = newKind(c, serviceAccountKeys, api.ListServiceAccounts, api.GetServiceAccount, api.RevokeServiceAccount,
		func(id string) *api.ServiceAccountRequest { return &api.ServiceAccountRequest{ServiceAccountID: id} })
	return c
}

// dnsRecordID parses a decimal id. It returns 0, which no record uses, for an invalid one.
func dnsRecordID(s string) int64 {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0 // ParseInt returns the greatest number if the id is out of range
	}
	return id
}

// AccountID returns the account that the client works on.
func (c *Client) AccountID() string { return c.transport.AccountID }

// UsesServiceAccount reports whether Options.Token is the token of the service account with the public id.
func (c *Client) UsesServiceAccount(tokenPrefix, publicID string) bool {
	return c.transport.TokenSource == nil && strings.HasPrefix(c.transport.Token, tokenPrefix+"_"+publicID+"_")
}

// ClockOffset returns how far the API's clock is ahead of this machine's, to about
// a second. It sends a request if there was no response yet. It returns 0 if the
// clocks may agree, and for an API that sends no Date.
func (c *Client) ClockOffset(ctx context.Context) time.Duration {
	if !c.transport.Reached() {
		_ = c.ping(ctx) // a refusal contains a Date too
	}
	offset, _ := c.transport.ClockOffset()
	if offset <= 0 && offset > -clockSlack {
		return 0
	}
	return offset
}

const (
	// pollMin and pollMax limit the time between two reads of WaitFor.
	pollMin = 500 * time.Millisecond
	pollMax = 15 * time.Second
	// readLag is the time in which WaitFor expects to find a new object.
	readLag = 10 * time.Minute
)

// WaitFor reads an object at growing intervals, never from a cached list, until done
// returns true, ctx ends, or get or done fails. It returns the object as last read, or nil,
// with an error too. The reads of some APIs lag: an object that was never found may
// be new, and is waited for.
func WaitFor[T any](ctx context.Context, c *Client, get func(context.Context) (*T, error), done func(*T) (bool, error)) (*T, error) {
	ctx = WithReads(ctx, Uncached)
	hooks := c.transport.Hooks
	started := hooks.Now()
	var last *T
	for interval := pollMin; ; interval = min(interval*3/2, pollMax) {
		v, err := get(ctx)
		mayAppear := IsNotFound(err) && last == nil && hooks.Now().Sub(started) < readLag
		if err != nil && !mayAppear {
			return last, err
		}
		if err == nil {
			last = v
			if ok, err := done(v); ok || err != nil {
				return last, err
			}
		}
		// Half of the interval is random, so that many waits do not poll in step.
		if ended := hooks.Sleep(ctx, interval/2+hooks.Jitter(interval/2)); ended != nil {
			return last, fmt.Errorf("waiting ended before it was ready: %w", cmp.Or(err, ended))
		}
	}
}

// Parallel calls do for each item, several at once.
func Parallel[T any](c *Client, items []T, do func(T)) {
	var workers errgroup.Group
	workers.SetLimit(c.transport.Hooks.Parallel)
	for _, item := range items {
		workers.Go(func() error { do(item); return nil })
	}
	_ = workers.Wait() // do returns no error
}
