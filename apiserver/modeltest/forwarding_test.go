package modeltest

import (
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
)

// verificationLasts is the lifetime of a verification link.
const verificationLasts = 72 * time.Hour

// rule is a forwarding rule in the model.
type rule struct {
	id     string
	scope  scope
	target string
	// on is the customer's switch.
	on, internal                  bool
	sentAt, expiresAt, verifiedAt time.Time
	// links are the links that were sent, oldest first; only the newest is valid.
	links            []string
	created, updated time.Time
}

func (r *rule) state(now time.Time) string {
	switch {
	case r.internal:
		return "internal"
	case !r.verifiedAt.IsZero():
		return "verified"
	case !r.expiresAt.IsZero() && !now.Before(r.expiresAt):
		return "expired"
	}
	return "pending"
}

func (m *machine) ruleObject(r *rule) obj {
	scopeType, scopeID := r.scope.members()
	state := r.state(m.now())
	return obj{
		"id": m.learnID(&r.id), "active": r.on && (state == "internal" || state == "verified"), "scope_type": scopeType, "scope_id": scopeID,
		"target_email": r.target, "verification_required": !r.internal, "verification_state": state,
		"verification_sent_at": maybe(r.sentAt), "verification_expires_at": maybe(r.expiresAt), "verification_verified_at": maybe(r.verifiedAt),
		"created_at": m.creation(&r.created), "updated_at": m.update(&r.created, r.updated),
	}
}

// address is a target as sent, and its canonical form, which is empty for an invalid
// address.
type address struct{ spelled, canonical string }

func (m *machine) target() address {
	if m.rarely(12, "bad target") {
		return address{draw(m, "target", "nobody", "@example.net", "a b@example.net", "<a@example.net>", "a@", "a@b@example.net", "a@nul\x00.net"), ""}
	}
	if n := len(m.mailboxes); n > 0 && draw(m, "internal", false, true) {
		a := m.mailboxes[m.which("target mailbox", n)].address()
		return address{draw(m, "spelling", a, strings.ToUpper(a)), a}
	}
	if n := len(m.domains); n > 0 && m.rarely(3, "own domain") {
		a := "zoe@" + m.domains[m.which("target domain", n)].name
		return address{a, a}
	}
	return draw(m, "target", address{"x@example.net", "x@example.net"}, address{"y@example.net", "y@example.net"},
		address{"X@Example.NET", "x@example.net"}, address{"x@bücher.example", "x@xn--bcher-kva.example"},
		address{"ann@alpha.com", "ann@alpha.com"}, address{"ann@" + rivalDomain, "ann@" + rivalDomain})
}

// verify restarts a rule's verification, or returns an error if the message limit is
// exceeded. A mailbox that the caller may not see is like any other address.
func (m *machine) verify(who *caller, r *rule) *want {
	b := m.mailboxAt(r.target)
	internal := b != nil && m.reach(who, "forwarding.manage").domain(b.domain)
	if !internal && !m.takeMessage() {
		return new(refused(429, problem{"body.target_email", "rate_limited", []string{"verification messages"}}))
	}
	r.internal, r.sentAt, r.expiresAt, r.verifiedAt = internal, time.Time{}, time.Time{}, time.Time{}
	r.links = append(r.links, "") // the earlier links no longer work
	if !internal {
		r.sentAt, r.expiresAt = m.now(), m.now().Add(verificationLasts)
		m.messages = append(m.messages, m.now())
	}
	return nil
}

// takeMessage takes a message from a bucket of 20 that refills by one each minute, to the microsecond, and reports
// whether the limit allows it. A bucket that is not full after 20 minutes comes from a wrong clock, and is full.
func (m *machine) takeMessage() bool {
	const whole = 20 * time.Minute
	missing := min(max(m.bucketFull.Sub(m.now()), 0), whole)
	if m.bucketFull.After(m.now().Add(whole + clocksDiffer)) {
		missing = 0
	}
	if missing += time.Minute; missing > whole+time.Microsecond {
		return false
	}
	m.bucketFull = m.now().Add(missing)
	return true
}

// fillBucket forgets a full bucket, as a server does that takes from any bucket.
func (m *machine) fillBucket() {
	if !m.bucketFull.After(m.now()) {
		m.bucketFull = time.Time{}
	}
}

// flood sends a rule's message many times.
func (m *machine) flood() {
	var ids []string
	for _, r := range m.rules {
		if state := r.state(m.now()); state == "pending" || state == "expired" {
			ids = append(ids, r.id)
		}
	}
	if len(ids) == 0 {
		return
	}
	id := ids[m.which("rule", len(ids))]
	for range draw(m, "messages", 12, 21) {
		if r := m.seenRule(everything, id); r != nil {
			m.do(m.theOwner(), m.retarget(id, address{r.target, r.target}, obj{"target_email": r.target}, nil))
		}
	}
}

