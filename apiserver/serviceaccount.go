package apiserver

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func createServiceAccount(c *call, in *api.CreateServiceAccountRequest) (*api.CreatedServiceAccount, error) {
	token := c.newServiceToken()
	account := newServiceAccount(c.newID(), c.caller.accountID, in.Body.Name, token, c.at)
	account.CreatedByUserID = c.caller.userID
	if p := in.Timely(c.at); p != nil {
		return nil, api.Unprocessable(p)
	}
	if in.Body.ExpiresAt != nil {
		var err error
		if account.ExpiresAt, err = api.ParseTime(*in.Body.ExpiresAt); err != nil {
			return nil, err
		}
	}
	grantIDs := make([]string, len(c.caller.grants))
	for i := range grantIDs {
		grantIDs[i] = c.newID()
	}
	return transact(c, func(tx store.Tx) (*api.CreatedServiceAccount, error) {
		created := account
		if err := tx.CreateServiceAccount(&created); err != nil {
			return nil, err
		}
		// It inherits what its creator may do, never more.
		for i, g := range c.caller.grants {
			g.ID, g.SubjectType, g.SubjectID, g.CreatedAt = grantIDs[i], api.SubjectServiceAccount, created.ID, c.at
			if err := tx.CreateAuthorization(&g); err != nil {
				return nil, err
			}
		}
		return &api.CreatedServiceAccount{ServiceAccount: serviceAccount(created), Token: token.String()}, nil
	})
}

func newServiceAccount(id, accountID, name string, token serviceToken, at time.Time) store.ServiceAccount {
	text := token.String()
	return store.ServiceAccount{
		ID: id, AccountID: accountID, Name: name, PublicID: token.publicID, SecretHash: token.hash(),
		Last4: text[len(text)-4:], CreatedAt: at,
	}
}

func listServiceAccounts(c *call, in *api.ListServiceAccountsRequest) (*api.Page[api.ServiceAccount], error) {
	return listPage(c, in.Paged, func(r store.Reader, s store.Slice) ([]store.ServiceAccount, int, error) {
		return r.ServiceAccounts(c.caller.accountID, s)
	}, serviceAccount)
}

func getServiceAccount(c *call, in *api.ServiceAccountRequest) (*api.ServiceAccount, error) {
	return view(c, func(r store.Reader) (*api.ServiceAccount, error) {
		a, err := r.ServiceAccount(c.caller.accountID, in.ServiceAccountID)
		return new(serviceAccount(a)), statusOf(err, "service_account_id", "service account")
	})
}

func revokeServiceAccount(c *call, in *api.ServiceAccountRequest) (*api.NoContent, error) {
	return transact(c, func(tx store.Tx) (*api.NoContent, error) {
		err := tx.RevokeServiceAccount(c.caller.accountID, in.ServiceAccountID, c.caller.userID, c.at)
		return &api.NoContent{}, statusOf(err, "service_account_id", "service account")
	})
}

func serviceAccount(a store.ServiceAccount) api.ServiceAccount {
	return api.ServiceAccount{
		ID: a.ID, AccountID: a.AccountID, Name: a.Name, TokenLast4: a.Last4, TokenPrefix: api.TokenPrefix, TokenPublicID: a.PublicID,
		CreatedAt: timestamp(a.CreatedAt), UpdatedAt: timestamp(a.UpdatedAt), CreatedByUserID: optional(a.CreatedByUserID),
		ExpiresAt: optionalTimestamp(a.ExpiresAt), LastUsedAt: optionalTimestamp(a.LastUsedAt),
		RevokedAt: optionalTimestamp(a.RevokedAt), RevokedByUserID: optional(a.RevokedByUserID),
	}
}
