package apiserver

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// zeroTime stands in a plan for the time of loading.
var zeroTime time.Time

// domainID returns the id of a domain whose canonical name is given.
func (p *accountPlanner) domainID(f FixtureDomain, name string) string {
	if f.ID != "" {
		return api.CanonicalID(f.ID)
	}
	return api.DerivedID(p.id, "domain:"+name)
}

func (p *accountPlanner) planDomain(at fixturePlace, f FixtureDomain) {
	name := p.canonical(at, "name", f.Name, domainname.Normalize)
	if first, ok := p.names[name]; ok {
		p.fail(at, "name: %s lists the domain already", first)
	}
	p.names[name] = at
	if f.ID != "" {
		p.once(at, p.optionalID(at, f.ID))
	}
	d := store.Domain{
		ID: p.domainID(f, name), AccountID: p.id, Name: name, AutoRenew: f.AutoRenew,
		OutboundRoutingReady: orDefault(f.OutboundRoutingReady, true),
		State: store.Provisioning{Status: p.choice(at, "status", f.Status, vocab.DomainActive,
			vocab.DomainPendingPayment, vocab.DomainPending, vocab.DomainActive, vocab.DomainFailed)},
		PurchaseBatchID: p.batch(at, f.PurchaseBatchID),
		WorkspaceID:     p.workspaceRefs[defaultWorkspace],
	}
	p.ready(at, f.ReadyAt, &d.State, vocab.DomainPending, vocab.DomainActive)
	p.domainRefs[d.Name], p.domainRefs[d.ID] = d.ID, d.ID
	if f.Workspace != "" {
		d.WorkspaceID = p.refer(at, "workspace", f.Workspace, p.workspaceRefs)
	}
	if f.DedicatedIP != "" {
		d.DedicatedIPID = p.refer(at, "dedicated_ip", f.DedicatedIP, p.ipRefs)
	}
	p.redirect(at, f, &d)
	d.InboundTenant = p.tenant(at, f.InboundTenant)
	for i, tag := range f.Tags {
		p.text(at.item("tags", i, ""), "name", tag, nameLimits)
		d.Tags = append(d.Tags, store.Tag{ID: api.DerivedID(p.id, "tag:"+tag), Name: tag})
	}
	p.domains = append(p.domains, planned[store.Domain]{at, d})
	for i, m := range f.Mailboxes {
		p.planMailbox(at.item("mailboxes", i, m.LocalPart), d, m)
	}
	for i, r := range f.DNSRecords {
		p.planRecord(at.item("dns_records", i, r.Name), d, r)
	}
}

// ready plans when a state ends by itself.
func (p *accountPlanner) ready(at fixturePlace, readyAt time.Time, state *store.Provisioning, until, status string) {
	readyAt = p.moment(at, "ready_at", readyAt, state.Status == until, until)
	if !readyAt.IsZero() {
		*state = store.Provisioning{Status: status, Until: until, ReadyAt: readyAt}
	}
}

// batch checks the id of a purchase, which several domains may have.
func (p *accountPlanner) batch(at fixturePlace, given string) string {
	if given != "" && !api.IsID(given) {
		p.fail(at, "purchase_batch_id: %.64q is not a UUID", given)
	}
	return api.CanonicalID(given)
}

// refer resolves a name or an id.
func (p *accountPlanner) refer(at fixturePlace, field, ref string, refs map[string]string) string {
	id, ok := refs[ref]
	if !ok {
		id, ok = refs[api.CanonicalID(ref)]
	}
	if !ok {
		p.fail(at, "%s: the account has none with the name or id %.80q", field, ref)
	}
	return id
}

func (p *accountPlanner) redirect(at fixturePlace, f FixtureDomain, d *store.Domain) {
	if f.RedirectURL == "" {
		if f.RedirectMode != "" {
			p.fail(at, "redirect_mode: there is no redirect_url")
		}
		return
	}
	d.RedirectURL = p.canonical(at, "redirect_url", f.RedirectURL, api.CheckRedirectURL)
	if longest := *api.LimitsOf[api.UpdateDomainBody]("redirect_url").MaxLength; utf8.RuneCountInString(d.RedirectURL) > longest {
		p.fail(at, "redirect_url: must have at most %d characters", longest)
	}
	d.RedirectMode = p.choice(at, "redirect_mode", f.RedirectMode, vocab.RedirectPermanent,
		vocab.RedirectPermanent, vocab.RedirectTemporary, vocab.RedirectIframe)
}

func (p *accountPlanner) tenant(at fixturePlace, f *FixtureInboundTenant) store.InboundTenant {
	if f == nil {
		return store.InboundTenant{}
	}
	at = at.in("inbound_tenant")
	t := store.InboundTenant{
		ID: p.optionalID(at, f.ID), ExternalID: p.optionalText(at, "external_id", f.ExternalID),
		Name: p.optionalText(at, "name", f.Name), Type: p.optionalText(at, "type", f.Type),
	}
	if t.ID == "" {
		t.ID = api.DerivedID(p.id, "inbound-tenant:"+t.Name)
	}
	return t
}

