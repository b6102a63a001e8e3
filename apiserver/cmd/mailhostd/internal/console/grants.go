package console

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

type grantRow struct {
	apiclient.GrantRow
	Right, Scope string
	Subject      subject
	// TokenState is the state of the subject's token; "active" if the visitor may not see the service account.
	TokenState string
}

func (v *visit) grantRow(g apiclient.GrantRow) grantRow {
	row := grantRow{
		GrantRow: g, Right: apiclient.RightOf(g.Authorization),
		Subject: subject{g.SubjectType, g.SubjectID, v.names.Subject(g.SubjectType, g.SubjectID)}, Scope: v.names.ScopeOf(g.Authorization),
	}
	if g.Folded > 0 {
		row.Right = "Plan only"
	}
	if g.SubjectType == vocab.SubjectServiceAccount {
		row.TokenState = apiclient.TokenState(v.names.Token(g.SubjectID), v.clock())
	}
	return row
}

// matches reports whether a search finds the row. A row for several grants matches by all their capabilities.
func (g grantRow) matches(search string) bool {
	text := g.SubjectID + " " + g.Subject.Name + " " + g.GrantKind + " " + g.Right
	if g.Folded > 0 {
		text += fmt.Sprint(api.PlanCapabilities())
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(search))
}

type grantsPage struct {
	Rows  []grantRow
	Pager pager
	Types []string
	// One is the subject with grants that are shown one by one.
	One grantRow
}

// listGrants shows the grants in pages. The API lists all of them at once.
func listGrants(v *visit) (view, error) {
	p := grantsPage{Types: []string{vocab.SubjectUser, vocab.SubjectGroup, vocab.SubjectServiceAccount}}
	one, search, revoked := v.query("subject"), strings.TrimSpace(v.query("search")), v.query("revoked") != ""
	all, err := call(v, api.ListAuthorizations, &api.ListAuthorizationsRequest{SubjectType: v.query("type"), SubjectID: one, IncludeRevoked: revoked})
	if err != nil {
		return view{}, err
	}
	var rows []grantRow
	for _, g := range apiclient.FoldGrants(*all, one == "") {
		row := v.grantRow(g)
		if one != "" {
			p.One = row
		}
		if (revoked || row.TokenState != "revoked") && row.matches(search) {
			rows = append(rows, row)
		}
	}
	paged := v.page(rowsPerPage)
	first := min((paged.Page-1)*paged.PageSize, len(rows))
	p.Rows = rows[first:min(first+paged.PageSize, len(rows))]
	p.Pager = pagerOf(v, api.Page[grantRow]{Items: p.Rows, Page: paged.Page, PageSize: paged.PageSize, Total: len(rows)})
	return view{Template: "grants.html", Title: "Grants", Data: p}, nil
}

type grantRevocation struct {
	grantRow
	Children part[[]childRow]
}

// confirmGrantRevocation shows a grant with what its subject has created, if the subject keeps no other
// right. It also shows a revoked grant whose subject has created something.
func confirmGrantRevocation(v *visit) (view, error) {
	g, last, err := v.grant()
	if err != nil {
		return view{}, err
	}
	p := grantRevocation{grantRow: v.grantRow(apiclient.GrantRow{Authorization: g})}
	if last {
		p.Children = v.children(apiclient.Subject{Type: g.SubjectType, ID: g.SubjectID})
	}
	if g.RevokedAt != nil && len(p.Children.Content) == 0 {
		return view{}, noSuchGrant()
	}
	return view{Template: "grant-revoke.html", Title: "Revoke this grant?", Up: link{"/grants", "Grants"}, Data: p}, nil
}

func noSuchGrant() error { return notFound("There is no such grant, or it is revoked already.") }