// release makes the rules to a deleted address, or to a deleted "@domain", pending.
// They have no link until their target is set again.
func (m *machine) release(deleted string) {
	for _, r := range m.rules {
		_, host, _ := strings.Cut(r.target, "@")
		if (r.internal || !r.sentAt.IsZero()) && (r.target == deleted || "@"+host == deleted) {
			r.internal, r.updated = false, m.now()
			r.sentAt, r.expiresAt, r.verifiedAt = time.Time{}, time.Time{}, time.Time{}
			r.links = append(r.links, "") // the earlier link no longer works
		}
	}
}

// checkOutbox compares the number of messages, and reads the newest link.
func (m *machine) checkOutbox() {
	var box []email.Message
	for _, s := range m.servers {
		box = append(box, s.Service.Outbox()...)
	}
	if len(box) != len(m.messages) {
		m.fail("%d messages are sent; want %d", len(box), len(m.messages))
	}
	for _, r := range m.rules {
		last := len(r.links) - 1
		if r.internal || r.sentAt.IsZero() || r.links[last] != "" {
			continue
		}
		// The newest message is the last one of the server that handled the request.
		ofServer := m.servers[m.last].Service.Outbox()
		if len(ofServer) == 0 {
			m.fail("the server has not written the message for the rule to %s", r.target)
		}
		message := ofServer[len(ofServer)-1]
		if message.To != r.target || !message.SentAt.Equal(r.sentAt) || !strings.Contains(message.Text, message.Link) {
			m.fail("the message for the rule to %s is %+v", r.target, message)
		}
		r.links[last] = message.Link
	}
}

// ruleConflict returns a conflict for a second rule with the same scope and target.
func (m *machine) ruleConflict(who *caller, r *rule) *want {
	for _, other := range m.rules {
		if other != r && other.scope == r.scope && other.target == r.target {
			return new(conflictWith(other.id, m.reach(who, "forwarding.view").scope(other.scope)))
		}
	}
	return nil
}

func (m *machine) createRule() {
	target := m.target()
	body := obj{"target_email": target.spelled}
	faults := m.spoil("body", body, "target_email")
	if target.canonical == "" && body["target_email"] == target.spelled {
		faults = append(faults, wrong("body.target_email"))
	}
	faults = append(faults, m.drawScope(body)...)
	m.do(m.caller(), operation{
		method: "POST", path: "/forwarding", body: body, capability: "forwarding.manage", narrowable: true, keyed: true, faults: faults,
		then: func(who *caller) want {
			s, refusal := m.scopeOf(who, "forwarding.manage", body)
			if refusal != nil {
				return *refusal
			}
			r := &rule{scope: s, target: target.canonical, on: true}
			if refusal := m.ruleConflict(who, r); refusal != nil {
				return *refusal
			}
			if refusal := m.verify(who, r); refusal != nil {
				return *refusal
			}
			m.rules = append(m.rules, r)
			return created(m.ruleObject(r))
		},
	})
}

func (m *machine) ruleIDs() []string { return idsOf(m.rules, func(r *rule) string { return r.id }) }

// seenRule returns a rule that the caller may see.
func (m *machine) seenRule(r reach, id string) *rule {
	return find(m.rules, func(v *rule) bool { return v.id == canonical(id) && r.scope(v.scope) })
}

// updateRule updates a rule. Another target restarts the verification; the same one
// sends a new link if the verification is pending or expired.
func (m *machine) updateRule() {
	id, faults := m.named("forwarding_id", m.ruleIDs())
	target := m.target()
	if r := find(m.rules, func(r *rule) bool { return r.id == canonical(id) }); r != nil && draw(m, "the same target", false, true) {
		target = address{strings.ToUpper(r.target), r.target}
	}
	body := obj{"target_email": target.spelled}
	faults = append(faults, m.spoil("body", body, "target_email")...)
	if target.canonical == "" && body["target_email"] == target.spelled {
		faults = append(faults, wrong("body.target_email"))
	}
	m.do(m.caller(), m.retarget(id, target, body, faults))
}

func (m *machine) retarget(id string, target address, body obj, faults []problem) operation {
	o := operation{method: "PATCH", path: "/forwarding/" + id, body: body, capability: "forwarding.manage", faults: faults}
	return on(m, o, "forwarding_id", id, m.seenRule, func(who *caller, r *rule) want {
		if state := r.state(m.now()); r.target == target.canonical && (state == "internal" || state == "verified") {
			return ok(m.ruleObject(r))
		}
		before := r.target
		r.target = target.canonical
		if refusal := m.ruleConflict(who, r); refusal != nil {
			r.target = before
			return *refusal
		}
		if refusal := m.verify(who, r); refusal != nil {
			r.target = before
			return *refusal
		}
		r.updated = m.now()
		return ok(m.ruleObject(r))
	})
}

