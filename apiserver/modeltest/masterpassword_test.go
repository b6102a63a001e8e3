package modeltest

import (
	"net/url"
	"regexp"
	"strings"
	"time"
)

// password is a master password in the model. A generated secret is returned only once.
type password struct {
	id, name         string
	scope            scope
	created, updated time.Time
}

var secretForm = regexp.MustCompile(`^\S{20,256}$`)

func (m *machine) passwordObject(p *password) obj {
	scopeType, scopeID := p.scope.members()
	return obj{
		"id": m.learnID(&p.id), "name": p.name, "scope_type": scopeType, "scope_id": scopeID,
		"created_at": m.creation(&p.created), "updated_at": m.update(&p.created, p.updated),
	}
}

var passwordNames = []string{"ops", "backup", "OPS", "100%", "ü", "Ü", "ΟΔΟΣ", "Οδος", "nul\x00", "two\nlines", "\u200b"}

// passwordConflict returns a conflict for a name that exists in the scope.
func (m *machine) passwordConflict(who *caller, p *password) *want {
	for _, other := range m.passwords {
		if other != p && other.scope == p.scope && strings.EqualFold(other.name, p.name) {
			return new(conflictWith(other.id, m.reach(who, "credential.view").scope(other.scope)))
		}
	}
	return nil
}

// createPassword creates a master password with exactly one of generate and value.
func (m *machine) createPassword() {
	body := obj{"name": draw(m, "name", passwordNames...)}
	faults := append(m.spoil("body", body, "name"), misnamed("body", body, "name")...)
	generate := false
	secrets := []string{"generate", "value"}
	if m.rarely(6, "bad secret") {
		secrets = []string{"both", "neither"}
	}
	switch draw(m, "secret", secrets...) {
	case "generate":
		body["generate"], generate = true, true
	case "value":
		body["value"], body["generate"] = "s3cr", draw[any](m, "generate", false, false)
	case "both":
		body["value"], body["generate"] = "secret", true
		faults = append(faults, wrong("body.value"))
	case "neither":
		faults = append(faults, wrong("body.value"))
	}
	faults = append(faults, m.drawScope(body)...)
	m.do(m.caller(), operation{
		method: "POST", path: "/credentials", body: body, capability: "credential.manage", narrowable: true, keyed: true, faults: faults,
		then: func(who *caller) want {
			s, refusal := m.scopeOf(who, "credential.manage", body)
			if refusal != nil {
				return *refusal
			}
			p := &password{scope: s, name: body["name"].(string)}
			if refusal := m.passwordConflict(who, p); refusal != nil {
				return *refusal
			}
			m.passwords = append(m.passwords, p)
			out := m.passwordObject(p)
			if generate {
				out["generated_secret"] = learnText(new(string), secretForm)
			}
			return created(out)
		},
	})
}

func (m *machine) passwordIDs() []string {
	return idsOf(m.passwords, func(p *password) string { return p.id })
}

// seenPassword returns a master password that the caller may see.
func (m *machine) seenPassword(r reach, id string) *password {
	return find(m.passwords, func(p *password) bool { return p.id == canonical(id) && r.scope(p.scope) })
}

func (m *machine) renamePassword() {
	id, faults := m.named("credential_id", m.passwordIDs())
	body := obj{"name": draw(m, "name", passwordNames...)}
	faults = append(faults, m.spoil("body", body, "name")...)
	faults = append(faults, misnamed("body", body, "name")...)
	o := operation{method: "PATCH", path: "/credentials/" + id, body: body, capability: "credential.manage", faults: faults}
	m.do(m.caller(), on(m, o, "credential_id", id, m.seenPassword, func(who *caller, p *password) want {
		before := p.name
		p.name = body["name"].(string)
		if refusal := m.passwordConflict(who, p); refusal != nil {
			p.name = before
			return *refusal
		}
		p.updated = m.now()
		return ok(m.passwordObject(p))
	}))
}

func (m *machine) deletePassword() {
	id, faults := m.named("credential_id", m.passwordIDs())
	erase(m, "/credentials/", "credential.manage", "credential_id", id, faults, m.seenPassword, func(p *password) {
		m.passwords = without(m.passwords, func(other *password) bool { return other == p })
	})
}

func (m *machine) readPasswords() {
	if m.rarely(3, "one") {
		m.readOne("credential_id", m.passwordIDs(), m.getPassword)
		return
	}
	l := m.listPasswords(url.Values{})
	if m.rarely(2, "by scope") {
		l.filterScope(m)
	}
	l.filter(m, "search", "op", "UP", "%", "Ü", "zzz")
	l.do(m, m.caller())
}

func (m *machine) getPassword(id string) operation {
	return get(m, "/credentials/", "credential.view", "credential_id", id, m.seenPassword, m.passwordObject)
}

func (m *machine) listPasswords(query url.Values) *listing {
	return list(m, "/credentials", "credential.view", query, &m.passwords, m.passwordObject, func(l *listing, r reach, p *password) bool {
		return r.scope(p.scope) && l.inScope(m, r, p.scope) && has(l.query.Get("search"), p.name)
	})
}
