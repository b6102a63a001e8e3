package modeltest

import (
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strings"
	"time"
)

// domain is a domain in the model.
type domain struct {
	id, name         string
	workspace        *workspace
	autoRenew        bool
	redirect         string  // empty: none
	batch            *string // of the purchase; learned
	unpaid           bool
	readyAt          time.Time
	created, updated time.Time
}

func (m *machine) domainStatus(d *domain) string {
	switch {
	case d.unpaid:
		return "pending_payment"
	case m.now().Before(d.readyAt):
		return "pending"
	}
	return "active"
}

func (m *machine) domainObject(d *domain) obj {
	var mode any
	if d.redirect != "" {
		mode = "301"
	}
	return obj{
		"id": m.learnID(&d.id), "name": d.name, "status": m.domainStatus(d), "outbound_routing_ready": m.domainStatus(d) == "active",
		"workspace_id": d.workspace.id, "auto_renew": d.autoRenew, "dedicated_ip_id": nil, "inbound_tenant_id": nil,
		"inbound_tenant_external_id": nil, "inbound_tenant_name": nil, "inbound_tenant_type": nil,
		"redirect_mode": mode, "redirect_url": maybe(d.redirect), "tags": []any{},
		"created_at": m.creation(&d.created), "updated_at": m.update(&d.created, d.updated),
	}
}

// update returns when the object was last changed or created. No change is before the creation.
func (m *machine) update(created *time.Time, updated time.Time) any {
	if updated.IsZero() {
		return m.creation(created)
	}
	if updated.Before(*created) {
		updated = *created
	}
	return stamp(updated)
}

// offer is the registrar's offer for a name.
type offer struct {
	spelled string
	name    string // canonical form; empty for an invalid name
	refusal string // the error_code; empty if the name is for sale
}

var offers = []offer{
	{"alpha.com", "alpha.com", ""},
	{"beta.net", "beta.net", ""},
	{"bücher.de", "xn--bcher-kva.de", ""},
	{"gamma.co.uk", "gamma.co.uk", ""},
	{"ALPHA.com", "alpha.com", ""},
	{"Beta.NET.", "beta.net", ""},
	{"BÜCHER.DE", "xn--bcher-kva.de", ""},
	{"XN--BCHER-KVA.de", "xn--bcher-kva.de", ""},
	{"taken.com", "taken.com", "unavailable"},
	{"GOLD.com", "gold.com", "premium_domain"},
	{rivalDomain, rivalDomain, "unavailable"},
	{"fast.zip", "fast.zip", "unsupported_tld"},
	{"www.alpha.com", "www.alpha.com", "invalid_domain"},
	{"co.uk", "co.uk", "invalid_domain"},
	{"", "", "invalid_domain"},
	{"no spaces.com", "", "invalid_domain"},
	{"-dash.com", "", "invalid_domain"},
	{"alpha", "", "invalid_domain"},
	{"192.0.2.1", "", "invalid_domain"},
	{"nul\x00.com", "", "invalid_domain"},
}

// prices are the registrar's prices by suffix; 12.00 for others.
var prices = map[string]string{"com": "10.00", "de": "7.5"}

func contact() obj {
	return obj{
		"address_1": "Hauptstr. 1", "city": "Köln", "country": "DE", "email": "jane@example.net", "first_name": "Jane", "last_name": "Doe",
		"organization": "Example", "phone": "+4922112345", "state": "NRW", "zip": "50667",
	}
}

