package modeltest

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"time"
)

// serviceAccount is a service account in the model.
type serviceAccount struct {
	number                int
	id, name, token       string
	publicID, createdBy   string
	creator               any
	expiresAt, lastUsedAt time.Time
	usedBefore            time.Time // the last use before that
	revokedAt             time.Time
	revokedBy             string
	created, updated      time.Time
}

func (a *serviceAccount) caller() *caller {
	return &caller{name: fmt.Sprintf("service %d", a.number), account: a, authorization: "Bearer " + a.token}
}

// refusal is the type of the 401 for the token; "" while it is valid.
func (a *serviceAccount) refusal(now time.Time) string {
	switch {
	case !a.revokedAt.IsZero():
		return "token_revoked"
	case !a.expiresAt.IsZero() && !now.Before(a.expiresAt):
		return "token_expired"
	}
	return ""
}

// used records the last use of the token, to the minute. A use in the future is that of a wrong clock.
func (a *serviceAccount) used(now time.Time) {
	if minute := now.Truncate(time.Minute); a.lastUsedAt.Before(minute) || a.lastUsedAt.After(now.Add(clocksDiffer)) {
		a.usedBefore, a.lastUsedAt = a.lastUsedAt, minute
	}
}

var (
	tokenForm  = regexp.MustCompile(`^mhsa_[A-Za-z0-9]+_[A-Za-z0-9]+$`)
	publicForm = regexp.MustCompile(`^[A-Za-z0-9]+$`)
)

func (m *machine) serviceAccountObject(a *serviceAccount) obj {
	return obj{
		"id": m.learnID(&a.id), "account_id": accountID, "name": a.name, "token_prefix": "mhsa",
		"token_public_id": learnText(&a.publicID, publicForm),
		"token_last4": learn(func(got any) error {
			s, _ := got.(string)
			return unless(len(s) == 4 && (a.token == "" || a.token[len(a.token)-4:] == s), "is %s of %s", show(got), a.token)
		}),
		"created_by_user_id": maybe(a.createdBy), "expires_at": maybe(a.expiresAt), "last_used_at": m.lastUse(a),
		"revoked_at": maybe(a.revokedAt), "revoked_by_user_id": maybe(a.revokedBy),
		"created_at": m.creation(&a.created), "updated_at": m.update(&a.created, a.updated),
	}
}

// lastUse returns the last use of a service account, which is not before its creation. A server writes a use within
// a minute of the machine's time; the other servers see it only then, and a use in the future is seen until then.
func (m *machine) lastUse(a *serviceAccount) any {
	last := func(t time.Time) any {
		if t.Before(a.created) && !t.IsZero() {
			t = a.created
		}
		return maybe(t)
	}
	exact := last(a.lastUsedAt)
	if len(m.servers) == 1 && !a.usedBefore.After(a.lastUsedAt) {
		return exact
	}
	return learn(func(got any) error {
		if a.usedBefore.After(a.lastUsedAt) && (got == exact || got == last(a.usedBefore)) {
			return nil
		}
		latest, used := exact.(string)
		earlier, known := got.(string)
		return unless(got == nil || known && used && earlier <= latest, "is %s; want %s or earlier", show(got), show(exact))
	})
}

// subjectOf returns the caller as the creator of an object.
func (m *machine) subjectOf(who *caller) any {
	if who.account == nil {
		return obj{"type": "user", "id": m.account.ownerID, "name": nil}
	}
	return obj{"type": "service_account", "id": who.account.id, "name": who.account.name}
}

// readCreations lists who created the service accounts and grants that work.
func (m *machine) readCreations() {
	m.do(m.caller(), operation{
		method: "GET", path: "/auth/creations", capability: "authorization.view", reads: true,
		then: func(*caller) want {
			list := func(typ string, id *string, by any) obj {
				return obj{"object_type": typ, "object_id": m.learnID(id), "created_by": by}
			}
			items := render(m.serviceAccounts, func(a *serviceAccount) bool { return a.refusal(m.now()) == "" }, func(a *serviceAccount) obj {
				return list("service_account", &a.id, a.creator)
			})
			return ok(append(append([]any{}, items...), render(m.grants, func(g *grant) bool {
				a := m.serviceAccountOf(everything, g.subjectID)
				return g.revokedAt.IsZero() && (a == nil || a.refusal(m.now()) == "")
			}, func(g *grant) obj { return list("authorization", &g.id, g.creator) })...))
		},
	})
}

// userOf returns the id of the caller's user, or "" for a service account.
func (m *machine) userOf(who *caller) string {
	if who.owner {
		return m.account.ownerID
	}
	return ""
}

func (m *machine) createServiceAccount() {
	m.addServiceAccount(m.caller(), draw(m, "lasts", time.Hour, time.Minute, 0, 2*time.Microsecond, -time.Second), draw(m, "expires", false, true))
}

