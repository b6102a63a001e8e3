package modeltest

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// grant is an authorization in the model.
type grant struct {
	id, kind                             string
	subjectType, subjectID               string
	capability, resourceType, resourceID string
	created, revokedAt                   time.Time
	creator                              any
	// inheritedBy is the service account that inherited it, until its id is known.
	inheritedBy *serviceAccount
}

// content is a grant's subject, capability and scope.
func (g *grant) content() [6]string {
	return [6]string{g.kind, g.subjectType, g.subjectID, g.capability, g.resourceType, g.resourceID}
}

func (m *machine) grantObject(g *grant) obj {
	return obj{
		"id": m.learnID(&g.id), "grant_kind": g.kind, "subject_type": g.subjectType, "subject_id": g.subjectID,
		"capability_key": maybe(g.capability), "resource_type": maybe(g.resourceType), "resource_id": maybe(g.resourceID),
		"created_at": m.creation(&g.created), "revoked_at": maybe(g.revokedAt),
	}
}

// narrowable lists the capabilities of operations that accept a grant restricted to a scope, and whole the others.
var (
	narrowable = []string{
		"mailbox.view", "mailbox.export", "mailbox.create", "mailbox.update", "mailbox.delete", "domain.view", "domain.update", "domain.purchase", "domain.delete",
		"dns_record.view", "dns_record.create", "dns_record.update", "dns_record.delete", "forwarding.view", "forwarding.manage",
		"credential.view", "credential.manage", "workspace.view",
	}
	whole = []string{
		"service_account.create", "service_account.view", "service_account.revoke", "authorization.view", "authorization.manage",
		"dedicated_ip.claim", "dedicated_ip.view", "dedicated_ip.release", "billing.manage", "workspace.manage", "account.view", "audit_log.view",
	}
)

// restrictCaller creates a service account with some capabilities, most of them
// restricted to one workspace or domain.
func (m *machine) restrictCaller() {
	if len(m.serviceAccounts) >= 6 || m.cancelled() || len(m.domains) == 0 {
		return
	}
	a := m.addServiceAccount(m.theOwner(), time.Hour, m.rarely(4, "expires"))
	if a == nil {
		return
	}
	for _, g := range m.grantsOf(a.caller()) {
		m.do(m.theOwner(), m.revoke(g.id, nil))
	}
	resourceType, resourceID := "domain", m.domains[m.which("domain", len(m.domains))].id
	if draw(m, "restricted to", "domain", "workspace") == "workspace" {
		resourceType, resourceID = "workspace", m.workspaces[m.which("workspace", len(m.workspaces))].id
	}
	first := m.which("first capability", len(narrowable))
	for i := range draw(m, "capabilities", 10, 4, 18) {
		body := obj{"grant_kind": "capability", "subject_type": "service_account", "subject_id": a.id, "capability_key": narrowable[(first+i)%len(narrowable)]}
		if !m.rarely(6, "not restricted") {
			body["resource_type"], body["resource_id"] = resourceType, resourceID
		}
		m.do(m.theOwner(), m.grant(body, nil))
	}
}

// grantAuthorization creates a grant. No caller can grant more than it has.
func (m *machine) grantAuthorization() {
	subjectType := draw(m, "subject_type", "service_account", "service_account", "user", "group")
	body := obj{"grant_kind": draw(m, "grant_kind", "capability", "capability", "account_owner", "super_admin"), "subject_type": subjectType}
	body["subject_id"] = "someone"
	if subjectType == "service_account" {
		body["subject_id"], _ = m.anID("subject_id", m.serviceAccountIDs())
	}
	if body["grant_kind"] == "capability" {
		body["capability_key"] = draw(m, "capability_key", append(slices.Clone(whole), narrowable...)...)
		switch draw(m, "restricted to", "nothing", "domain", "workspace") {
		case "domain":
			body["resource_type"] = "domain"
			body["resource_id"], _ = m.anID("resource_id", idsOf(m.domains, func(d *domain) string { return d.id }))
		case "workspace":
			body["resource_type"] = "workspace"
			body["resource_id"], _ = m.anID("resource_id", m.workspaceIDs())
		}
	}
	m.do(m.caller(), m.grant(body, m.badGrant(body)))
}

