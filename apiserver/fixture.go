package apiserver

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/strictjson"
)

// Fixture describes accounts as a test or a demonstration finds them, and the
// rules of the service that they are in. ReadFixture reads one from JSON, where
// the fields have the API's names; testdata/fixture.json is an example.
// LoadFixture loads one, DumpFixture makes one of what is there.
//
// Where an id is left out it is the UUIDv5 of the account's id and a name, so
// that it is the same in each run: "workspace:<name>", "domain:<name>",
// "mailbox:<address>", "tag:<name>", "dedicated-ip-option:<name>",
// "dedicated-ip:<name>", "forwarding:<scope id>:<target>",
// "authorization:<subject type>:<subject id>:<what is granted>:<resource id>".
type Fixture struct {
	// Registrar is where all accounts buy domains; nil leaves the one that the
	// service has.
	Registrar *Registrar `json:"registrar,omitempty"`
	// MaxMailboxes bounds the mailboxes of each account, 0 for no bound; nil leaves
	// the bound that the service has. Accounts of a fixture may have more.
	MaxMailboxes *int             `json:"max_mailboxes,omitempty"`
	Accounts     []FixtureAccount `json:"accounts"`
}

// FixtureAccount is an account. Only its id is required.
type FixtureAccount struct {
	ID string `json:"id"`
	// Status is active by default.
	Status string `json:"status,omitempty"`
	// CancelsAt is when a pending cancellation takes effect, by default at the end
	// of the billing period.
	CancelsAt time.Time `json:"cancels_at,omitzero"`
	// PlanID is smtp_per_mailbox by default.
	PlanID string `json:"plan_id,omitempty"`
	// NextPlanID is the plan from PlanChangesAt on.
	NextPlanID    string    `json:"next_plan_id,omitempty"`
	PlanChangesAt time.Time `json:"plan_changes_at,omitzero"`
	// Workspaces come beside the one named Default, which every account has.
	Workspaces []FixtureWorkspace `json:"workspaces,omitempty"`
	// DedicatedIPOptions are all that can be claimed; without the field there are
	// the two options of an account that no fixture made.
	DedicatedIPOptions []FixtureDedicatedIPOption `json:"dedicated_ip_options,omitzero"`
	// DedicatedIPs are claimed already.
	DedicatedIPs []FixtureDedicatedIP `json:"dedicated_ips,omitempty"`
	Domains      []FixtureDomain      `json:"domains,omitempty"`
	// Forwarding are the rules for the whole account.
	Forwarding []FixtureForwarding `json:"forwarding,omitempty"`
	// Authorizations come beside that of the account's owner.
	Authorizations []FixtureAuthorization `json:"authorizations,omitempty"`
}

// FixtureWorkspace is a workspace with its forwarding rules. One named Default
// stands for the account's own.
type FixtureWorkspace struct {
	ID         string              `json:"id,omitempty"`
	Name       string              `json:"name"`
	Forwarding []FixtureForwarding `json:"forwarding,omitempty"`
}

// FixtureDomain is a domain, with the system-managed DNS records that every
// domain has. Only its name is required. The registrar's rules don't apply to
// it: it may be one that nobody sells, such as example.test.
type FixtureDomain struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	// Workspace is a workspace's name or id, Default by default.
	Workspace string `json:"workspace,omitempty"`
	// Status is active by default.
	Status string `json:"status,omitempty"`
	// ReadyAt is when a pending domain becomes active; without it, it never does.
	ReadyAt   time.Time `json:"ready_at,omitzero"`
	AutoRenew bool      `json:"auto_renew,omitempty"`
	// OutboundRoutingReady is true by default.
	OutboundRoutingReady *bool `json:"outbound_routing_ready,omitempty"`
	// DedicatedIP is the name or the id of one of the account's.
	DedicatedIP string `json:"dedicated_ip,omitempty"`
	// RedirectMode is 301 by default where there is a RedirectURL.
	RedirectMode  string                `json:"redirect_mode,omitempty"`
	RedirectURL   string                `json:"redirect_url,omitempty"`
	InboundTenant *FixtureInboundTenant `json:"inbound_tenant,omitempty"`
	// PurchaseBatchID is the purchase that a domain in pending_payment waits for,
	// a UUID.
	PurchaseBatchID string `json:"purchase_batch_id,omitempty"`
	// Tags are names.
	Tags       []string            `json:"tags,omitempty"`
	Mailboxes  []FixtureMailbox    `json:"mailboxes,omitempty"`
	DNSRecords []FixtureDNSRecord  `json:"dns_records,omitempty"`
	Forwarding []FixtureForwarding `json:"forwarding,omitempty"`
}