// purchaseDomains buys domains; each is reported separately.
func (m *machine) purchaseDomains() {
	var chosen []offer
	var names []string
	for range draw(m, "domains", 1, 1, 2, 3) {
		o := offers[m.which("domain", len(offers))]
		if draw(m, "for sale", true, true, false) {
			o = offers[m.which("domain for sale", 8)]
		}
		chosen, names = append(chosen, o), append(names, o.spelled)
	}
	id, wrongID := m.anID("workspace_id", m.workspaceIDs())
	registrant := contact()
	body := obj{"domains": names, "workspace_id": id, "contact_info": registrant}
	var faults []problem
	if wrongID {
		faults = append(faults, problem{loc: "body.workspace_id", typ: "uuid_parsing"})
	}
	faults = append(faults, m.spoil("body.contact_info", registrant, "city", "zip", "last_name", "organization")...)
	if m.rarely(12, "bad contact") {
		bad := draw(m, "bad contact", [2]string{"country", "ZZ"}, [2]string{"country", "D1"}, [2]string{"phone", "0221 12345"}, [2]string{"phone", "+0221"}, [2]string{"email", "nobody"})
		registrant[bad[0]] = bad[1]
		faults = append(faults, wrong("body.contact_info."+bad[0]))
	}
	m.do(m.caller(), operation{
		method: "POST", path: "/domains/purchase", body: body, capability: "domain.purchase", narrowable: true, keyed: true, faults: faults,
		then: func(who *caller) want { return m.purchase(who, id, chosen) },
	})
}

func (m *machine) purchase(who *caller, workspaceID string, chosen []offer) want {
	r := m.reach(who, "domain.purchase")
	w := m.seenWorkspace(r, workspaceID)
	if w == nil {
		return unprocessable(wrong("body.workspace_id"))
	}
	var results []any
	var total big.Rat
	bought, batch := 0, new(string)
	for _, o := range chosen {
		owned := find(m.domains, func(d *domain) bool { return d.name == o.name })
		code := o.refusal
		switch {
		case owned != nil && r.domain(owned):
			code = "already_owned"
		case owned != nil: // callers can't see who owns a domain that they may not see
			code = "unavailable"
		}
		result := obj{"domain_name": o.name, "status": "purchased", "error": nil, "error_code": nil}
		if o.name == "" {
			result["domain_name"] = o.spelled
		}
		if results = append(results, result); code != "" {
			var message any
			result["status"], result["error"], result["error_code"], result["id"] = "failed", learnAny(&message), code, nil
			if code == "already_owned" && m.reach(who, "domain.view").domain(owned) { // a caller who may see the domain can look it up by its id
				result["id"] = m.learnID(&owned.id)
			}
			continue
		}
		d := &domain{name: o.name, workspace: w, batch: batch, unpaid: m.config.payment}
		if d.unpaid {
			result["status"] = "pending_payment"
		} else {
			m.provision(d)
		}
		result["id"] = m.learnID(&d.id)
		m.domains = append(m.domains, d)
		_, suffix, _ := strings.Cut(o.name, ".")
		price, ok := new(big.Rat).SetString(prices[suffix])
		if !ok {
			price = big.NewRat(12, 1)
		}
		total.Add(&total, price)
		bought++
	}
	out := obj{
		"results": results, "failed_count": len(chosen) - bought, "successful_count": bought,
		"currency": nil, "estimated_total": nil, "payment_url": nil, "purchase_batch_id": m.learnID(batch),
	}
	if bought > 0 {
		out["currency"], out["estimated_total"] = "EUR", total.FloatString(2)
	}
	if bought > 0 && m.config.payment {
		out["payment_url"] = learn(func(got any) error {
			s, _ := got.(string)
			return unless(strings.HasPrefix(s, "http"), "is %s; want a URL", show(got))
		})
	}
	return ok(out)
}

// provision starts the provisioning of a domain after its payment.
func (m *machine) provision(d *domain) {
	if m.config.delay > 0 {
		d.readyAt = m.now().Add(m.config.delay)
	}
}

// readyAt returns when a new mailbox of a domain is ready, the zero time for now.
func (m *machine) readyAt(d *domain) time.Time {
	if m.now().Before(d.readyAt) {
		return d.readyAt
	}
	return time.Time{}
}

