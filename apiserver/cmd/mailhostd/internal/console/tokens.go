package console

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// tokenRow is a service account with the state of its token.
type tokenRow struct {
	api.ServiceAccount
	// State is active, expired or revoked.
	State string
	// Own reports that it is the one that the visitor has signed in with.
	Own bool
}

func (v *visit) tokenRow(a api.ServiceAccount) tokenRow {
	row := tokenRow{a, "active", a.ID == v.session.ServiceAccountID}
	if at, expires := timeOf(a.ExpiresAt); a.RevokedAt != nil {
		row.State = "revoked"
	} else if expires && !v.clock().Before(at) {
		row.State = "expired"
	}
	return row
}

func listTokens(v *visit) (view, error) {
	list, err := call(v, api.ListServiceAccounts, &api.ListRequest{Paged: v.page(rowsPerPage)})
	if err != nil {
		return view{}, err
	}
	var rows []tokenRow
	for _, a := range list.Items {
		rows = append(rows, v.tokenRow(a))
	}
	return view{Template: "tokens.html", Title: "Tokens", Data: struct {
		Rows  []tokenRow
		Pager pager
	}{rows, pagerOf(v, *list)}}, nil
}

type tokenPage struct {
	Token  tokenRow
	Grants part[[]grantRow]
}

// readToken returns what the pages of one token show.
func readToken(v *visit) (p tokenPage, err error) {
	a, err := call(v, api.GetServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: v.PathValue("id")})
	if err != nil {
		return p, err
	}
	p.Token = v.tokenRow(*a)
	grants, err := call(v, api.ListAuthorizations, &api.ListAuthorizationsRequest{SubjectType: vocab.SubjectServiceAccount, SubjectID: a.ID})
	var rows []grantRow
	if err == nil {
		rows = grantRows(namesFor(v), *grants)
	}
	p.Grants, err = partOf(rows, err)
	return p, err
}

func showToken(v *visit) (view, error) {
	p, err := readToken(v)
	return view{Template: "token.html", Title: p.Token.Name, Up: link{"/tokens", "Tokens"}, Data: p}, err
}

func confirmTokenRevocation(v *visit) (view, error) {
	p, err := readToken(v)
	return view{Template: "token-revoke.html", Title: "Revoke this token?", Up: link{"/tokens", "Tokens"}, Data: p}, err
}

func revokeToken(v *visit) (view, error) {
	id := v.PathValue("id")
	if _, err := call(v, api.RevokeServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: id}); err != nil {
		return view{}, err
	}
	return view{RedirectTo: "/tokens" + queryOf("done", "token-revoked")}, nil
}

// grantRow is a grant with the names of its subject and of what it covers.
type grantRow struct {
	api.Authorization
	Right, Subject, Scope string
}

func grantRows(names *scopeNames, grants []api.Authorization) (rows []grantRow) {
	for _, g := range grants {
		rows = append(rows, grantRow{g, cmp.Or(value(g.CapabilityKey), g.GrantKind), g.SubjectID, names.Scope(value(g.ResourceType), value(g.ResourceID))})
	}
	return rows
}

type grantsPage struct {
	Rows           []grantRow
	Pager          pager
	Search, Type   string
	IncludeRevoked bool
	Types          []string
}

// listGrants shows the grants in pages. The API lists all of them at once.
func listGrants(v *visit) (view, error) {
	p := grantsPage{
		Search: strings.TrimSpace(v.FormValue("search")), Type: v.FormValue("type"), IncludeRevoked: v.FormValue("revoked") != "",
		Types: []string{vocab.SubjectUser, vocab.SubjectGroup, vocab.SubjectServiceAccount},
	}
	all, err := call(v, api.ListAuthorizations, &api.ListAuthorizationsRequest{SubjectType: p.Type, IncludeRevoked: p.IncludeRevoked})
	if err != nil {
		return view{}, err
	}
	subjects := subjectNames(v)
	matching := slices.DeleteFunc(*all, func(g api.Authorization) bool {
		return p.Search != "" && !strings.Contains(strings.ToLower(g.SubjectID+" "+subjects[g.SubjectID]+" "+g.GrantKind+" "+value(g.CapabilityKey)), strings.ToLower(p.Search))
	})
	paged := v.page(rowsPerPage)
	first := min((paged.Page-1)*paged.PageSize, len(matching))
	items := matching[first:min(first+paged.PageSize, len(matching))]
	p.Rows = grantRows(namesFor(v), items)
	for i, g := range p.Rows {
		p.Rows[i].Subject = cmp.Or(subjects[g.SubjectID], g.SubjectID)
	}
	p.Pager = pagerOf(v, api.Page[api.Authorization]{Items: items, Page: paged.Page, PageSize: paged.PageSize, Total: len(matching)})
	return view{Template: "grants.html", Title: "Grants", Data: p}, nil
}

// subjectNames returns the names of subjects of grants by id: service accounts, as far as
// the visitor may see them, and the owner that every account comes with.
func subjectNames(v *visit) map[string]string {
	names := map[string]string{api.DerivedID(v.session.AccountID, "user:owner"): "Owner (built in)"}
	for a, err := range apiclient.All(v.Context(), v.api, api.ListServiceAccounts, &api.ListRequest{}) {
		if err != nil {
			break
		}
		names[a.ID] = a.Name
	}
	return names
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
	g := grantRows(namesFor(v), (*all)[i:i+1])[0]
	g.Subject = cmp.Or(subjectNames(v)[g.SubjectID], g.SubjectID)
	return view{Template: "grant-revoke.html", Title: "Revoke this grant?", Up: link{"/grants", "Grants"}, Data: g}, nil
}

func revokeGrant(v *visit) (view, error) {
	if _, err := call(v, api.RevokeAuthorization, &api.AuthorizationRequest{AuthorizationID: v.PathValue("id")}); err != nil {
		return view{}, err
	}
	return view{RedirectTo: "/grants" + queryOf("done", "grant-revoked")}, nil
}
