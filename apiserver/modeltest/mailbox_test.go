package modeltest

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// mailboxQuota is the quota of a new mailbox, in bytes.
const mailboxQuota = 10 << 30

// mailbox is a mailbox in the model.
type mailbox struct {
	id               string
	domain           *domain
	local            string
	first, last      string
	readyAt          time.Time
	created, updated time.Time
}

func (b *mailbox) address() string { return b.local + "@" + b.domain.name }

func (m *machine) mailboxStatus(b *mailbox) string {
	if m.now().Before(b.readyAt) {
		return "provisioning"
	}
	return "active"
}

func (m *machine) mailboxObject(b *mailbox) obj {
	return obj{
		"id": m.learnID(&b.id), "domain_id": b.domain.id, "domain_name": b.domain.name, "local_part": b.local, "primary_email": b.address(),
		"first_name": b.first, "last_name": b.last, "status": m.mailboxStatus(b), "quota": obj{"allowed": mailboxQuota, "used": 0},
		"aliases": []any{}, "workspace_id": b.domain.workspace.id, "workspace_name": b.domain.workspace.name,
		"created_at": m.creation(&b.created), "updated_at": m.update(&b.created, b.updated),
	}
}

var (
	locals = []string{"ann", "bob", "Ann", "a.b", "=1+1", "-x", "o'neil", "%", "a_b"}
	// badLocals are not dot-atoms.
	badLocals = []string{"a b", ".a", "a.", "a..b", "bücher", `"q"`, "a@b", "a\x00", "a\n", "a,b"}
	names     = []string{"Ann", "JÜRGEN", "Bob", "=cmd|'/c calc'!A1", "a,b", `"quoted"`, "@SUM(1)", "+1", "-1", " ", "100%", `back\slash`, "𝒜nn", "'", "\u2028", "a\u200bb", "a;=1", "x; @y"}
)

func (m *machine) local() (local string, good bool) {
	if m.rarely(10, "bad local part") {
		return draw(m, "bad local part", badLocals...), false
	}
	return draw(m, "local part", locals...), true
}

func (m *machine) personName() string {
	if m.rarely(20, "bad name") {
		return draw(m, "bad name", badNames...)
	}
	return draw(m, "name", names...)
}

// createMailbox creates a mailbox. Addresses are unique, ignoring case.
func (m *machine) createMailbox() {
	local, good := m.local()
	body := obj{"domain": m.domainRef("domain"), "local_part": local, "first_name": m.personName(), "last_name": m.personName()}
	faults := m.spoil("body", body, "domain", "first_name", "last_name", "local_part")
	faults = append(faults, misnamed("body", body, "first_name", "last_name")...)
	if !good && body["local_part"] == local {
		faults = append(faults, wrong("body.local_part"))
	}
	m.do(m.caller(), operation{
		method: "POST", path: "/mailboxes", body: body, capability: "mailbox.create", narrowable: true, keyed: true, faults: faults,
		then: func(who *caller) want {
			d, refusal := m.usableDomain(who, "mailbox.create", body)
			if refusal != nil {
				return *refusal
			}
			b := m.newMailbox(d, body)
			if other := m.mailboxAt(b.address()); other != nil {
				return conflictWith(other.id, m.reach(who, "mailbox.view").domain(d))
			}
			if m.mailboxesLeft() < 1 {
				return conflict()
			}
			m.mailboxes = append(m.mailboxes, b)
			return created(m.mailboxObject(b))
		},
	})
}

func (m *machine) newMailbox(d *domain, body obj) *mailbox {
	return &mailbox{
		domain: d, local: strings.ToLower(body["local_part"].(string)), readyAt: m.readyAt(d),
		first: body["first_name"].(string), last: body["last_name"].(string),
	}
}

// usableDomain returns the domain for a new object, or an error for an unknown or
// unpaid one.
func (m *machine) usableDomain(who *caller, capability string, body obj) (*domain, *want) {
	d := m.seenDomain(m.reach(who, capability), body["domain"].(string))
	switch {
	case d == nil:
		return nil, new(unprocessable(wrong("body.domain")))
	case m.domainStatus(d) == "pending_payment":
		return nil, new(conflict(d.id))
	}
	return d, nil
}

func (m *machine) mailboxesLeft() int {
	if m.config.maxMailboxes == 0 {
		return 1000
	}
	return m.config.maxMailboxes - len(m.mailboxes)
}

func (m *machine) mailboxAt(address string) *mailbox {
	return find(m.mailboxes, func(b *mailbox) bool { return b.address() == address })
}

// mailboxRef draws a spelling of a mailbox's id or address, or an unknown one.
func (m *machine) mailboxRef() string {
	other, n, spelling := m.rarely(12, "other mailbox"), m.which("mailbox", many), m.which("spelling", 64)
	if len(m.mailboxes) == 0 || other {
		unknown := []string{"ann@alpha.com", "nobody@nowhere.com", "ann@" + rivalDomain, unknownID, "nonsense", "@", "a@b@alpha.com"}
		return unknown[n%len(unknown)]
	}
	b := m.mailboxes[n%len(m.mailboxes)]
	spellings := []string{b.id, b.address(), strings.ToUpper(b.address()), strings.ToUpper(b.id), b.address() + "."}
	if b.domain.name == "xn--bcher-kva.de" {
		spellings = append(spellings, b.local+"@bücher.de", b.local+"@BÜCHER.de")
	}
	return spellings[spelling%len(spellings)]
}

