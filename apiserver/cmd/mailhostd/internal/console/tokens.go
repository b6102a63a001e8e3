package console

import (
	"slices"

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
	// Children are set on the page that confirms the revocation.
	Children part[[]childRow]
}

// childRow is what a subject has created and goes on working without it.
type childRow struct {
	apiclient.Child
	Grant grantRow
}

// children returns what descends from a subject.
func (v *visit) children(s apiclient.Subject) part[[]childRow] {
	children, err := apiclient.Children(v.Context(), v.api, s)
	var rows []childRow
	for _, child := range children {
		row := childRow{Child: child}
		if child.IsGrant() {
			row.Grant = v.grantRow(apiclient.GrantRow{Authorization: child.Grant})
		}
		rows = append(rows, row)
	}
	return partOf(rows, err)
}

// revokeChildren revokes what descends from a subject, if the visitor has chosen that.
func (v *visit) revokeChildren(s apiclient.Subject) error {
	if v.PostFormValue("children") == "" {
		return nil
	}
	_, err := apiclient.RevokeChildren(v.Context(), v.api, v.session.ServiceAccountID, s)
	return err
}

// confirmTokenRevocation shows a token with what it has created.
func confirmTokenRevocation(v *visit) (view, error) {
	p, err := readToken(v)
	if err != nil {
		return view{}, err
	}
	p.Children = v.children(apiclient.Subject{Type: vocab.SubjectServiceAccount, ID: p.Token.ID})
	return view{Template: "token-revoke.html", Title: "Revoke this token?", Up: link{"/tokens", "Tokens"}, Data: p}, nil
}

func showToken(v *visit) (view, error) {
	p, err := readToken(v)
	return view{Template: "token.html", Title: p.Token.Name, Up: link{"/tokens", "Tokens"}, Data: p}, err
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

// revokeToken revokes a token first, so that it creates nothing further, except for the visitor's own.
func revokeToken(v *visit) (view, error) {
	id := v.PathValue("id")
	steps := []func() error{
		func() error {
			_, err := call(v, api.RevokeServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: id})
			return err
		},
		func() error { return v.revokeChildren(apiclient.Subject{Type: vocab.SubjectServiceAccount, ID: id}) },
	}
	if id == v.session.ServiceAccountID {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return view{}, err
		}
	}
	return view{RedirectTo: "/tokens" + queryOf("done", "token-revoked")}, nil
}