// FixtureInboundTenant is where a domain's incoming mail is handled.
type FixtureInboundTenant struct {
	ID         string `json:"id,omitempty"`
	ExternalID string `json:"external_id,omitempty"`
	Name       string `json:"name,omitempty"`
	Type       string `json:"type,omitempty"`
}

// FixtureMailbox is a mailbox. Its local part and names are required.
type FixtureMailbox struct {
	ID        string `json:"id,omitempty"`
	LocalPart string `json:"local_part"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	// Status is active by default.
	Status string `json:"status,omitempty"`
	// ReadyAt is when a mailbox in provisioning becomes active; without it, it
	// never does.
	ReadyAt time.Time `json:"ready_at,omitzero"`
	// QuotaAllowed is in bytes, and that of a new mailbox by default.
	QuotaAllowed *int64 `json:"quota_allowed,omitempty"`
	QuotaUsed    int64  `json:"quota_used,omitempty"`
	// Aliases are complete addresses in domains of the account. No other mailbox
	// can have such an address.
	Aliases []FixtureAlias `json:"aliases,omitempty"`
}

// FixtureAlias is a further address of a mailbox.
type FixtureAlias struct {
	Alias      string `json:"alias"`
	IsCatchAll bool   `json:"is_catch_all,omitempty"`
}

// FixtureDNSRecord is a record that the customer made.
type FixtureDNSRecord struct {
	// Name is @ by default.
	Name     string `json:"name,omitempty"`
	Type     string `json:"type"`
	Value    string `json:"value"`
	Priority *int64 `json:"priority,omitempty"`
	TTL      *int64 `json:"ttl,omitempty"`
}

// FixtureForwarding is a forwarding rule of the account, the workspace or the
// domain that it stands in.
type FixtureForwarding struct {
	ID          string `json:"id,omitempty"`
	TargetEmail string `json:"target_email"`
	// Active is the customer's switch, true by default.
	Active *bool `json:"active,omitempty"`
	// VerificationState is verified by default. A target that is an address of
	// the account, an alias included, is internal and can't be anything else.
	VerificationState string `json:"verification_state,omitempty"`
}

// FixtureDedicatedIPOption is something that can be claimed.
type FixtureDedicatedIPOption struct {
	ID          string   `json:"id,omitempty"`
	Name        string   `json:"name"`
	CountryCode string   `json:"country_code"`
	ASN         int64    `json:"asn,omitempty"`
	Addresses   []string `json:"addresses,omitempty"`
}

// FixtureDedicatedIP is an address that has been claimed.
type FixtureDedicatedIP struct {
	ID string `json:"id,omitempty"`
	// Name is the option's with the address by default.
	Name string `json:"name,omitempty"`
	// Option is the name or the id of what it was claimed from.
	Option string `json:"option"`
	// IP is one of the option's, the first that is left by default.
	IP string `json:"ip,omitempty"`
	// Status is active by default.
	Status          string `json:"status,omitempty"`
	FCrDNSConfirmed bool   `json:"fcrdns_confirmed,omitempty"`
	// Healthy is true by default.
	Healthy *bool  `json:"healthy,omitempty"`
	RDNS    string `json:"rdns,omitempty"`
}

// FixtureAuthorization is a grant to a user or a group of the OAuth issuer. A
// fixture has no service accounts that could be given one.
type FixtureAuthorization struct {
	ID string `json:"id,omitempty"`
	// GrantKind is capability by default.
	GrantKind string `json:"grant_kind,omitempty"`
	// SubjectType is user by default.
	SubjectType string `json:"subject_type,omitempty"`
	// SubjectID is what the issuer names the user or the group by.
	SubjectID string `json:"subject_id"`
	// CapabilityKey is for the grant kind capability alone.
	CapabilityKey string `json:"capability_key,omitempty"`
	// ResourceType narrows a capability to Resource, which is the name or the id
	// of a workspace or a domain.
	ResourceType string `json:"resource_type,omitempty"`
	Resource     string `json:"resource,omitempty"`
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
	if err := strictjson.Unmarshal(data, f); err != nil {
		return nil, err
	}
	p, err := planFixture(f)
	f.Registrar = p.settings.registrar
	return f, err
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