// grant returns the grant in the path, and whether its subject keeps no other one.
func (v *visit) grant() (g api.Authorization, last bool, err error) {
	all, err := call(v, api.ListAuthorizations, &api.ListAuthorizationsRequest{IncludeRevoked: true})
	if err != nil {
		return g, false, err
	}
	i := slices.IndexFunc(*all, func(g api.Authorization) bool { return g.ID == v.PathValue("id") })
	if i < 0 {
		return g, false, noSuchGrant()
	}
	g = (*all)[i]
	return g, !slices.ContainsFunc(*all, func(other api.Authorization) bool {
		return other.SubjectType == g.SubjectType && other.SubjectID == g.SubjectID && other.RevokedAt == nil && other.ID != g.ID
	}), nil
}

// revokeGrant revokes a grant first, so that its subject creates nothing further, unless it may be the
// visitor's own.
func revokeGrant(v *visit) (view, error) {
	revoke := func() error {
		_, err := call(v, api.RevokeAuthorization, &api.AuthorizationRequest{AuthorizationID: v.PathValue("id")})
		return err
	}
	steps := []func() error{revoke}
	if v.PostFormValue("children") != "" {
		g, last, err := v.grant()
		if err != nil {
			return view{}, err
		}
		if !last {
			return view{}, &failure{Status: http.StatusConflict, Title: titles[http.StatusConflict], Message: "Nothing is revoked: the subject keeps other rights, so that what it has created is not revoked with this one."}
		}
		caller, err := call(v, api.GetCaller, &api.InAccount{})
		if err != nil {
			return view{}, err
		}
		steps = append(steps, func() error { return v.revokeChildren(apiclient.Subject{Type: g.SubjectType, ID: g.SubjectID}) })
		if slices.ContainsFunc(caller.Grants, func(own api.Authorization) bool { return own.ID == g.ID }) {
			slices.Reverse(steps)
		}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return view{}, err
		}
	}
	return view{RedirectTo: "/grants" + queryOf("done", "grant-revoked")}, nil
}

// grantIDs matches the ids in the audit log's name of a grant, such as "mailbox.view in domain <id> for
// service_account <id>".
var grantIDs = regexp.MustCompile(`\b(service_account|user|domain|workspace) ([0-9a-f]{8}-[0-9a-f-]{27})\b`)

// nameGrants adds names to the ids in the grants of audit log entries.
func nameGrants(v *visit, entries []api.AuditEntry) {
	for _, e := range entries {
		for i, c := range e.Changes {
			if c.Type != "authorization" || c.Name == nil {
				continue
			}
			named := grantIDs.ReplaceAllStringFunc(*c.Name, func(text string) string {
				typ, id, _ := strings.Cut(text, " ")
				switch typ {
				case vocab.ResourceDomain:
					return typ + " " + cmp.Or(v.names.Resource(typ, id), id)
				case vocab.ResourceWorkspace:
					return apiclient.DescribeSubject(typ, id, v.names.Resource(typ, id))
				}
				return apiclient.DescribeSubject(strings.ReplaceAll(typ, "_", " "), id, v.names.Subject(typ, id))
			})
			e.Changes[i].Name = &named
		}
	}
}

// names returns texts for pages that refer to objects of grants and rules by id.
type names struct{ *apiclient.Names }

// Workspace returns the name of a workspace, or the start of its id if the visitor may not see it.
func (n names) Workspace(id string) string {
	return cmp.Or(n.Resource(vocab.ResourceWorkspace, id), abbreviated(id))
}

// Scope describes the scope of a rule or a grant.
func (n names) Scope(typ, id string) string {
	switch typ {
	case vocab.ScopeDomain:
		return cmp.Or(n.Resource(vocab.ResourceDomain, id), abbreviated(id))
	case vocab.ScopeWorkspace:
		return "Workspace " + n.Workspace(id)
	}
	return "Whole account"
}

// ScopeOf describes the scope of a grant.
func (n names) ScopeOf(g api.Authorization) string {
	return n.Scope(api.Value(g.ResourceType), api.Value(g.ResourceID))
}

func abbreviated(id string) string { return id[:min(len(id), 8)] + "…" }
