package auth

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// AccessOf returns where the user of an access token may sign in, or a 401.
func (a *Authenticator) AccessOf(ctx context.Context, accessToken string) (identity.UserAccess, error) {
	user, err := a.accessTokenUser(ctx, accessToken)
	if err != nil {
		return identity.UserAccess{}, err
	}
	access := identity.UserAccess{ID: user.Subjects[0].ID}
	err = a.store.View(ctx, func(r store.Reader) error {
		accounts, err := r.Accounts()
		if err != nil {
			return err
		}
		for _, account := range accounts {
			who, err := user.enter(account.ID, api.Spec{})
			if err != nil { // it names itself like the built-in owner
				continue
			}
			grants, err := r.GrantsOf(account.ID, who.Subjects)
			if err != nil {
				return err
			}
			if len(grants) > 0 {
				access.Accounts = append(access.Accounts, account.ID)
			}
		}
		return nil
	})
	return access, err
}

// accessTokenUser is user for a token that a person presents by other means than a header.
func (a *Authenticator) accessTokenUser(ctx context.Context, accessToken string) (Caller, error) {
	if a.verifier == nil {
		return Caller{}, invalidToken(api.TypeInvalidToken, "no access tokens are accepted here")
	}
	return a.user(ctx, accessToken)
}

func (a *Authenticator) enterAsUser(ctx context.Context, accessToken, accountID string) (Caller, error) {
	who, err := a.accessTokenUser(ctx, accessToken)
	if err != nil {
		return Caller{}, err
	}
	if who, err = a.Enter(ctx, who, accountID, api.Spec{}); err != nil {
		return Caller{}, err
	}
	return a.Verify(ctx, who, api.Spec{})
}
