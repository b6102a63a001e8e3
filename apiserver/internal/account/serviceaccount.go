package account

import (
	"fmt"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// serviceAccountOperations binds the operations on service accounts to their rules.
var serviceAccountOperations = []Operation{
	change(api.CreateServiceAccount, createServiceAccount),
	read(api.ListServiceAccounts, listServiceAccounts),
	read(api.GetServiceAccount, getServiceAccount),
	remove(api.RevokeServiceAccount, revokeServiceAccount),
}

// createServiceAccount creates a service account that inherits its creator's grants, never more.
func createServiceAccount(c *Call, tx store.Tx, in *api.CreateServiceAccountRequest) (*api.CreatedServiceAccount, error) {
	token := auth.NewToken(c.Rules.Random)
	a := auth.NewServiceAccount(token, c.Rules.Random.ID(), c.Caller.AccountID, in.Body.Name, c.Arrival)
	a.CreatedByUserID = c.Caller.UserID
	var err error
	if a.ExpiresAt, err = timeInBody(in.Body.ExpiresAt, time.Time{}, in.Body.Timely(c.Arrival)); err != nil {
		return nil, err
	}
	if err := c.limitExpiry(&a); err != nil {
		return nil, err
	}
	if err := tx.Create(&a); err != nil {
		return nil, err
	}
	for _, g := range c.Caller.Grants {
		g.ID, g.SubjectType, g.SubjectID, g.CreatedAt = c.Rules.Random.ID(), vocab.SubjectServiceAccount, a.ID, c.Arrival
		if err := tx.Create(&g); err != nil {
			return nil, err
		}
	}
	return &api.CreatedServiceAccount{ServiceAccount: c.Rules.serviceAccount(a), Token: token.String()}, nil
}

// limitExpiry keeps a service account from outliving its creator; the default is the creator's
// expiry. A user of the OAuth issuer sets no limit: only the access token expires.
func (c *Call) limitExpiry(a *store.ServiceAccount) error {
	latest := c.Caller.ExpiresAt
	if !c.Caller.IsServiceAccount() || latest.IsZero() {
		return nil
	}
	if a.ExpiresAt.IsZero() {
		a.ExpiresAt = latest
	}
	if a.ExpiresAt.After(latest) {
		return api.Unprocessable(api.Invalid("must not be later than %s, when the service account that creates this one expires", timestamp(latest)).InBody("expires_at"))
	}
	return nil
}

func listServiceAccounts(c *Call, r store.Reader, in *api.ListRequest) (*api.Page[api.ServiceAccount], error) {
	return page(c, in.Paged, c.Rules.serviceAccount, unfiltered(r.ServiceAccounts), struct{}{})
}

func getServiceAccount(c *Call, r store.Reader, in *api.ServiceAccountRequest) (*api.ServiceAccount, error) {
	a, err := store.Get[store.ServiceAccount](r, c.Caller.AccountID, in.ServiceAccountID)
	return new(c.Rules.serviceAccount(a)), err
}

// revokeServiceAccount revokes a service account. The caller must be able to make all of its
// grants.
func revokeServiceAccount(c *Call, tx store.Tx, in *api.ServiceAccountRequest) error {
	a, err := store.Get[store.ServiceAccount](tx, c.Caller.AccountID, in.ServiceAccountID)
	if err != nil {
		return err
	}
	grants, err := tx.GrantsOf(a.AccountID, []store.Subject{{Type: vocab.SubjectServiceAccount, ID: a.ID}})
	if err != nil {
		return err
	}
	owner := false
	for _, g := range grants {
		if err := c.requireGrant("revoke a service account that has", g); err != nil {
			return err
		}
		owner = owner || g.GrantKind != vocab.GrantCapability
	}
	if !a.RevokedAt.IsZero() {
		return nil
	}
	if _, err := store.Update(tx, a.AccountID, a.ID, func(a *store.ServiceAccount) error {
		a.RevokedAt, a.RevokedByUserID, a.UpdatedAt = c.Arrival, c.Caller.UserID, c.Arrival
		return nil
	}); err != nil || !owner {
		return err
	}
	return c.requireOwner(tx, fmt.Sprintf("the service account %q (%s)", a.Name, a.ID))
}

func (rules *Rules) serviceAccount(a store.ServiceAccount) api.ServiceAccount {
	return api.ServiceAccount{
		ID: a.ID, AccountID: a.AccountID, Name: a.Name, TokenLast4: a.Last4, TokenPrefix: api.TokenPrefix, TokenPublicID: a.PublicID,
		CreatedAt: timestamp(a.CreatedAt), UpdatedAt: timestamp(a.UpdatedAt), CreatedByUserID: optional(a.CreatedByUserID),
		ExpiresAt: optionalTimestamp(a.ExpiresAt), LastUsedAt: optionalTimestamp(rules.Auth.LastUses.Of(a)),
		RevokedAt: optionalTimestamp(a.RevokedAt), RevokedByUserID: optional(a.RevokedByUserID),
	}
}