// addServiceAccount creates a service account, which inherits its creator's grants. It
// returns nil if the service rejects it.
func (m *machine) addServiceAccount(who *caller, lasts time.Duration, expires bool) *serviceAccount {
	body := obj{"name": draw(m, "name", "deploy", "ci", "deploy")}
	var expiresAt time.Time
	if expires {
		expiresAt = m.now().Add(lasts)
		zone := draw(m, "zone", time.UTC, time.FixedZone("", 2*60*60))
		body["expires_at"] = expiresAt.In(zone).Format(time.RFC3339Nano)
	}
	faults := m.spoil("body", body, "name")
	if faults != nil { // a time in the past would be another problem
		delete(body, "expires_at")
	}
	n := len(m.serviceAccounts)
	m.do(who, operation{
		method: "POST", path: "/auth/service-accounts", body: body, capability: "service_account.create", keyed: true, faults: faults,
		then: func(who *caller) want {
			if expires && !expiresAt.After(m.now()) {
				return unprocessable(wrong("body.expires_at"))
			}
			limit := m.expiryOf(who)
			if !limit.IsZero() && expiresAt.After(limit) {
				return unprocessable(problem{loc: "body.expires_at", typ: "value_error", contains: []string{stamp(limit)}})
			}
			ends := expiresAt
			if !expires {
				ends = limit
			}
			a := &serviceAccount{number: len(m.serviceAccounts) + 1, name: body["name"].(string), createdBy: m.userOf(who), creator: m.subjectOf(who), expiresAt: ends}
			out := m.serviceAccountObject(a)
			out["token"] = learnText(&a.token, tokenForm)
			for _, g := range m.grantsOf(who) {
				inherited := *g
				inherited.id, inherited.created, inherited.inheritedBy, inherited.creator = "", time.Time{}, a, a.creator
				m.grants = append(m.grants, &inherited)
			}
			m.serviceAccounts = append(m.serviceAccounts, a)
			return created(out)
		},
	})
	if len(m.serviceAccounts) == n {
		return nil
	}
	return find(m.serviceAccounts, func(a *serviceAccount) bool { return a.number == n+1 })
}

// expiryOf returns the expiry of a caller's credential, which limits the expiry of the service accounts
// that it creates.
func (m *machine) expiryOf(who *caller) time.Time {
	if who.account == nil {
		return time.Time{}
	}
	return who.account.expiresAt
}

func (m *machine) serviceAccountIDs() []string {
	return idsOf(m.serviceAccounts, func(a *serviceAccount) string { return a.id })
}

// revokeServiceAccount revokes a service account, which is idempotent. A caller can revoke only service
// accounts with grants that it could create, and never the last owner.
func (m *machine) revokeServiceAccount() {
	id, faults := m.named("service_account_id", m.serviceAccountIDs())
	o := operation{method: "DELETE", path: "/auth/service-accounts/" + id, capability: "service_account.revoke", faults: faults, reads: true}
	revoke := on(m, o, "service_account_id", id, m.serviceAccountOf, func(who *caller, a *serviceAccount) want {
		held := m.grantsOf(a.caller())
		if slices.ContainsFunc(held, func(g *grant) bool { return !m.mayGrant(who, g) }) {
			return denied("revoke")
		}
		if !a.revokedAt.IsZero() {
			return deleted()
		}
		a.revokedAt = m.now()
		if slices.ContainsFunc(held, func(g *grant) bool { return g.kind != "capability" }) && !m.hasOwner(who) {
			a.revokedAt = time.Time{}
			return conflict("owner who can act", a.id)
		}
		a.updated, a.revokedBy = m.now(), m.userOf(who)
		return deleted()
	})
	m.do(m.caller(), revoke)
	if m.rarely(3, "again") {
		m.become(m.now().Add(time.Second))
		m.do(m.caller(), revoke)
	}
}

func (m *machine) serviceAccountOf(_ reach, id string) *serviceAccount {
	return find(m.serviceAccounts, func(a *serviceAccount) bool { return a.id == canonical(id) })
}

func (m *machine) readServiceAccounts() {
	if m.rarely(2, "one") {
		m.readOne("service_account_id", m.serviceAccountIDs(), m.getServiceAccount)
		return
	}
	m.listServiceAccounts().do(m, m.caller())
}

func (m *machine) getServiceAccount(id string) operation {
	return get(m, "/auth/service-accounts/", "service_account.view", "service_account_id", id, m.serviceAccountOf, m.serviceAccountObject)
}

func (m *machine) listServiceAccounts() *listing {
	return list(m, "/auth/service-accounts", "service_account.view", url.Values{}, &m.serviceAccounts, m.serviceAccountObject,
		func(*listing, reach, *serviceAccount) bool { return true })
}