// switchRule switches a rule on or off. A rule that is not verified can't be switched
// on.
func (m *machine) switchRule() {
	id, faults := m.named("forwarding_id", m.ruleIDs())
	active := draw(m, "active", false, true)
	body := obj{"active": active}
	faults = append(faults, m.spoil("body", body, "active")...)
	o := operation{method: "PATCH", path: "/forwarding/" + id + "/active", body: body, capability: "forwarding.manage", faults: faults}
	m.do(m.caller(), on(m, o, "forwarding_id", id, m.seenRule, func(_ *caller, r *rule) want {
		if state := r.state(m.now()); active && (state == "pending" || state == "expired") {
			return conflict(r.id)
		}
		r.on, r.updated = active, m.now()
		return ok(m.ruleObject(r))
	}))
}

// openLink opens a link that was sent, and sometimes confirms. Opening alone changes
// nothing.
func (m *machine) openLink() {
	if len(m.rules) == 0 {
		return
	}
	r := m.rules[m.which("rule", len(m.rules))]
	links := without(slices.Clone(ptrs(r.links)), func(link *string) bool { return *link == "" })
	if len(links) == 0 {
		return
	}
	link := *links[len(links)-1]
	method := draw(m, "click", "POST", "GET")
	status, state := 200, r.state(m.now())
	if m.rarely(6, "older link") {
		link = *links[0]
	}
	switch {
	case link != r.links[len(r.links)-1]:
		status = 404
	case state == "expired" || m.cancelled() && state != "verified":
		status = 410
	case state == "pending" && method == "POST":
		r.verifiedAt, r.updated = m.now(), m.now()
	}
	request, err := http.NewRequestWithContext(m.t.Context(), method, link, nil)
	if err != nil {
		m.fail("%s", err)
	}
	a := m.exchange(&caller{name: "recipient"}, request, nil)
	if a.status != status {
		m.fail("the page responses %d; want %d", a.status, status)
	}
	if shown := strings.Contains(html.UnescapeString(string(a.raw)), r.target); shown != (status == 200) {
		m.fail("the page shows the address: %t", shown)
	}
	m.do(m.theOwner(), m.getRule(r.id))
	_, host, _ := strings.Cut(r.target, "@")
	if !r.verifiedAt.IsZero() && m.seenDomain(everything, host) != nil && m.rarely(2, "delete its domain") {
		m.do(m.theOwner(), m.eraseDomain(host))
	}
}

func ptrs[T any](all []T) []*T {
	out := make([]*T, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	return out
}

func (m *machine) deleteRule() {
	id, faults := m.named("forwarding_id", m.ruleIDs())
	erase(m, "/forwarding/", "forwarding.manage", "forwarding_id", id, faults, m.seenRule, func(r *rule) {
		m.rules = without(m.rules, func(other *rule) bool { return other == r })
	})
}

func (m *machine) readRules() {
	if m.rarely(3, "one") {
		m.readOne("forwarding_id", m.ruleIDs(), m.getRule)
		return
	}
	l := m.listRules(url.Values{})
	if m.rarely(2, "by scope") {
		l.filterScope(m)
	}
	l.filter(m, "verification_state", "pending", "internal", "verified", "expired")
	l.filter(m, "search", "x@", "EXAMPLE", "alpha", "%", "xn--", "ü", "zzz")
	l.do(m, m.caller())
}

func (m *machine) getRule(id string) operation {
	return get(m, "/forwarding/", "forwarding.view", "forwarding_id", id, m.seenRule, m.ruleObject)
}

// filterScope draws the filters that rules and master passwords share.
func (l *listing) filterScope(m *machine) {
	l.filter(m, "domain", m.domainRef("domain"))
	l.filterID(m, "workspace_id", m.workspaceIDs())
	l.filter(m, "scope_type", "account", "workspace", "domain")
}

// inScope reports whether a scope matches the filters.
func (l *listing) inScope(m *machine, r reach, s scope) bool {
	scopeType, id := s.members()
	return l.inDomain(m, r, s.domain) && (l.query.Get("workspace_id") == "" || s.workspace != nil && l.by("workspace_id", id)) && l.by("scope_type", scopeType)
}

func (m *machine) listRules(query url.Values) *listing {
	return list(m, "/forwarding", "forwarding.view", query, &m.rules, m.ruleObject, func(l *listing, r reach, v *rule) bool {
		return r.scope(v.scope) && l.inScope(m, r, v.scope) && l.by("verification_state", v.state(m.now())) && has(l.query.Get("search"), v.target, shown(v.target))
	})
}
