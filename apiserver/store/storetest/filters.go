package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// filters has random objects of an account, in order, and compares lists with random filters with
// the plain definition of each filter, while mailboxes are created, changed and deleted.
type filters struct {
	*harness
	rand       *rand.Rand
	tenant     tenant
	workspaces []store.Workspace
	domains    []store.Domain
	records    []store.DNSRecord
	rules      []store.Forwarding
	passwords  []store.MasterPassword
	ips        []store.DedicatedIP
	grants     []store.Authorization
	mailboxes  []store.Mailbox
}

func testFilters(h *harness) {
	f := &filters{harness: h, rand: rand.New(rand.NewPCG(1, 2)), tenant: h.tenant("first.example")}
	h.full("foreign.example") // of another account
	f.createDomains()
	for range 30 {
		f.createObjects()
	}
	for range 150 {
		f.changeMailboxes()
		compareMailboxes(f)
		within := f.within()
		compare(f, workspaces(f.tenant.account, within), f.workspaces, within, func(w store.Workspace) bool {
			return !within.Restricted || slices.Contains(within.Workspaces, w.ID)
		})
		compareDomains(f)
		r := store.DNSRecordFilter{DomainID: f.maybe(f.domain().ID), Type: f.maybe("A", "TXT"), Name: f.maybe("www", "@"), Within: within}
		compare(f, dnsRecords(f.tenant.account, r), f.records, r, func(v store.DNSRecord) bool {
			return fits(v.DomainID, r.DomainID) && fits(v.Type, r.Type) && fits(v.Name, r.Name) && f.covers(within, domainScope(v.DomainID))
		})
		s := store.ScopedFilter{DomainID: f.maybe(f.domain().ID), WorkspaceID: f.maybe(f.workspace()), Within: within,
			ScopeType: f.maybe(vocab.ScopeAccount, vocab.ScopeWorkspace, vocab.ScopeDomain), Search: f.term()}
		compare(f, masterPasswords(f.tenant.account, s), f.passwords, s, func(v store.MasterPassword) bool {
			return f.inScope(s, v.Scope) && strings.Contains(text.Fold(v.Name), text.Fold(s.Search))
		})
		w := store.ForwardingFilter{ScopedFilter: s, Now: at(f.rand.IntN(20)),
			VerificationState: f.maybe(vocab.VerificationInternal, vocab.VerificationPending, vocab.VerificationVerified, vocab.VerificationExpired)}
		compare(f, forwardingRules(f.tenant.account, w), f.rules, w, func(v store.Forwarding) bool {
			return f.inScope(s, v.Scope) && found(v.TargetEmail, s.Search) && fits(v.VerificationState(w.Now), w.VerificationState)
		})
		d := store.DedicatedIPFilter{Status: f.maybe("active", "provisioning"), Now: at(f.rand.IntN(20)), CountryCode: f.maybe("DE", "US")}
		compare(f, dedicatedIPs(f.tenant.account, d), f.ips, d, func(v store.DedicatedIP) bool {
			return fits(v.State.At(d.Now), d.Status) && fits(v.CountryCode, d.CountryCode)
		})
		a := store.AuthorizationFilter{SubjectType: f.maybe("user", "group"), SubjectID: f.maybe("ada", "bob"), GrantKind: f.maybe("capability"),
			CapabilityKey: f.maybe("mailbox.view"), IncludeRevoked: f.rand.IntN(2) == 0}
		got := read(h, func(r store.Reader) ([]store.Authorization, error) { return r.Authorizations(f.tenant.account, a) })
		equal(h, fmt.Sprintf("grants by %+v", a), idsOf(got), idsOf(where(f.grants, func(v store.Authorization) bool {
			return fits(v.SubjectType, a.SubjectType) && fits(v.SubjectID, a.SubjectID) && fits(v.GrantKind, a.GrantKind) && fits(v.CapabilityKey, a.CapabilityKey) &&
				(a.IncludeRevoked || v.RevokedAt.IsZero())
		})))
	}
}

