package apiserver

import (
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

var errNoIP = errors.New("this is no IP address")

// planned is an object that LoadFixture will make, and where it stands.
type planned[T any] struct {
	at     fixturePlace
	object T
}

// accountPlan is all that LoadFixture makes of one account, in canonical form
// and in the order in which it is made. What it lacks are times and secrets.
type accountPlan struct {
	account    store.Account
	workspaces []planned[store.Workspace]
	options    []store.DedicatedIPOption
	ips        []planned[store.DedicatedIP]
	domains    []planned[store.Domain]
	records    []planned[zonedRecord]
	mailboxes  []planned[store.Mailbox]
	rules      []planned[plannedRule]
	grants     []planned[store.Authorization]
}

// zonedRecord is a DNS record with the name of its domain.
type zonedRecord struct {
	store.DNSRecord
	zone string
}

// plannedRule is a forwarding rule with its verification state.
type plannedRule struct {
	store.Forwarding
	state string
}

// fixturePlanner checks a fixture and plans what it makes.
type fixturePlanner struct {
	problems
	settings fixtureRules
	plans    []accountPlan
	// ids are those that the fixture gives; names are the domains.
	ids, names map[string]fixturePlace
	// claimed are the addresses of the dedicated IPs of all accounts.
	claimed map[string]bool
}

// accountPlanner plans one account.
type accountPlanner struct {
	*fixturePlanner
	accountPlan
	at fixturePlace
	id string
	// workspaceRefs, domainRefs, optionRefs and ipRefs map names and ids to ids; an
	// id of a thing maps to itself.
	workspaceRefs, domainRefs, ipRefs map[string]string
	optionRefs                        map[string]*store.DedicatedIPOption
	// addresses are those of the mailboxes, aliases included.
	addresses map[string]bool
}

// planFixture checks a fixture, and returns what is to be made of it.
func planFixture(f *Fixture) (*fixturePlanner, error) {
	p := new(fixturePlanner)
	p.settings = p.checkRules(f)
	p.accounts(f.Accounts)
	return p, p.err()
}

func (p *fixturePlanner) accounts(accounts []FixtureAccount) {
	p.ids, p.names, p.claimed = map[string]fixturePlace{}, map[string]fixturePlace{}, map[string]bool{}
	for i, a := range accounts {
		at := fixturePlace("").item("accounts", i, a.ID)
		id := api.CanonicalID(a.ID)
		if !api.IsID(id) {
			p.fail(at, "id: must be the account's UUID")
			id = uuid.Nil.String() // what else is wrong is told too
		}
		p.once(at, id)
		planner := &accountPlanner{
			fixturePlanner: p, at: at, id: id,
			workspaceRefs: map[string]string{}, domainRefs: map[string]string{}, ipRefs: map[string]string{}, optionRefs: map[string]*store.DedicatedIPOption{},
			addresses: map[string]bool{},
		}
		planner.plan(a)
		p.plans = append(p.plans, planner.accountPlan)
	}
}

// once refuses an id that is given twice.
func (p *fixturePlanner) once(at fixturePlace, id string) {
	if first, ok := p.ids[id]; ok {
		p.fail(at, "id: %s is the id of %s already", id, first)
		return
	}
	p.ids[id] = at
}

func (p *accountPlanner) plan(a FixtureAccount) {
	p.account = newAccount(p.id, zeroTime)
	p.account.Status = p.choice(p.at, "status", a.Status, vocab.AccountActive,
		vocab.AccountActive, vocab.AccountPendingCancellation, vocab.AccountCancelled)
	p.account.PlanID = p.choice(p.at, "plan_id", a.PlanID, vocab.PlanSMTPPerMailbox, vocab.Plans()...)
	p.planBilling(a)
	p.planWorkspaces(a.Workspaces)
	p.planOptions(a.DedicatedIPOptions)
	for i, ip := range a.DedicatedIPs {
		p.planIP(p.at.item("dedicated_ips", i, ip.Name), ip)
	}
	for i, d := range a.Domains {
		p.planDomain(p.at.item("domains", i, d.Name), d)
	}
	p.checkAliases()
	// Whether a target is internal shows when all mailboxes are known.
	p.planForwarding(p.at, store.Scope{Type: vocab.ScopeAccount, ID: p.id}, a.Forwarding)
	for i, w := range a.Workspaces {
		p.planForwarding(p.at.item("workspaces", i, w.Name), store.Scope{Type: vocab.ScopeWorkspace, ID: p.workspaceRefs[w.Name]}, w.Forwarding)
	}
	for i, d := range a.Domains {
		name, _ := domainname.Normalize(d.Name)
		p.planForwarding(p.at.item("domains", i, d.Name), store.Scope{Type: vocab.ScopeDomain, ID: p.domainID(d, name)}, d.Forwarding)
	}
	for i, g := range a.Authorizations {
		p.planGrant(p.at.item("authorizations", i, g.SubjectID), g)
	}
}

// planBilling plans what becomes of the account by itself.
func (p *accountPlanner) planBilling(a FixtureAccount) {
	p.account.CancelsAt = p.moment(p.at, "cancels_at", a.CancelsAt, a.Status == vocab.AccountPendingCancellation, vocab.AccountPendingCancellation)
	p.account.NextPlanID = p.choice(p.at, "next_plan_id", a.NextPlanID, "", vocab.Plans()...)
	p.account.PlanChangesAt = a.PlanChangesAt.UTC().Truncate(time.Microsecond)
	if (a.NextPlanID == "") != a.PlanChangesAt.IsZero() {
		p.fail(p.at, "next_plan_id, plan_changes_at: give both or none")
	}
}

// identify returns the id that something is given, or the one derived from its
// name.
func (p *accountPlanner) identify(at fixturePlace, given, kind, name string) string {
	if given == "" {
		return api.DerivedID(p.id, kind+":"+name)
	}
	id := p.optionalID(at, given)
	p.once(at, id)
	return id
}

func (p *accountPlanner) planWorkspaces(workspaces []FixtureWorkspace) {
	own := api.DefaultWorkspaceID(p.id)
	p.workspaceRefs[defaultWorkspace], p.workspaceRefs[own] = own, own
	for i, w := range workspaces {
		at := p.at.item("workspaces", i, w.Name)
		if w.Name == defaultWorkspace {
			if given := p.optionalID(at, w.ID); given != "" && given != own {
				p.fail(at, "id: the id of the account's own workspace is %s", own)
			}
			continue
		}
		p.text(at, "name", w.Name, nameLimits)
		if _, ok := p.workspaceRefs[w.Name]; ok {
			p.fail(at, "name: there is a workspace of that name already")
		}
		id := p.identify(at, w.ID, "workspace", w.Name)
		p.workspaceRefs[w.Name], p.workspaceRefs[id] = id, id
		p.workspaces = append(p.workspaces, planned[store.Workspace]{at, store.Workspace{ID: id, AccountID: p.id, Name: w.Name}})
	}
}

func (p *accountPlanner) planOptions(options []FixtureDedicatedIPOption) {
	if options == nil {
		p.options = defaultOptions(p.id)
	}
	owners := map[string]bool{}
	for i, o := range options {
		at := p.at.item("dedicated_ip_options", i, o.Name)
		option := store.DedicatedIPOption{
			ID: p.identify(at, o.ID, "dedicated-ip-option", o.Name), AccountID: p.id, Type: vocab.DedicatedIPType,
			Name: p.text(at, "name", o.Name, nameLimits), CountryCode: p.canonical(at, "country_code", o.CountryCode, api.CheckCountry),
			ASN: o.ASN,
		}
		if o.ASN < 0 || o.ASN > 1<<32-1 {
			p.fail(at, "asn: must be 0 to %d", uint32(1<<32-1))
		}
		for _, address := range o.Addresses {
			ip := p.canonical(at, "addresses", address, canonicalIP)
			if owners[ip] {
				p.fail(at, "addresses: %s is listed twice", ip)
			}
			owners[ip] = true
			option.Addresses = append(option.Addresses, ip)
		}
		p.options = append(p.options, option)
	}
	for i := range p.options {
		o := &p.options[i]
		if p.optionRefs[o.Name] != nil {
			p.fail(p.at.item("dedicated_ip_options", i, o.Name), "name: there is an option of that name already")
		}
		p.optionRefs[o.Name], p.optionRefs[o.ID] = o, o
	}
}

func (p *accountPlanner) planIP(at fixturePlace, f FixtureDedicatedIP) {
	option := p.optionRefs[api.CanonicalID(f.Option)]
	if option == nil {
		p.fail(at, "option: the account has no dedicated IP option %.80q", f.Option)
		return
	}
	ip := f.IP
	if ip == "" {
		free := slices.IndexFunc(option.Addresses, func(a string) bool { return !p.claimed[a] })
		if free < 0 {
			p.fail(at, "ip: the option %s is exhausted", option.Name)
			return
		}
		ip = option.Addresses[free]
	}
	ip = p.canonical(at, "ip", ip, canonicalIP)
	if !slices.Contains(option.Addresses, ip) || p.claimed[ip] {
		p.fail(at, "ip: the option %s has no address %.64q left", option.Name, ip)
	}
	p.claimed[ip] = true
	d := store.DedicatedIP{
		AccountID: p.id, OptionID: option.ID, Type: vocab.DedicatedIPType, Name: p.optionalText(at, "name", f.Name),
		ASN: option.ASN, CountryCode: option.CountryCode,
		State: store.Provisioning{Status: p.choice(at, "status", f.Status, vocab.DedicatedIPActive,
			vocab.DedicatedIPProvisioning, vocab.DedicatedIPActive, vocab.DedicatedIPReleasing)},
		Addresses: []store.IPAddress{{IP: ip, FCrDNSConfirmed: f.FCrDNSConfirmed, Healthy: new(orDefault(f.Healthy, true))}},
	}
	if d.Name == "" {
		d.Name = option.Name + " " + ip
	}
	if f.RDNS != "" {
		d.Addresses[0].RDNS = p.canonical(at, "rdns", f.RDNS, domainname.NormalizeHost)
	}
	if p.ipRefs[d.Name] != "" {
		p.fail(at, "name: there is a dedicated IP of that name already")
	}
	d.ID = p.identify(at, f.ID, "dedicated-ip", d.Name)
	p.ipRefs[d.Name], p.ipRefs[d.ID] = d.ID, d.ID
	p.ips = append(p.ips, planned[store.DedicatedIP]{at, d})
}

// orDefault returns a value that may have been left out.
func orDefault[T any](given *T, byDefault T) T {
	if given == nil {
		return byDefault
	}
	return *given
}