// badGrant sometimes makes a grant invalid.
func (m *machine) badGrant(body obj) (faults []problem) {
	if id, given := body["resource_id"].(string); given && canonical(id) != unknownID && !uuidForm.MatchString(canonical(id)) {
		faults = append(faults, problem{loc: "body.resource_id", typ: "uuid_parsing"})
	}
	if !m.rarely(6, "bad grant") {
		return faults
	}
	_, restricted := body["resource_type"]
	switch capability := body["grant_kind"] == "capability"; {
	case !capability:
		body["capability_key"] = "mailbox.view"
		faults = append(faults, wrong("body.capability_key"))
	case restricted:
		delete(body, "resource_type")
		faults = append(faults, problem{loc: "body.resource_type", typ: "missing"})
	case draw(m, "no key", true, false):
		delete(body, "capability_key")
		faults = append(faults, problem{loc: "body.capability_key", typ: "missing"})
	default:
		body["capability_key"] = "mailbox.paint"
		faults = append(faults, wrong("body.capability_key"))
	}
	return faults
}

func (m *machine) grant(body obj, faults []problem) operation {
	member := func(name string) string {
		s, _ := body[name].(string)
		return s
	}
	return operation{
		method: "POST", path: "/auth/authorizations", body: body, capability: "authorization.manage", keyed: true, faults: faults,
		then: func(who *caller) want {
			g := &grant{
				creator: m.subjectOf(who),
				kind:    member("grant_kind"), subjectType: member("subject_type"), subjectID: member("subject_id"),
				capability: member("capability_key"), resourceType: member("resource_type"), resourceID: canonical(member("resource_id")),
			}
			if !m.mayGrant(who, g) {
				return refused(403, problem{loc: "header.Authorization", typ: "permission_denied"})
			}
			var unknown []problem
			if g.subjectType == "service_account" {
				if g.subjectID = canonical(g.subjectID); m.serviceAccountOf(everything, g.subjectID) == nil {
					unknown = append(unknown, wrong("body.subject_id"))
				}
			}
			if g.resourceType == "domain" && m.domainWithID(g.resourceID) == nil || g.resourceType == "workspace" && m.seenWorkspace(everything, g.resourceID) == nil {
				unknown = append(unknown, wrong("body.resource_id"))
			}
			if unknown != nil {
				return unprocessable(unknown...)
			}
			if limit := m.expiryOf(who); !limit.IsZero() {
				to := m.serviceAccountOf(everything, g.subjectID)
				if g.subjectType != "service_account" || to.expiresAt.IsZero() || to.expiresAt.After(limit) {
					return denied("longer")
				}
			}
			if same := find(m.grants, func(other *grant) bool { return other.revokedAt.IsZero() && other.content() == g.content() }); same != nil {
				return conflictWith(same.id, m.reach(who, "authorization.view").all)
			}
			m.grants = append(m.grants, g)
			return created(m.grantObject(g))
		},
	}
}

func (m *machine) domainWithID(id string) *domain {
	return find(m.domains, func(d *domain) bool { return d.id == id })
}

// mayGrant reports whether the caller can create a grant: a super_admin can create any, an account_owner
// any except super_admin, and any other caller its own grants in their scope.
func (m *machine) mayGrant(who *caller, g *grant) bool {
	return slices.ContainsFunc(m.grantsOf(who), func(own *grant) bool {
		switch own.kind {
		case "super_admin":
			return true
		case "account_owner":
			return g.kind != "super_admin"
		}
		return g.kind == "capability" && own.capability == g.capability &&
			(own.resourceType == "" || own.resourceType == g.resourceType && own.resourceID == g.resourceID)
	})
}

// revokeAuthorization revokes a grant, which is idempotent. It never revokes the
// owner's own grant, which the sequence needs.
func (m *machine) revokeAuthorization() {
	id, faults := m.named("authorization_id", idsOf(m.grants, func(g *grant) string { return g.id }))
	if canonical(id) == m.grants[0].id {
		return
	}
	m.do(m.caller(), m.revoke(id, faults))
	if m.rarely(3, "again") {
		m.become(m.now().Add(time.Second))
		m.do(m.caller(), m.revoke(id, faults))
	}
}