func (f *filters) createDomains() {
	f.workspaces = listed(f.harness, workspaces(f.tenant.account, store.Within{}))
	f.workspace2("Second")
	f.domains = listed(f.harness, domains(f.tenant.account, store.DomainFilter{}))
	for i, name := range []string{"xn--bcher-kva.example", "x_y.example", "100.test", "late.example"} {
		d := f.newDomain(f.tenant.account, f.workspaces[i%2].ID, name)
		d.State = f.state()
		if name == "late.example" {
			d.State = store.Provisioning{Status: vocab.DomainPendingPayment}
		}
		for _, tag := range []string{"Prod", "50%"} {
			if f.rand.IntN(2) == 0 {
				d.Tags = append(d.Tags, store.Tag{ID: f.id(), Name: tag})
			}
		}
		f.create(&d)
		f.domains = append(f.domains, d)
	}
}

func (f *filters) workspace2(name string) {
	w := store.Workspace{ID: f.id(), AccountID: f.tenant.account, Name: name, CreatedAt: epoch}
	f.create(&w)
	f.workspaces = append(f.workspaces, w)
}

func (f *filters) createObjects() {
	t := f.tenant
	t.domain = f.domain().ID
	record := f.newDNSRecord(t, one(f, "www", "@"), one(f, "A", "TXT"), f.id())
	rule := f.newForwarding(t.account, one(f, "Jörg", "a_b", "100%", `C:\`)+f.id()+"@"+one(f, "xn--bcher-kva.example", "c.example"), f.scope())
	rule.Internal = f.rand.IntN(4) == 0
	if f.rand.IntN(2) == 0 {
		rule.ExpiresAt = at(f.rand.IntN(20))
	}
	if f.rand.IntN(3) == 0 {
		rule.VerifiedAt = at(5)
	}
	password := f.newMasterPassword(t.account, one(f, "Domäne", "DOMÄNE", "a_b", "100%")+f.id(), f.scope())
	ip := f.newDedicatedIP(t.account, f.dedicatedIPOption(t.account))
	ip.State, ip.CountryCode = f.state(), one(f, "DE", "US")
	grant := store.Authorization{ID: f.id(), AccountID: t.account, GrantKind: one(f, "capability", "account_owner"), SubjectType: one(f, "user", "group"),
		SubjectID: one(f, "ada", "bob"), CapabilityKey: one(f, "mailbox.view", ""), CreatedAt: epoch}
	if f.rand.IntN(3) == 0 {
		grant.RevokedAt = at(1)
	}
	f.create(&record, &rule, &password, &ip, &grant)
	f.records, f.rules, f.passwords = append(f.records, record), append(f.rules, rule), append(f.passwords, password)
	f.ips, f.grants = append(f.ips, ip), append(f.grants, grant)
}

// changeMailboxes creates, changes or deletes some mailboxes, or moves a domain.
func (f *filters) changeMailboxes() {
	name := func() string {
		return one(f, "Ada", "ada", "JÜRGEN", "Ольга", "100%", `a"b_c*`, `C:\x`, "O'Hara", "日本", "ẞ") + strings.Repeat(one(f, "é", "-1"), f.rand.IntN(3))
	}
	account := f.tenant.account
	for range f.rand.IntN(9) {
		i := f.rand.IntN(len(f.mailboxes) + 1)
		kind := f.rand.IntN(4)
		switch {
		case kind == 0 && i < len(f.mailboxes):
			f.update(func(tx store.Tx) error { return tx.DeleteMailbox(account, f.mailboxes[i].ID, at(0)) })
			f.mailboxes = slices.Delete(f.mailboxes, i, i+1)
		case kind == 1 && i < len(f.mailboxes):
			m := &f.mailboxes[i]
			m.FirstName, m.State = name(), f.state()
			f.update(func(tx store.Tx) error {
				_, err := tx.UpdateMailbox(account, m.ID, func(v *store.Mailbox) error { v.FirstName, v.State = m.FirstName, m.State; return nil })
				return err
			})
		default:
			m := f.newMailbox(tenant{account: account, domain: f.domain().ID}, one(f, "m", "user")+f.id())
			m.FirstName, m.LastName, m.State, m.CreatedAt = name(), name(), f.state(), at(f.rand.IntN(3)) // the clock may go back
			f.create(&m)
			f.mailboxes = append(f.mailboxes, m)
		}
	}
	d := &f.domains[f.rand.IntN(len(f.domains))]
	d.WorkspaceID = f.workspace()
	f.update(func(tx store.Tx) error {
		_, err := tx.UpdateDomain(account, d.ID, func(v *store.Domain) error { v.WorkspaceID = d.WorkspaceID; return nil })
		return err
	})
}

func compareMailboxes(f *filters) {
	c := store.MailboxFilter{DomainID: f.maybe(f.domain().ID), WorkspaceID: f.maybe(f.workspace()), Status: f.maybe("active", "provisioning"),
		Now: at(f.rand.IntN(20)), Search: f.term(), Within: f.within()}
	if len(f.mailboxes) > 0 {
		m := one(f, f.mailboxes...)
		parts := []rune(text.Fold(one(f, m.Address(), m.FirstName+" "+m.LastName)))
		start := f.rand.IntN(len(parts))
		c.Search = one(f, c.Search, strings.ToUpper(string(parts[start:min(start+1+f.rand.IntN(8), len(parts))])))
		c.IDs = one(f, nil, nil, []string{}, []string{m.ID, "unknown", m.ID})
		c.After = one(f, store.Position{}, store.Position{}, m.Position())
	}
	selects := func(m store.Mailbox) bool {
		d := f.domains[slices.IndexFunc(f.domains, func(d store.Domain) bool { return d.ID == m.DomainID })]
		return fits(d.ID, c.DomainID) && fits(d.WorkspaceID, c.WorkspaceID) && fits(m.State.At(c.Now), c.Status) && f.covers(c.Within, domainScope(d.ID)) &&
			(found(m.Address(), c.Search) || strings.Contains(text.Fold(m.FirstName+" "+m.LastName), text.Fold(c.Search))) &&
			(c.IDs == nil || slices.Contains(c.IDs, m.ID)) && (c.After.ID == "" || m.CreatedAt.After(c.After.CreatedAt))
	}
	compare(f, mailboxes(f.tenant.account, c), f.mailboxes, c, selects)
	each := []string{}
	f.view(func(r store.Reader) error {
		return r.EachMailbox(f.tenant.account, c, func(m store.Mailbox) error {
			each = append(each, m.ID)
			return nil
		})
	})
	equal(f.harness, fmt.Sprintf("each of %+v", c), each, idsOf(where(f.mailboxes, selects)))
}

func compareDomains(f *filters) {
	within := f.within()
	c := store.DomainFilter{WorkspaceID: f.maybe(f.workspace()), Status: f.maybe("active", "provisioning"), Now: at(f.rand.IntN(20)),
		Tag: f.maybe("Prod", "prod", "50%"), Search: f.term(), Within: within}
	if tags := f.domain().Tags; len(tags) > 0 && f.rand.IntN(4) == 0 {
		c.Tag = tags[0].ID
	}
	compare(f, domains(f.tenant.account, c), f.domains, c, func(d store.Domain) bool {
		tagged := c.Tag == "" || slices.ContainsFunc(d.Tags, func(tag store.Tag) bool { return tag.ID == c.Tag || tag.Name == c.Tag })
		return fits(d.WorkspaceID, c.WorkspaceID) && fits(d.State.At(c.Now), c.Status) && tagged && found(d.Name, c.Search) &&
			(!within.Restricted || slices.Contains(within.Domains, d.ID) || slices.Contains(within.Workspaces, d.WorkspaceID))
	})
}

// compare checks a list, and a part of it, also while the domain that is not paid for is hidden.
func compare[T any](f *filters, list lister[T], all []T, filter any, selects func(T) bool) {
	f.Helper()
	hidden := one(f, time.Time{}, at(-1), at(100))
	want := idsOf(where(all, func(v T) bool { return selects(v) && (!hidden.After(epoch) || !f.unpaid(v)) }))
	f.view(func(r store.Reader) error {
		if !hidden.IsZero() {
			r.HideUnpaid(hidden)
		}
		for _, s := range []store.Slice{everything, {Offset: f.rand.IntN(len(want) + 2), Limit: f.rand.IntN(4)}} {
			items, total, err := list(r, s)
			part := want[min(s.Offset, len(want)):min(s.Offset+s.Limit, len(want))]
			if got := idsOf(items); err != nil || total != len(want) || !slices.Equal(got, part) {
				f.Errorf("%T %+v, hidden until %v, %+v: got %q of %d, want %q of %d; %v", *new(T), filter, hidden, s, got, total, part, len(want), err)
			}
		}
		return nil
	})
}

// unpaid reports whether an object is the domain that is not paid for, or in it.
func (f *filters) unpaid(v any) bool {
	late := f.domains[len(f.domains)-1].ID
	switch v := v.(type) {
	case store.Domain:
		return v.ID == late
	case store.DNSRecord:
		return v.DomainID == late
	case store.Mailbox:
		return v.DomainID == late
	case store.Forwarding:
		return v.Scope.ID == late
	case store.MasterPassword:
		return v.Scope.ID == late
	}
	return false
}

func where[T any](all []T, selects func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return !selects(v) })
}