// seenMailbox returns a mailbox that the caller may see.
func (m *machine) seenMailbox(r reach, ref string) *mailbox {
	local, host, _ := strings.Cut(strings.ToLower(strings.TrimSuffix(ref, ".")), "@")
	if host == "bücher.de" {
		host = "xn--bcher-kva.de"
	}
	return find(m.mailboxes, func(b *mailbox) bool {
		return (b.id == canonical(ref) || b.address() == local+"@"+host) && r.domain(b.domain)
	})
}

// updateMailbox updates a mailbox; null means unchanged.
func (m *machine) updateMailbox() {
	ref, body := m.mailboxRef(), obj{}
	for _, name := range []string{"first_name", "last_name"} {
		switch draw(m, name, "set", "null", "absent") {
		case "set":
			body[name] = m.personName()
		case "null":
			body[name] = nil
		}
	}
	faults := misnamed("body", body, "first_name", "last_name")
	o := operation{method: "PATCH", path: "/mailboxes/" + url.PathEscape(ref), body: body, capability: "mailbox.update", faults: faults}
	m.do(m.caller(), on(m, o, "mailbox", ref, m.seenMailbox, func(_ *caller, b *mailbox) want {
		if first, given := body["first_name"].(string); given {
			b.first = first
		}
		if last, given := body["last_name"].(string); given {
			b.last = last
		}
		b.updated = m.now()
		return ok(m.mailboxObject(b))
	}))
}

func (m *machine) deleteMailbox() {
	erase(m, "/mailboxes/", "mailbox.delete", "mailbox", m.mailboxRef(), nil, m.seenMailbox, func(b *mailbox) {
		m.mailboxes = without(m.mailboxes, func(other *mailbox) bool { return other == b })
		m.release(b.address())
	})
}

func (m *machine) readMailboxes() {
	if m.rarely(3, "one") {
		m.do(m.caller(), m.getMailbox(m.mailboxRef()))
		return
	}
	l := m.listMailboxes(url.Values{})
	l.filter(m, "search", "ü", "ann", "\x00", "ANN", "jürgen", "@", "alpha", "%", "_", `\`, "a_b", "zzz", "=", "\t", "Ann@Alpha.com", "\xff")
	if m.rarely(3, "further filters") {
		l.filter(m, "domain", m.domainRef("domain"))
		l.filterID(m, "workspace_id", m.workspaceIDs())
		l.filter(m, "status", "active", "provisioning", "paused", "deleting")
	}
	l.do(m, m.caller())
}

func (m *machine) getMailbox(ref string) operation {
	return get(m, "/mailboxes/", "mailbox.view", "mailbox", ref, m.seenMailbox, m.mailboxObject)
}

func (m *machine) listMailboxes(query url.Values) *listing {
	return list(m, "/mailboxes", "mailbox.view", query, &m.mailboxes, m.mailboxObject, func(l *listing, r reach, b *mailbox) bool {
		return r.domain(b.domain) && l.inDomain(m, r, b.domain) && l.by("workspace_id", b.domain.workspace.id) &&
			l.by("status", m.mailboxStatus(b)) && has(l.query.Get("search"), b.address(), shown(b.address()), b.first, b.last)
	})
}

// has reports whether one of the texts contains the search term, ignoring case.
func has(search string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(search)) })
}

// createMailboxes creates many mailboxes; each item succeeds or fails separately.
func (m *machine) createMailboxes() {
	var items []any
	for range draw(m, "items", 2, 1, 3, 5) {
		local, _ := m.local()
		item := obj{"local_part": local, "first_name": m.personName(), "last_name": m.personName()}
		if m.rarely(8, "bad name") {
			item["last_name"] = draw(m, "bad name", "", tooLong)
		}
		items = append(items, item)
	}
	body := obj{"domain": m.domainRef("domain"), "items": items}
	m.do(m.caller(), operation{
		method: "POST", path: "/mailboxes/bulk", body: body, capability: "mailbox.create", narrowable: true, keyed: true,
		then: func(who *caller) want { return m.bulk(who, body) },
	})
}

// tooLong is a name above the maximum length.
var tooLong = strings.Repeat("ü", 101)

func (m *machine) bulk(who *caller, body obj) want {
	d, refusal := m.usableDomain(who, "mailbox.create", body)
	if refusal != nil {
		return *refusal
	}
	left, requested := m.mailboxesLeft(), map[string]bool{}
	done, failed := []any{}, []any{}
	for i, item := range body["items"].([]any) {
		b := m.newMailbox(d, item.(obj))
		code := ""
		other := m.mailboxAt(b.address())
		switch {
		case !isLocal(b.local):
			code = "invalid_local_part"
		case !isName(b.first) || !isName(b.last):
			code = "invalid_name"
		case requested[b.local]:
			code = "duplicate_in_request"
		case other != nil:
			code = "already_exists"
		case len(done) >= left:
			code = "quota_exceeded"
		}
		if code == "" || code == "quota_exceeded" || code == "already_exists" {
			requested[b.local] = true
		}
		if code != "" {
			var message any
			failed = append(failed, obj{"index": i, "code": code, "message": learnAny(&message)})
			continue
		}
		m.mailboxes = append(m.mailboxes, b)
		done = append(done, obj{"index": i, "mailbox": m.mailboxObject(b)})
	}
	return ok(obj{"created": done, "failed": failed})
}

func isName(s string) bool {
	return s != "" && len([]rune(s)) <= 100 && !slices.Contains(badNames, s)
}

// isLocal reports whether a drawn local part is valid.
func isLocal(s string) bool { return !slices.Contains(badLocals, s) }
