package modeltest

import (
	"net/netip"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// caller is the sender of a request: the account's owner, a service account, or a
// caller without a valid credential.
type caller struct {
	name  string
	owner bool
	// account is the service account.
	account *serviceAccount
	// authorization is the header, and refusal the type of the 401 for a header that is
	// not a service account token.
	authorization, refusal string
}

func (m *machine) theOwner() *caller { return &caller{name: "owner", owner: true} }

// callers returns all callers with a valid credential.
func (m *machine) callers() []*caller {
	all := []*caller{m.theOwner()}
	for _, a := range m.serviceAccounts {
		if a.refusal(m.now()) == "" {
			all = append(all, a.caller())
		}
	}
	return all
}

// caller draws the sender of a request.
func (m *machine) caller() *caller {
	other, n, lapsed := draw(m, "caller", "owner", "other") == "other", m.which("service account", many), m.rarely(6, "lapsed")
	if m.rarely(40, "no credential") {
		return m.stranger()
	}
	accounts := without(slices.Clone(m.serviceAccounts), func(a *serviceAccount) bool { return (a.refusal(m.now()) != "") != lapsed })
	if other && len(accounts) > 0 {
		return accounts[n%len(accounts)].caller()
	}
	return m.theOwner()
}

func (m *machine) stranger() *caller {
	tokens := []string{"", "Bearer nonsense", "Bearer ", "Basic b3duZXI6b3duZXI=", "Bearer mhsa_aaaa_bbbbbbbbbbbbbbbbbbbbbbbb"}
	if len(m.serviceAccounts) > 0 {
		token := m.serviceAccounts[0].token
		tokens = append(tokens, "Bearer "+token[:len(token)-1], "Bearer "+strings.ToUpper(token))
	}
	header := rapid.SampledFrom(tokens).Draw(m.t, "credential")
	who := &caller{name: "stranger", authorization: header, refusal: "invalid_token"}
	if token, ok := strings.CutPrefix(header, "Bearer "); !ok || token == "" {
		who.refusal = "not_authenticated"
	}
	return who
}

// admit authenticates the caller and checks the capability. The operation checks the
// scopes of grants.
func (m *machine) admit(who *caller, o operation) (refusal want, ok bool) {
	if a := who.account; a != nil {
		if refusal := a.refusal(m.now()); refusal != "" {
			return unauthorized(refusal), false
		}
		a.used(m.now())
	} else if !who.owner {
		return unauthorized(who.refusal), false
	}
	if o.capability == "" {
		return want{}, true
	}
	r := m.reach(who, o.capability)
	return denied(o.capability), r.all || o.narrowable && len(r.resources) > 0
}

func (m *machine) readCaller() {
	m.do(m.caller(), operation{
		method: "GET", path: "/auth/caller", reads: true,
		then: func(who *caller) want {
			body := obj{
				"subject_type": "user", "subject_id": m.account.ownerID, "name": nil, "email": nil, "expires_at": nil,
				"grants": append([]any{}, render(m.grantsOf(who), func(*grant) bool { return true }, m.grantObject)...),
			}
			if a := who.account; a != nil {
				body["subject_type"], body["subject_id"], body["name"] = "service_account", a.id, a.name
				body["expires_at"] = maybe(a.expiresAt)
			}
			return ok(body)
		},
	})
}

// unauthorized returns a 401, with the error of the credential, if there is one.
func unauthorized(typ string) want {
	w := refused(401, problem{loc: "header.Authorization", typ: typ})
	w.check = func(a *response) []string {
		found := problemDifferences(w.problems, a.json)
		challenge := a.header.Get("WWW-Authenticate")
		if !strings.HasPrefix(challenge, "Bearer") || strings.Contains(challenge, `error="invalid_token"`) == (typ == "not_authenticated") {
			found = append(found, "the header WWW-Authenticate is "+challenge)
		}
		return found
	}
	return w
}

// reach is the part of the account that a caller may see with a capability.
type reach struct {
	all       bool
	resources []string // workspaces and domains
}

var everything = reach{all: true}

func (m *machine) reach(who *caller, capability string) (r reach) {
	for _, g := range m.grantsOf(who) {
		switch {
		case g.kind != "capability" || g.capability == capability && g.resourceType == "":
			return reach{all: true}
		case g.capability == capability:
			r.resources = append(r.resources, g.resourceType+g.resourceID)
		}
	}
	return r
}

// grantsOf returns a caller's valid grants.
func (m *machine) grantsOf(who *caller) (held []*grant) {
	subjectType, subjectID := "user", m.account.ownerID
	if who.account != nil {
		subjectType, subjectID = "service_account", who.account.id
	}
	for _, g := range m.grants {
		if g.subjectType == subjectType && g.subjectID == subjectID && g.revokedAt.IsZero() {
			held = append(held, g)
		}
	}
	return held
}

func (r reach) workspace(w *workspace) bool {
	return r.all || slices.Contains(r.resources, "workspace"+w.id)
}

func (r reach) domain(d *domain) bool {
	return r.workspace(d.workspace) || slices.Contains(r.resources, "domain"+d.id)
}

// scope reports whether an object with a scope is visible. An object of the whole
// account is not visible to callers who see a part of it.
func (r reach) scope(s scope) bool {
	switch {
	case s.domain != nil:
		return r.domain(s.domain)
	case s.workspace != nil:
		return r.workspace(s.workspace)
	}
	return r.all
}

// scope is the scope of a master password or a forwarding rule: a domain, a workspace
// or the account.
type scope struct {
	domain    *domain
	workspace *workspace
}

func (s scope) members() (scopeType, id string) {
	switch {
	case s.domain != nil:
		return "domain", s.domain.id
	case s.workspace != nil:
		return "workspace", s.workspace.id
	}
	return "account", accountID
}

// drawScope adds a scope to a body.
func (m *machine) drawScope(body obj) (found []problem) {
	kinds := []string{"account", "domain", "workspace"}
	if m.rarely(15, "two scopes") {
		kinds = []string{"both"}
	}
	kind := draw(m, "scope", kinds...)
	if kind == "domain" || kind == "both" {
		body["domain"] = m.domainRef("domain")
	}
	if kind == "workspace" || kind == "both" {
		id, wrongID := m.anID("workspace_id", m.workspaceIDs())
		body["workspace_id"] = id
		switch {
		case wrongID:
			found = append(found, problem{loc: "body.workspace_id", typ: "uuid_parsing"})
		case kind == "both":
			found = append(found, wrong("body.workspace_id"))
		}
	}
	return found
}

// scopeOf returns the scope in a body, or an error.
func (m *machine) scopeOf(who *caller, capability string, body obj) (s scope, refusal *want) {
	r := m.reach(who, capability)
	if ref, given := body["domain"].(string); given {
		if s.domain = m.seenDomain(r, ref); s.domain == nil {
			refusal = new(unprocessable(wrong("body.domain")))
		}
		return s, refusal
	}
	if id, given := body["workspace_id"].(string); given {
		if s.workspace = m.seenWorkspace(r, id); s.workspace == nil {
			refusal = new(unprocessable(wrong("body.workspace_id")))
		}
		return s, refusal
	}
	if !r.all {
		refusal = new(denied(capability))
	}
	return s, refusal
}

// beginRival creates objects in another account, which must never be visible.
func (m *machine) beginRival() {
	rival := m.servers[0].Owner(m.t, rivalID)
	batch := rival.Purchase(rival.DefaultWorkspace(), rivalDomain).Want(200).Str("purchase_batch_id")
	// An unpaid domain has no mailboxes, and would not stay the rival's.
	if _, err := m.servers[0].Service.SettlePayment(m.t.Context(), batch); err != nil {
		m.fail("%s", err)
	}
	rival.Mailbox(rivalDomain, "ann")
	claimed := rival.Post("/dedicated-ips/claim", obj{"option_id": rival.Option("eu")}).Want(201)
	m.rivalIP = netip.MustParseAddr(claimed.Str("ip_addresses.0.ip"))
}
