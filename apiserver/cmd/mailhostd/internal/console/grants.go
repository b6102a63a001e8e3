package console

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// grantRow is a grant with the names of its subject and of what it covers.
type grantRow struct {
	api.Authorization
	Right, Subject, Scope string
	// TokenState is active, expired or revoked if the subject is a service account, and
	// empty otherwise.
	TokenState string
	// Folded is how many grants the row stands for, if there are several.
	Folded int
}

// searchText returns what a search looks at. A row for several grants has all of them.
func (g grantRow) searchText() string {
	text := []string{g.SubjectID, g.Subject, g.GrantKind, g.Right}
	if g.Folded > 0 {
		for _, c := range api.PlanCapabilities() {
			text = append(text, string(c))
		}
	}
	return strings.Join(text, " ")
}

func grantRowOf(names *scopeNames, g api.Authorization) grantRow {
	return grantRow{Authorization: g, Right: cmp.Or(value(g.CapabilityKey), g.GrantKind), Scope: names.Scope(value(g.ResourceType), value(g.ResourceID))}
}

// isPlanOnly reports whether the grants of a subject permit what a plan reads, and no more.
func isPlanOnly(grants []api.Authorization) bool {
	capabilities := map[vocab.Capability]bool{}
	for _, g := range grants {
		if g.CapabilityKey == nil || g.ResourceType != nil || g.RevokedAt != nil {
			return false
		}
		capabilities[vocab.Capability(*g.CapabilityKey)] = true
	}
	plan := api.PlanCapabilities()
	return len(capabilities) == len(plan) && !slices.ContainsFunc(plan, func(c vocab.Capability) bool { return !capabilities[c] })
}

type grantsPage struct {
	Rows           []grantRow
	Pager          pager
	Search, Type   string
	IncludeRevoked bool
	Types          []string
	// One is the subject whose grants are shown one by one.
	One grantRow
}

// listGrants shows the grants in pages. The API lists all of them at once.
func listGrants(v *visit) (view, error) {
	p := grantsPage{
		Search: strings.TrimSpace(v.query("search")), Type: v.query("type"), IncludeRevoked: v.query("revoked") != "",
		Types: []string{vocab.SubjectUser, vocab.SubjectGroup, vocab.SubjectServiceAccount},
	}
	one := v.query("subject")
	all, err := call(v, api.ListAuthorizations, &api.ListAuthorizationsRequest{SubjectType: p.Type, SubjectID: one, IncludeRevoked: p.IncludeRevoked})
	if err != nil {
		return view{}, err
	}
	subjects := subjectsFor(v)
	if one != "" && len(*all) > 0 {
		p.One = subjects.row((*all)[0])
	}
	rows := slices.DeleteFunc(subjects.rows(*all, one == ""), func(g grantRow) bool {
		return g.TokenState == "revoked" && !p.IncludeRevoked || !strings.Contains(strings.ToLower(g.searchText()), strings.ToLower(p.Search))
	})
	paged := v.page(rowsPerPage)
	first := min((paged.Page-1)*paged.PageSize, len(rows))
	p.Rows = rows[first:min(first+paged.PageSize, len(rows))]
	names := namesFor(v)
	for i, g := range p.Rows {
		p.Rows[i].Scope = names.Scope(value(g.ResourceType), value(g.ResourceID))
	}
	p.Pager = pagerOf(v, api.Page[grantRow]{Items: p.Rows, Page: paged.Page, PageSize: paged.PageSize, Total: len(rows)})
	return view{Template: "grants.html", Title: "Grants", Data: p}, nil
}

// subjects are the subjects of grants: service accounts, as far as the visitor may see them,
// the owner that every account comes with, and people whom the audit log names. A user or
// a group may have the same id as a service account.
type subjects struct {
	users, tokens map[string]string // names by id
	states        map[string]string // of tokens
}

// auditEntriesForNames is how many entries of the audit log are searched for names of
// people: the most that one request returns.
const auditEntriesForNames = 100

func subjectsFor(v *visit) subjects {
	s := subjects{users: map[string]string{}, tokens: map[string]string{}, states: map[string]string{}}
	if entries, err := call(v, api.ListAuditLog, &api.ListAuditLogRequest{Limit: auditEntriesForNames, MaxChanges: 1}); err == nil {
		for _, e := range *entries {
			if e.Subject.Type == vocab.SubjectUser && e.Subject.ID != nil && s.users[*e.Subject.ID] == "" {
				s.users[*e.Subject.ID] = value(e.Subject.Name)
			}
		}
	}
	for a, err := range apiclient.All(v.Context(), v.api, api.ListServiceAccounts, &api.ListRequest{}) {
		if err != nil {
			break
		}
		s.tokens[a.ID], s.states[a.ID] = a.Name, apiclient.TokenState(a, v.clock())
	}
	s.users[api.DerivedID(v.session.AccountID, "user:owner")] = "Built-in owner"
	return s
}