// fits reports whether a filter's value, unless it is empty, selects a value.
func fits(value, filter string) bool { return filter == "" || value == filter }

// found reports whether a search finds an address or a domain name, in ASCII or Unicode.
func found(name, term string) bool {
	at := strings.LastIndexByte(name, '@')
	shown := text.Fold(name) + "\n" + text.Fold(name[:at+1]+domainname.Unicode(name[at+1:]))
	return strings.Contains(shown, text.Fold(term))
}

func (f *filters) inScope(s store.ScopedFilter, v store.Scope) bool {
	return (s.DomainID == "" || v == domainScope(s.DomainID)) && (s.WorkspaceID == "" || v == workspaceScope(s.WorkspaceID)) &&
		fits(v.Type, s.ScopeType) && f.covers(s.Within, v)
}

// covers reports whether a restriction covers a scope.
func (f *filters) covers(w store.Within, v store.Scope) bool {
	workspace := v.ID
	if v.Type == vocab.ScopeDomain {
		workspace = f.domains[slices.IndexFunc(f.domains, func(d store.Domain) bool { return d.ID == v.ID })].WorkspaceID
	}
	return !w.Restricted || v.Type == vocab.ScopeDomain && slices.Contains(w.Domains, v.ID) ||
		v.Type != vocab.ScopeAccount && slices.Contains(w.Workspaces, workspace)
}

