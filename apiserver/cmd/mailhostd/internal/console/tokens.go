package console

import (
	"cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

type tokenRow struct {
	api.ServiceAccount
	// State is active, expired or revoked.
	State string
	// Own reports whether the visitor signed in with this token.
	Own bool
}

func (v *visit) tokenRow(a api.ServiceAccount) tokenRow {
	return tokenRow{a, apiclient.TokenState(a, v.clock()), a.ID == v.session.ServiceAccountID}
}

func listTokens(v *visit) (view, error) {
	list, err := call(v, api.ListServiceAccounts, &api.ListRequest{Paged: v.page(rowsPerPage)})
	return listView(v, "tokens.html", "Tokens", list, err, v.tokenRow)
}

type tokenPage struct {
	Token  tokenRow
	Grants part[[]grantRow]
	// PlanOnly reports whether the grants permit only plans.
	PlanOnly bool
}

// showToken shows a token. The default title is the token's name.
func showToken(template, title string) page {
	return func(v *visit) (view, error) {
		p, err := readToken(v)
		return view{Template: template, Title: cmp.Or(title, p.Token.Name), Up: link{"/tokens", "Tokens"}, Data: p}, err
	}
}

func readToken(v *visit) (p tokenPage, err error) {
	a, err := call(v, api.GetServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: v.PathValue("id")})
	if err != nil {
		return p, err
	}
	p.Token = v.tokenRow(*a)
	grants, err := call(v, api.ListAuthorizations, &api.ListAuthorizationsRequest{SubjectType: vocab.SubjectServiceAccount, SubjectID: a.ID})
	var rows []grantRow
	if err == nil {
		for _, g := range *grants {
			rows = append(rows, v.grantRow(apiclient.GrantRow{Authorization: g}))
		}
		p.PlanOnly = apiclient.IsPlanOnly(*grants)
	}
	p.Grants = partOf(rows, err)
	return p, nil
}

func revokeToken(v *visit) (view, error) {
	_, err := call(v, api.RevokeServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: v.PathValue("id")})
	return view{RedirectTo: "/tokens" + queryOf("done", "token-revoked")}, err
}
