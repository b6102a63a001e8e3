package apiserver

import (
	"context"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// DumpFixture returns what LoadFixture makes the same accounts of, with the
// rules that hold in this process.
//
// It leaves out what a fixture has no place for: credentials (master passwords,
// service accounts and what is granted to them), the contacts that domains were
// bought for, feedback, the audit log and kept answers; revoked grants and
// those in what was deleted; creation times, the ids of DNS records and the keys
// in the system-managed ones. A forwarding rule is verified as it would be if it
// were made now: it is internal if and only if its target is a mailbox, and a
// pending one gets a new link.
func (s *Service) DumpFixture(ctx context.Context) (*Fixture, error) {
	current, at := *s.rules.get(), s.now()
	f := &Fixture{Registrar: new(current.registrar.Clone()), MaxMailboxes: &current.maxMailboxes, Accounts: []FixtureAccount{}}
	err := s.store.View(ctx, func(r store.Reader) error {
		r.HideUnpaid(lastUnpaid(at))
		f.Accounts = f.Accounts[:0]
		accounts, err := r.Accounts()
		if err != nil {
			return err
		}
		for _, a := range accounts {
			d := accountDumper{Reader: r, call: &call{Service: s, ctx: ctx, at: at}, id: a.ID}
			dumped, err := d.dump(a)
			if err != nil {
				return err
			}
			f.Accounts = append(f.Accounts, dumped)
		}
		return nil
	})
	return f, err
}

// accountDumper describes one account.
type accountDumper struct {
	store.Reader
	*call
	id         string
	domains    map[string]int // places of the domains by their ids
	workspaces map[string]int
	addresses  map[string]bool // of the account's mailboxes, aliases included
}

func (d *accountDumper) dump(a store.Account) (FixtureAccount, error) {
	out := FixtureAccount{ID: a.ID, PlanID: a.PlanAt(d.at), DedicatedIPOptions: []FixtureDedicatedIPOption{}}
	if status := a.StatusAt(d.at); status != vocab.AccountActive {
		out.Status = status
	}
	if out.Status == vocab.AccountPendingCancellation {
		out.CancelsAt = a.CancelsAt
	}
	if a.NextPlanID != "" && out.PlanID != a.NextPlanID && out.Status != vocab.AccountCancelled {
		out.NextPlanID, out.PlanChangesAt = a.NextPlanID, a.PlanChangesAt
	}
	for _, step := range []func(*FixtureAccount) error{
		d.dumpWorkspaces, d.dumpOptions, d.dumpIPs, d.dumpDomains, d.dumpRecords, d.dumpMailboxes, d.dumpRules, d.dumpGrants,
	} {
		if err := step(&out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// every calls fn for each object of a list.
func every[T any](list func(store.Slice) ([]T, int, error), fn func(T)) error {
	for offset := 0; ; offset += api.MaxPageSize {
		items, _, err := list(store.Slice{Offset: offset, Limit: api.MaxPageSize})
		if err != nil {
			return err
		}
		for _, item := range items {
			fn(item)
		}
		if len(items) < api.MaxPageSize {
			return nil
		}
	}
}

func (d *accountDumper) dumpWorkspaces(out *FixtureAccount) error {
	d.workspaces = map[string]int{}
	return every(func(s store.Slice) ([]store.Workspace, int, error) { return d.Workspaces(d.id, store.Within{}, s) }, func(w store.Workspace) {
		d.workspaces[w.ID] = len(out.Workspaces)
		out.Workspaces = append(out.Workspaces, FixtureWorkspace{ID: w.ID, Name: w.Name})
	})
}

func (d *accountDumper) dumpOptions(out *FixtureAccount) error {
	return every(func(s store.Slice) ([]store.DedicatedIPOption, int, error) { return d.DedicatedIPOptions(d.id, s) }, func(o store.DedicatedIPOption) {
		out.DedicatedIPOptions = append(out.DedicatedIPOptions, FixtureDedicatedIPOption{
			ID: o.ID, Name: o.Name, CountryCode: o.CountryCode, ASN: o.ASN, Addresses: o.Addresses,
		})
	})
}

func (d *accountDumper) dumpIPs(out *FixtureAccount) error {
	return every(func(s store.Slice) ([]store.DedicatedIP, int, error) {
		return d.DedicatedIPs(d.id, store.DedicatedIPFilter{Now: d.at}, s)
	}, func(ip store.DedicatedIP) {
		f := FixtureDedicatedIP{ID: ip.ID, Name: ip.Name, Option: ip.OptionID, Status: unless(ip.State.At(d.at), vocab.DedicatedIPActive)}
		for _, a := range ip.Addresses { // there is one
			f.IP, f.FCrDNSConfirmed, f.RDNS = a.IP, a.FCrDNSConfirmed, a.RDNS
			if a.Healthy != nil && !*a.Healthy {
				f.Healthy = a.Healthy
			}
		}
		out.DedicatedIPs = append(out.DedicatedIPs, f)
	})
}

func (d *accountDumper) dumpDomains(out *FixtureAccount) error {
	d.domains = map[string]int{}
	return every(func(s store.Slice) ([]store.Domain, int, error) {
		return d.Domains(d.id, store.DomainFilter{Now: d.at}, s)
	}, func(o store.Domain) {
		f := FixtureDomain{
			ID: o.ID, Name: o.Name, Workspace: o.WorkspaceID, AutoRenew: o.AutoRenew, DedicatedIP: o.DedicatedIPID,
			RedirectMode: o.RedirectMode, RedirectURL: o.RedirectURL, PurchaseBatchID: o.PurchaseBatchID,
		}
		f.Status, f.ReadyAt = d.state(o.State, vocab.DomainActive)
		if !o.OutboundRoutingReady {
			f.OutboundRoutingReady = new(false)
		}
		if o.InboundTenant != (store.InboundTenant{}) {
			f.InboundTenant = new(FixtureInboundTenant(o.InboundTenant))
		}
		for _, tag := range o.Tags {
			f.Tags = append(f.Tags, tag.Name)
		}
		d.domains[o.ID] = len(out.Domains)
		out.Domains = append(out.Domains, f)
	})
}

func (d *accountDumper) dumpRecords(out *FixtureAccount) error {
	return every(func(s store.Slice) ([]store.DNSRecord, int, error) {
		return d.DNSRecords(d.id, store.DNSRecordFilter{}, s)
	}, func(r store.DNSRecord) {
		if r.SystemManaged {
			return
		}
		zone := &out.Domains[d.domains[r.DomainID]]
		f := FixtureDNSRecord{Name: unless(r.Name, "@"), Type: r.Type, Value: r.Value, Priority: r.Priority}
		if r.TTL != api.DefaultDNSTTL {
			f.TTL = &r.TTL
		}
		zone.DNSRecords = append(zone.DNSRecords, f)
	})
}

func (d *accountDumper) dumpMailboxes(out *FixtureAccount) error {
	d.addresses = map[string]bool{}
	return d.EachMailbox(d.id, store.MailboxFilter{Now: d.at}, func(m store.Mailbox) error {
		d.addresses[m.Address()] = true
		f := FixtureMailbox{ID: m.ID, LocalPart: m.LocalPart, FirstName: m.FirstName, LastName: m.LastName, QuotaUsed: m.QuotaUsed}
		f.Status, f.ReadyAt = d.state(m.State, vocab.MailboxActive)
		if m.QuotaAllowed != mailboxQuota {
			f.QuotaAllowed = &m.QuotaAllowed
		}
		for _, a := range m.Aliases {
			d.addresses[a.Alias] = true
			f.Aliases = append(f.Aliases, FixtureAlias(a))
		}
		domain := &out.Domains[d.domains[m.DomainID]]
		domain.Mailboxes = append(domain.Mailboxes, f)
		return nil
	})
}

func (d *accountDumper) dumpRules(out *FixtureAccount) error {
	return every(func(s store.Slice) ([]store.Forwarding, int, error) {
		return d.ForwardingRules(d.id, store.ForwardingFilter{Now: d.at}, s)
	}, func(rule store.Forwarding) {
		f := FixtureForwarding{ID: rule.ID, TargetEmail: rule.TargetEmail}
		if !rule.Enabled {
			f.Active = new(false)
		}
		if state := rule.VerificationState(d.at); !d.addresses[rule.TargetEmail] && state != vocab.VerificationInternal {
			f.VerificationState = unless(state, vocab.VerificationVerified)
		}
		list := &out.Forwarding
		switch rule.Scope.Type {
		case vocab.ScopeWorkspace:
			list = &out.Workspaces[d.workspaces[rule.Scope.ID]].Forwarding
		case vocab.ScopeDomain:
			list = &out.Domains[d.domains[rule.Scope.ID]].Forwarding
		}
		*list = append(*list, f)
	})
}

func (d *accountDumper) dumpGrants(out *FixtureAccount) error {
	grants, err := d.Authorizations(d.id, store.AuthorizationFilter{})
	for _, g := range grants {
		_, workspace := d.workspaces[g.ResourceID]
		_, domain := d.domains[g.ResourceID]
		own := g.SubjectType == vocab.SubjectServiceAccount || g.ID == ownerGrantID(d.id)
		if gone := g.ResourceType != "" && !workspace && !domain; own || gone {
			continue
		}
		out.Authorizations = append(out.Authorizations, FixtureAuthorization{
			ID: g.ID, GrantKind: unless(g.GrantKind, vocab.GrantCapability), SubjectType: unless(g.SubjectType, vocab.SubjectUser), SubjectID: g.SubjectID,
			CapabilityKey: g.CapabilityKey, ResourceType: g.ResourceType, Resource: g.ResourceID,
		})
	}
	return err
}

// state returns a status unless it is the default one, and when it ends.
func (d *accountDumper) state(p store.Provisioning, byDefault string) (status string, readyAt time.Time) {
	if status = p.At(d.at); status != p.Status {
		readyAt = p.ReadyAt
	}
	return unless(status, byDefault), readyAt
}

// unless returns a value that is not the default one.
func unless[T comparable](value, byDefault T) T {
	if value == byDefault {
		return *new(T)
	}
	return value
}
