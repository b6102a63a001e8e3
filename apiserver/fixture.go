package apiserver

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Fixture describes accounts as a test or a demonstration finds them, and the
// registrar that they buy domains from. ReadFixture reads one from JSON, where
// the fields have the API's names; testdata/fixture.json is an example.
//
// Give Registrar to New as Options.Registrar and the fixture to LoadFixture.
//
// Where an id is left out it is the UUIDv5 of the account's id and a name, so
// that it is the same in each run: "workspace:<name>", "domain:<name>",
// "mailbox:<address>", "tag:<name>", "dedicated-ip-option:<name>",
// "dedicated-ip:<name>", "forwarding:<scope id>:<target>".
type Fixture struct {
	Registrar Registrar        `json:"registrar"`
	Accounts  []FixtureAccount `json:"accounts"`
}

// FixtureAccount is an account. Only its id is required.
type FixtureAccount struct {
	ID string `json:"id"`
	// Status is active by default.
	Status string `json:"status"`
	// PlanID is smtp_per_mailbox by default.
	PlanID string `json:"plan_id"`
	// Workspaces come beside the one named Default, which every account has.
	Workspaces []FixtureWorkspace `json:"workspaces"`
	// DedicatedIPOptions are all that can be claimed; without the field there are
	// the two options of an account that no fixture made.
	DedicatedIPOptions []FixtureDedicatedIPOption `json:"dedicated_ip_options"`
	// DedicatedIPs are claimed already.
	DedicatedIPs []FixtureDedicatedIP `json:"dedicated_ips"`
	Domains      []FixtureDomain      `json:"domains"`
	// Forwarding are the rules for the whole account.
	Forwarding []FixtureForwarding `json:"forwarding"`
}

// FixtureWorkspace is a workspace with its forwarding rules. One named Default
// stands for the account's own.
type FixtureWorkspace struct {
	ID         string              `json:"id"`
	Name       string              `json:"name"`
	Forwarding []FixtureForwarding `json:"forwarding"`
}

// FixtureDomain is a domain, with the system-managed DNS records that every
// domain has. Only its name is required. The registrar's rules don't apply to
// it: it may be one that nobody sells, such as example.test.
type FixtureDomain struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Workspace is a workspace's name or id, Default by default.
	Workspace string `json:"workspace"`
	// Status is active by default.
	Status    string `json:"status"`
	AutoRenew bool   `json:"auto_renew"`
	// OutboundRoutingReady is true by default.
	OutboundRoutingReady *bool `json:"outbound_routing_ready"`
	// DedicatedIP is the name or the id of one of the account's.
	DedicatedIP string `json:"dedicated_ip"`
	// RedirectMode is 301 by default where there is a RedirectURL.
	RedirectMode  string                `json:"redirect_mode"`
	RedirectURL   string                `json:"redirect_url"`
	InboundTenant *FixtureInboundTenant `json:"inbound_tenant"`
	// Tags are names.
	Tags       []string            `json:"tags"`
	Mailboxes  []FixtureMailbox    `json:"mailboxes"`
	DNSRecords []FixtureDNSRecord  `json:"dns_records"`
	Forwarding []FixtureForwarding `json:"forwarding"`
}

// FixtureInboundTenant is where a domain's incoming mail is handled.
type FixtureInboundTenant struct {
	ID         string `json:"id"`
	ExternalID string `json:"external_id"`
	Name       string `json:"name"`
	Type       string `json:"type"`
}

// FixtureMailbox is a mailbox. Its local part and names are required.
type FixtureMailbox struct {
	ID        string `json:"id"`
	LocalPart string `json:"local_part"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	// Status is active by default.
	Status string `json:"status"`
	// QuotaAllowed is in bytes, and that of a new mailbox by default.
	QuotaAllowed *int64 `json:"quota_allowed"`
	QuotaUsed    int64  `json:"quota_used"`
	// Aliases are complete addresses.
	Aliases []FixtureAlias `json:"aliases"`
}

// FixtureAlias is a further address of a mailbox.
type FixtureAlias struct {
	Alias      string `json:"alias"`
	IsCatchAll bool   `json:"is_catch_all"`
}

// FixtureDNSRecord is a record that the customer made.
type FixtureDNSRecord struct {
	// Name is @ by default.
	Name     string `json:"name"`
	Type     string `json:"type"`
	Value    string `json:"value"`
	Priority *int64 `json:"priority"`
	TTL      *int64 `json:"ttl"`
}

// FixtureForwarding is a forwarding rule of the account, the workspace or the
// domain that it stands in.
type FixtureForwarding struct {
	ID          string `json:"id"`
	TargetEmail string `json:"target_email"`
	// Active is the customer's switch, true by default.
	Active *bool `json:"active"`
	// VerificationState is verified by default. A target that is a mailbox of
	// the account is internal, and can't be anything else.
	VerificationState string `json:"verification_state"`
}

// FixtureDedicatedIPOption is something that can be claimed.
type FixtureDedicatedIPOption struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	CountryCode string   `json:"country_code"`
	ASN         int64    `json:"asn"`
	Addresses   []string `json:"addresses"`
}

// FixtureDedicatedIP is an address that has been claimed.
type FixtureDedicatedIP struct {
	ID string `json:"id"`
	// Name is the option's with the address by default.
	Name string `json:"name"`
	// Option is the name or the id of what it was claimed from.
	Option string `json:"option"`
	// IP is one of the option's, the first that is left by default.
	IP string `json:"ip"`
	// Status is active by default.
	Status          string `json:"status"`
	FCrDNSConfirmed bool   `json:"fcrdns_confirmed"`
	// Healthy is true by default.
	Healthy *bool  `json:"healthy"`
	RDNS    string `json:"rdns"`
}

// ReadFixture reads a fixture and checks it as LoadFixture does. The JSON is
// taken strictly: a field that does not exist is an error, and so is null. The
// error names every place that is wrong.
func ReadFixture(r io.Reader) (*Fixture, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	f := new(Fixture)
	if err := decodeStrict(data, f); err != nil {
		return nil, err
	}
	var p fixturePlanner
	p.registrar(&f.Registrar)
	p.accounts(f.Accounts)
	return f, p.err()
}

// maxFixtureProblems is how many problems an error tells: a mistake in a
// generated file is in all of its lines.
const maxFixtureProblems = 20

// fixturePlace is where something stands, for errors.
type fixturePlace string

// in returns the place of something within p.
func (p fixturePlace) in(format string, args ...any) fixturePlace {
	inner := fixturePlace(fmt.Sprintf(format, args...))
	if p == "" {
		return inner
	}
	return p + ": " + inner
}

// item names the i-th of a list, by its key too where it has one.
func (p fixturePlace) item(list string, i int, key string) fixturePlace {
	if key == "" {
		return p.in("%s[%d]", list, i)
	}
	return p.in("%s[%d] (%.80s)", list, i, key)
}

// problems collects what is wrong with a fixture.
type problems struct {
	found   []string
	further int
}

func (p *problems) fail(at fixturePlace, format string, args ...any) {
	if len(p.found) == maxFixtureProblems {
		p.further++
		return
	}
	p.found = append(p.found, string(at.in(format, args...)))
}

func (p *problems) err() error {
	switch {
	case len(p.found) == 0:
		return nil
	case p.further > 0:
		return fmt.Errorf("%s\n… and %d more problems", strings.Join(p.found, "\n"), p.further)
	}
	return errors.New(strings.Join(p.found, "\n"))
}