func (p *accountPlanner) planMailbox(at fixturePlace, d store.Domain, f FixtureMailbox) {
	m := store.Mailbox{
		AccountID: p.id, DomainID: d.ID, LocalPart: p.canonical(at, "local_part", f.LocalPart, emailaddr.ParseLocalPart),
		FirstName: p.text(at, "first_name", f.FirstName, firstNameLimits), LastName: p.text(at, "last_name", f.LastName, lastNameLimits),
		State: store.Provisioning{Status: p.choice(at, "status", f.Status, vocab.MailboxActive,
			vocab.MailboxProvisioning, vocab.MailboxActive, vocab.MailboxPaused, vocab.MailboxDeleting)},
		QuotaAllowed: orDefault(f.QuotaAllowed, mailboxQuota), QuotaUsed: f.QuotaUsed, DomainName: d.Name,
	}
	p.ready(at, f.ReadyAt, &m.State, vocab.MailboxProvisioning, vocab.MailboxActive)
	if m.QuotaAllowed < 0 || m.QuotaUsed < 0 {
		p.fail(at, "quota_allowed, quota_used: must not be negative")
	}
	p.address(at, "local_part", m.Address())
	for i, a := range f.Aliases {
		alias := p.canonical(at.item("aliases", i, ""), "alias", a.Alias, emailaddr.Normalize)
		p.address(at.item("aliases", i, ""), "alias", alias)
		m.Aliases = append(m.Aliases, store.MailboxAlias{Alias: alias, IsCatchAll: a.IsCatchAll})
	}
	m.ID = p.identify(at, f.ID, "mailbox", m.Address())
	p.mailboxes = append(p.mailboxes, planned[store.Mailbox]{at, m})
}

// address refuses an address that another mailbox of the account has.
func (p *accountPlanner) address(at fixturePlace, field, address string) {
	if p.addresses[address] {
		p.fail(at, "%s: %s is the address of another mailbox or alias of the account", field, address)
	}
	p.addresses[address] = true
}

// checkAliases refuses aliases outside of the account's domains, which are all
// planned by then.
func (p *accountPlanner) checkAliases() {
	for _, m := range p.mailboxes {
		for i, a := range m.object.Aliases {
			if name := a.Alias[strings.LastIndexByte(a.Alias, '@')+1:]; p.domainRefs[name] == "" {
				p.fail(m.at.item("aliases", i, ""), "alias: the account has no domain %.255q", name)
			}
		}
	}
}

func (p *accountPlanner) planRecord(at fixturePlace, d store.Domain, f FixtureDNSRecord) {
	r := store.DNSRecord{AccountID: p.id, DomainID: d.ID, Name: "@", TTL: orDefault(f.TTL, api.DefaultDNSTTL), Priority: f.Priority}
	r.Type = p.canonical(at, "type", f.Type, dnsdata.NormalizeType)
	if f.Name != "" {
		r.Name = p.canonical(at, "name", f.Name, func(name string) (string, error) { return dnsdata.NormalizeName(name, d.Name) })
	}
	r.Value = p.canonical(at, "value", f.Value, func(v string) (string, error) { return dnsdata.NormalizeValue(r.Type, v) })
	if problem := checkTarget(r, d.Name); problem != nil {
		p.fail(at, "value: %s", strings.TrimPrefix(problem.Msg, api.ValuePrefix))
	}
	p.number(at, "ttl", f.TTL, ttlLimits)
	p.number(at, "priority", f.Priority, prioLimits)
	if problem := api.CheckPriority(r.Type, f.Priority != nil); problem != nil {
		p.fail(at, "priority: %s", strings.TrimPrefix(problem.Msg, api.ValuePrefix))
	}
	p.records = append(p.records, planned[zonedRecord]{at, zonedRecord{r, d.Name}})
}

func (p *accountPlanner) planForwarding(at fixturePlace, scope store.Scope, rules []FixtureForwarding) {
	targets := map[string]bool{}
	for i, f := range rules {
		at := at.item("forwarding", i, f.TargetEmail)
		target := p.canonical(at, "target_email", f.TargetEmail, emailaddr.Normalize)
		if targets[target] {
			p.fail(at, "target_email: there is a rule to this target already")
		}
		targets[target] = true
		rule := plannedRule{Forwarding: store.Forwarding{
			ID:        p.identify(at, f.ID, "forwarding", scope.ID+":"+target),
			AccountID: p.id, Scope: scope, TargetEmail: target, Enabled: orDefault(f.Active, true), Internal: p.addresses[target],
		}}
		rule.state = p.verification(at, f.VerificationState, rule.Internal)
		p.rules = append(p.rules, planned[plannedRule]{at, rule})
	}
}

// verification returns the state of a rule's verification.
func (p *accountPlanner) verification(at fixturePlace, given string, internal bool) string {
	if !internal {
		return p.choice(at, "verification_state", given, vocab.VerificationVerified,
			vocab.VerificationPending, vocab.VerificationVerified, vocab.VerificationExpired)
	}
	if given != "" && given != vocab.VerificationInternal {
		p.fail(at, "verification_state: the target is an address of the account, so it is internal")
	}
	return vocab.VerificationInternal
}