// name returns the name of a subject, or its id.
func (s subjects) name(typ, id string) string {
	switch typ {
	case vocab.SubjectUser:
		return cmp.Or(s.users[id], id)
	case vocab.SubjectServiceAccount:
		return cmp.Or(s.tokens[id], id)
	}
	return id
}

// row returns the row of a grant without its scope.
func (s subjects) row(g api.Authorization) grantRow {
	row := grantRow{Authorization: g, Right: cmp.Or(value(g.CapabilityKey), g.GrantKind), Subject: s.name(g.SubjectType, g.SubjectID)}
	if g.SubjectType == vocab.SubjectServiceAccount {
		row.TokenState = s.states[g.SubjectID]
	}
	return row
}

// rows returns the rows of grants without their scopes. If fold is set, the grants of a
// subject that may only plan are one row.
func (s subjects) rows(grants []api.Authorization, fold bool) (rows []grantRow) {
	key := func(g api.Authorization) string { return g.SubjectType + " " + g.SubjectID }
	working := map[string][]api.Authorization{}
	for _, g := range grants {
		if g.RevokedAt == nil {
			working[key(g)] = append(working[key(g)], g)
		}
	}
	folded := map[string]int{}
	for k, of := range working {
		if fold && isPlanOnly(of) {
			folded[k] = len(of)
		}
	}
	for _, g := range grants {
		row := s.row(g)
		if n := folded[key(g)]; n > 0 && g.RevokedAt == nil {
			if g.ID != working[key(g)][0].ID {
				continue
			}
			row.Right, row.Folded = "Plan only", n
		}
		rows = append(rows, row)
	}
	return rows
}

func confirmGrantRevocation(v *visit) (view, error) {
	all, err := call(v, api.ListAuthorizations, &api.ListAuthorizationsRequest{})
	if err != nil {
		return view{}, err
	}
	i := slices.IndexFunc(*all, func(g api.Authorization) bool { return g.ID == v.PathValue("id") })
	if i < 0 {
		return view{}, notFound("There is no such grant, or it is revoked already.")
	}
	g := grantRowOf(namesFor(v), (*all)[i])
	g.Subject = subjectsFor(v).name(g.SubjectType, g.SubjectID)
	return view{Template: "grant-revoke.html", Title: "Revoke this grant?", Up: link{"/grants", "Grants"}, Data: g}, nil
}

func revokeGrant(v *visit) (view, error) {
	if _, err := call(v, api.RevokeAuthorization, &api.AuthorizationRequest{AuthorizationID: v.PathValue("id")}); err != nil {
		return view{}, err
	}
	return view{RedirectTo: "/grants" + queryOf("done", "grant-revoked")}, nil
}

// grantIDs are the ids in the audit log's name of a grant, which is
// "mailbox.view in domain <id> for service_account <id>".
var grantIDs = regexp.MustCompile(`\b(service_account|user|domain|workspace) ([0-9a-f]{8}-[0-9a-f-]{27})\b`)

// nameGrants puts names in the place of ids in the names of grants of an audit log.
func nameGrants(v *visit, entries []api.AuditEntry) {
	isGrant := func(c api.AuditChange) bool { return c.Type == "authorization" && c.Name != nil }
	if !slices.ContainsFunc(entries, func(e api.AuditEntry) bool { return slices.ContainsFunc(e.Changes, isGrant) }) {
		return
	}
	who, scopes := subjectsFor(v), namesFor(v)
	for _, e := range entries {
		for i, c := range e.Changes {
			if !isGrant(c) {
				continue
			}
			named := grantIDs.ReplaceAllStringFunc(*c.Name, func(text string) string {
				typ, id, _ := strings.Cut(text, " ")
				switch typ {
				case vocab.ScopeDomain:
					return scopes.Domain(id)
				case vocab.ScopeWorkspace:
					return "workspace " + scopes.Workspace(id)
				}
				return who.name(typ, id)
			})
			e.Changes[i].Name = &named
		}
	}
}