func (m *machine) revoke(id string, faults []problem) operation {
	return operation{
		method: "DELETE", path: "/auth/authorizations/" + id, capability: "authorization.manage", faults: faults, reads: true,
		then: func(who *caller) want {
			g := find(m.grants, func(g *grant) bool { return g.id == canonical(id) })
			switch {
			case g == nil:
				return notFound("authorization_id")
			case !m.mayGrant(who, g):
				return denied("revoke")
			case !g.revokedAt.IsZero():
				return deleted()
			}
			g.revokedAt = m.now()
			if g.kind != "capability" && !m.hasOwner(who) {
				g.revokedAt = time.Time{}
				return conflict("owner who can act", g.id)
			}
			return deleted()
		},
	}
}

// hasOwner reports whether an owner can act: a service account with a valid token, or
// the built-in owner if it is the caller.
func (m *machine) hasOwner(who *caller) bool {
	return slices.ContainsFunc(m.grants, func(g *grant) bool {
		if g.kind != "account_owner" || !g.revokedAt.IsZero() {
			return false
		}
		if g.subjectType == "service_account" {
			a := m.serviceAccountOf(everything, g.subjectID)
			return a != nil && a.refusal(m.now()) == ""
		}
		return who.owner && g.subjectID == m.account.ownerID
	})
}

// learnInherited reads the grants of a new service account: a copy of each of its creator's grants, in any order.
func (m *machine) learnInherited() {
	expected := slices.DeleteFunc(slices.Clone(m.grants), func(g *grant) bool { return g.inheritedBy == nil })
	if len(expected) == 0 {
		return
	}
	inheritedBy := expected[0].inheritedBy
	m.grants = without(m.grants, func(g *grant) bool { return g.inheritedBy != nil })
	a := m.send("", m.theOwner(), operation{method: "GET", path: "/auth/authorizations", query: url.Values{"subject_id": {inheritedBy.id}}})
	var received []json.RawMessage
	if err := json.Unmarshal(a.raw, &received); err != nil || len(received) != len(expected) {
		m.fail("the new service account has %d grants; want %d", len(received), len(expected))
	}
	for i := range received {
		got := a.json.([]any)[i].(obj)
		at := slices.IndexFunc(expected, func(g *grant) bool {
			g.subjectType, g.subjectID, g.inheritedBy = "service_account", inheritedBy.id, nil
			return got["grant_kind"] == g.kind && got["capability_key"] == maybe(g.capability) && got["resource_type"] == maybe(g.resourceType) && got["resource_id"] == maybe(g.resourceID)
		})
		if at < 0 {
			m.fail("the new service account has the grant %s", received[i])
		}
		g := expected[at]
		expected = slices.Delete(expected, at, at+1)
		if found := differences("grant "+strconv.Itoa(i), m.grantObject(g), got); len(found) > 0 {
			m.fail("%v", found)
		}
		m.grants = append(m.grants, g)
	}
}

// readAuthorizations lists grants, without pages.
func (m *machine) readAuthorizations() {
	l := &listing{query: url.Values{}}
	l.filter(m, "subject_type", "service_account", "user", "group")
	l.filter(m, "grant_kind", "capability", "account_owner", "super_admin")
	l.filter(m, "subject_id", append(m.serviceAccountIDs(), "someone", m.account.ownerID)...)
	l.filter(m, "capability_key", "mailbox.view", "domain.view", "mailbox.paint")
	l.filter(m, "include_revoked", "true", "false")
	m.do(m.caller(), m.listGrants(l.query))
}

func (m *machine) listGrants(query url.Values) operation {
	return operation{
		method: "GET", path: "/auth/authorizations", query: query, capability: "authorization.view", reads: true,
		then: func(*caller) want {
			is := func(name, value string) bool { return query.Get(name) == "" || query.Get(name) == value }
			items := render(m.grants, func(g *grant) bool {
				return is("subject_type", g.subjectType) && is("subject_id", g.subjectID) && is("grant_kind", g.kind) && is("capability_key", g.capability) &&
					(g.revokedAt.IsZero() || query.Get("include_revoked") == "true")
			}, m.grantObject)
			return ok(append([]any{}, items...))
		},
	}
}