// pay settles a purchase, as the operator can.
func (m *machine) pay() {
	n := m.which("domain", many)
	if len(m.domains) == 0 {
		return
	}
	paid := m.domains[n%len(m.domains)]
	if _, err := m.server().Service.SettlePayment(m.t.Context(), *paid.batch); err != nil {
		m.fail("the purchase of %s can't be paid: %s", paid.name, err)
	}
	m.note(fmt.Sprintf("%3d. the purchase of %s is paid", len(m.transcript)+1, paid.name))
	for _, d := range m.domains {
		if d.batch == paid.batch && d.unpaid {
			d.unpaid, d.updated = false, m.now()
			m.provision(d)
		}
	}
}

// domainRef draws a spelling of a domain's name or id, or an unknown one.
func (m *machine) domainRef(label string) string {
	other, n, spelling := m.rarely(12, "other "+label), m.which(label, 64), m.which("spelling", many)
	if len(m.domains) == 0 || other {
		return []string{"alpha.com", "nowhere.com", rivalDomain, unknownID, "no name"}[n%5]
	}
	d := m.domains[n%len(m.domains)]
	spellings := []string{d.name, d.id, strings.ToUpper(d.name), d.name + ".", strings.ToUpper(d.id)}
	if d.name == "xn--bcher-kva.de" {
		spellings = append(spellings, "bücher.de", "Bücher.DE")
	}
	return spellings[spelling%len(spellings)]
}

// shown returns the Unicode form of a name or an address.
func shown(name string) string { return strings.ReplaceAll(name, "xn--bcher-kva", "bücher") }

// seenDomain returns a domain that the caller may see.
func (m *machine) seenDomain(r reach, ref string) *domain {
	name := strings.ToLower(strings.TrimSuffix(ref, "."))
	if name == "bücher.de" {
		name = "xn--bcher-kva.de"
	}
	return find(m.domains, func(d *domain) bool { return (d.name == name || d.id == canonical(ref)) && r.domain(d) })
}

// updateDomain updates a domain. A missing or null member means unchanged, except that
// a null redirect_url removes the redirect.
func (m *machine) updateDomain() {
	ref, body, faults := m.domainRef("domain"), obj{}, []problem(nil)
	if draw(m, "auto_renew", true, false) {
		body["auto_renew"] = draw[any](m, "auto_renew", true, false, nil)
	}
	if draw(m, "redirect", true, false) {
		body["redirect_url"] = draw[any](m, "redirect_url", "https://www.example.org/", nil, "http://a.example/b?c=d", nil)
		if m.rarely(10, "bad redirect") {
			body["redirect_url"] = draw(m, "bad redirect", "ftp://example.org/", "nonsense", "https://", "javascript:alert(1)")
			faults = append(faults, wrong("body.redirect_url"))
		}
	}
	if draw(m, "move", false, true) {
		id, wrongID := m.anID("workspace_id", m.workspaceIDs())
		if body["workspace_id"] = id; wrongID {
			faults = append(faults, problem{loc: "body.workspace_id", typ: "uuid_parsing"})
		}
	}
	m.do(m.caller(), m.changeDomain(ref, body, faults))
	if m.rarely(3, "end the redirect") {
		m.do(m.caller(), m.changeDomain(ref, obj{"redirect_url": nil}, nil))
	}
}

func (m *machine) changeDomain(ref string, body obj, faults []problem) operation {
	o := operation{method: "PATCH", path: "/domains/" + url.PathEscape(ref), body: body, capability: "domain.update", faults: faults}
	return on(m, o, "domain", ref, m.seenDomain, func(who *caller, d *domain) want {
		if id, given := body["workspace_id"].(string); given && canonical(id) != d.workspace.id {
			w := m.seenWorkspace(m.reach(who, o.capability), id)
			if w == nil {
				return unprocessable(wrong("body.workspace_id"))
			}
			if slices.ContainsFunc(narrowable, func(capability string) bool {
				has := m.reach(who, capability)
				return has.workspace(w) && !has.domain(d)
			}) {
				return denied("move")
			}
			d.workspace = w
		}
		if on, given := body["auto_renew"].(bool); given {
			d.autoRenew = on
		}
		if redirect, given := body["redirect_url"]; given {
			d.redirect, _ = redirect.(string)
		}
		d.updated = m.now()
		return ok(obj{"id": d.id, "auto_renew": d.autoRenew, "workspace_id": d.workspace.id, "redirect_url": maybe(d.redirect)})
	})
}