// one returns a random value.
func one[T any](f *filters, values ...T) T { return values[f.rand.IntN(len(values))] }

// maybe returns "" in two thirds of all cases, and otherwise one of the values.
func (f *filters) maybe(values ...string) string {
	if f.rand.IntN(3) > 0 {
		return ""
	}
	return one(f, values...)
}

func (f *filters) term() string {
	return f.maybe("bücher.EX", "BÜCHER", "bu\u0308cher", "r.exam", "XN--BCHER", "@büch", "g99@xn--", "jÖrg", "domÄne", "_", "%", `\`, "@c.", "a.b", "first",
		"@@", "%ü", "\x00@bücher", strings.Repeat("ü", 10_000))
}

func (f *filters) domain() store.Domain { return one(f, f.domains...) }

func (f *filters) workspace() string { return one(f, f.workspaces...).ID }

func (f *filters) state() store.Provisioning {
	return one(f, store.Provisioning{Status: "active"}, store.Provisioning{Status: "active", Until: "provisioning", ReadyAt: at(10)})
}

func (f *filters) scope() store.Scope {
	return one(f, accountScope(f.tenant), workspaceScope(f.workspace()), domainScope(f.domain().ID))
}

func (f *filters) within() (w store.Within) {
	w.Restricted = f.rand.IntN(2) == 0
	for f.rand.IntN(2) == 0 && w.Restricted {
		w.Domains = append(w.Domains, f.domain().ID)
	}
	for f.rand.IntN(3) == 0 && w.Restricted {
		w.Workspaces = append(w.Workspaces, f.workspace())
	}
	return w
}