func (m *machine) deleteDomain() { m.do(m.caller(), m.eraseDomain(m.domainRef("domain"))) }

// eraseDomain deletes a domain with its objects. A domain with mailboxes can't be
// deleted.
func (m *machine) eraseDomain(ref string) operation {
	o := operation{method: "DELETE", path: "/domains/" + url.PathEscape(ref), capability: "domain.delete"}
	return on(m, o, "domain", ref, m.seenDomain, func(_ *caller, d *domain) want {
		if slices.ContainsFunc(m.mailboxes, func(b *mailbox) bool { return b.domain == d }) {
			return conflict(d.id)
		}
		m.forget(d)
		if !d.unpaid {
			m.release("@" + d.name)
		}
		return deleted()
	})
}

// forget deletes a domain with its objects from the model.
func (m *machine) forget(d *domain) {
	m.domains = without(m.domains, func(other *domain) bool { return other == d })
	m.records = without(m.records, func(r *record) bool { return r.domain == d })
	m.rules = without(m.rules, func(r *rule) bool { return r.scope.domain == d })
	m.passwords = without(m.passwords, func(p *password) bool { return p.scope.domain == d })
}

// payableFor is how long a purchase waits for its payment; then the domain is deleted.
const payableFor = 7 * 24 * time.Hour

func (m *machine) expirePurchases() {
	for _, d := range slices.Clone(m.domains) {
		if d.unpaid && !m.now().Before(d.created.Add(payableFor)) {
			m.forget(d)
		}
	}
}

// availability returns the result that a purchase of the name would have, with the
// price.
func (m *machine) availability() {
	o := offers[m.which("domain", len(offers))]
	m.do(m.caller(), operation{
		method: "GET", path: "/domains/availability", query: url.Values{"name": {o.spelled}}, capability: "domain.view", reads: true,
		then: func(*caller) want {
			name, code := o.name, o.refusal
			if name == "" {
				name = o.spelled
			}
			if slices.ContainsFunc(m.domains, func(d *domain) bool { return d.name == o.name }) {
				code = "already_owned"
			}
			out := obj{"domain_name": name, "available": code == "", "error": nil, "error_code": nil, "price": nil, "currency": nil}
			if code != "" {
				var message any
				out["error"], out["error_code"] = learnAny(&message), code
				return ok(out)
			}
			_, suffix, _ := strings.Cut(o.name, ".")
			price, known := prices[suffix]
			if !known {
				price = "12.00"
			}
			out["price"], out["currency"] = price, "EUR"
			return ok(out)
		},
	})
}

func (m *machine) readDomains() {
	if m.rarely(3, "availability") {
		m.availability()
		return
	}
	if m.rarely(2, "one") {
		m.do(m.caller(), m.getDomain(m.domainRef("domain")))
		return
	}
	l := m.listDomains(url.Values{})
	l.filterID(m, "workspace_id", m.workspaceIDs())
	l.filter(m, "status", "active", "pending", "pending_payment", "failed")
	l.filter(m, "search", "alpha", "ALP", ".", "%", "_", "bücher", "XN--", "a.c")
	if m.rarely(6, "by tag") {
		l.filter(m, "tag", "vip")
	}
	l.do(m, m.caller())
}

func (m *machine) getDomain(ref string) operation {
	return get(m, "/domains/", "domain.view", "domain", ref, m.seenDomain, m.domainObject)
}

func (m *machine) listDomains(query url.Values) *listing {
	return list(m, "/domains", "domain.view", query, &m.domains, m.domainObject, func(l *listing, r reach, d *domain) bool {
		return r.domain(d) && l.by("workspace_id", d.workspace.id) && l.by("status", m.domainStatus(d)) && l.by("tag", "") && has(l.query.Get("search"), d.name, shown(d.name))
	})
}
