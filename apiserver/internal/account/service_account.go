package account

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// CreateServiceAccount implements api.CreateServiceAccount.
func CreateServiceAccount(c *Call, in *api.CreateServiceAccountRequest) (*api.CreatedServiceAccount, error) {
	token := auth.NewToken(c.rules.random)
	account := newServiceAccount(c.rules.random.ID(), c.caller.AccountID, in.Body.Name, token, c.at)
	account.CreatedByUserID = c.caller.UserID
	if p := in.Timely(c.at); p != nil {
		return nil, api.Unprocessable(p)
	}
	if in.Body.ExpiresAt != nil {
		var err error
		if account.ExpiresAt, err = api.ParseTime(*in.Body.ExpiresAt); err != nil {
			return nil, err
		}
	}
	return transact(c, func(tx store.Tx) (*api.CreatedServiceAccount, error) {
		created := account
		if err := c.limitExpiry(&created); err != nil {
			return nil, err
		}
		if err := tx.CreateServiceAccount(&created); err != nil {
			return nil, err
		}
		// It inherits its creator's grants, never more.
		for _, g := range c.caller.Grants {
			g.ID, g.SubjectType, g.SubjectID, g.CreatedAt = c.rules.random.ID(), vocab.SubjectServiceAccount, created.ID, c.at
			if err := tx.CreateAuthorization(&g); err != nil {
				return nil, err
			}
		}
		return &api.CreatedServiceAccount{ServiceAccount: c.rules.serviceAccount(created), Token: token.String()}, nil
	})
}

// limitExpiry keeps a service account from outliving the one that creates it: it
// expires at the same time by default, and a later time is refused. A user of the
// OAuth issuer sets no limit, because the access token expires and not the user.
func (c *Call) limitExpiry(a *store.ServiceAccount) error {
	latest := c.caller.ExpiresAt
	if !c.caller.IsServiceAccount() || latest.IsZero() {
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

func newServiceAccount(id, accountID, name string, token auth.Token, at time.Time) store.ServiceAccount {
	text := token.String()
	return store.ServiceAccount{
		ID: id, AccountID: accountID, Name: name, PublicID: token.PublicID, SecretHash: token.Hash(),
		Last4: text[len(text)-4:], CreatedAt: at,
	}
}

// ListServiceAccounts implements api.ListServiceAccounts.
func ListServiceAccounts(c *Call, in *api.ListServiceAccountsRequest) (*api.Page[api.ServiceAccount], error) {
	return listPage(c, in.Paged, func(r store.Reader, s store.Slice) ([]store.ServiceAccount, int, error) {
		return r.ServiceAccounts(c.caller.AccountID, s)
	}, c.rules.serviceAccount)
}

// GetServiceAccount implements api.GetServiceAccount.
func GetServiceAccount(c *Call, in *api.ServiceAccountRequest) (*api.ServiceAccount, error) {
	return view(c, func(r store.Reader) (*api.ServiceAccount, error) {
		a, err := r.ServiceAccount(c.caller.AccountID, in.ServiceAccountID)
		return new(c.rules.serviceAccount(a)), statusOf(err, "service_account_id", "service account")
	})
}

// RevokeServiceAccount implements api.RevokeServiceAccount.
func RevokeServiceAccount(c *Call, in *api.ServiceAccountRequest) (*api.NoContent, error) {
	return transact(c, func(tx store.Tx) (*api.NoContent, error) {
		a, err := tx.ServiceAccount(c.caller.AccountID, in.ServiceAccountID)
		if err != nil {
			return nil, statusOf(err, "service_account_id", "service account")
		}
		grants, err := tx.GrantsOf(a.AccountID, []store.Subject{{Type: vocab.SubjectServiceAccount, ID: a.ID}})
		if err != nil {
			return nil, err
		}
		owner := false
		for _, g := range grants {
			if !c.caller.MayGrant(g) {
				return nil, api.NewError(http.StatusForbidden, api.TypePermissionDenied, "the credential can't revoke a service account that has %s, which it does not have itself to that extent",
					cmp.Or(g.CapabilityKey, g.GrantKind)).At("header", "Authorization")
			}
			owner = owner || g.GrantKind != vocab.GrantCapability
		}
		if !a.RevokedAt.IsZero() {
			return &api.NoContent{}, nil
		}
		if _, err := tx.UpdateServiceAccount(a.AccountID, a.ID, func(a *store.ServiceAccount) error {
			a.RevokedAt, a.RevokedByUserID, a.UpdatedAt = c.at, c.caller.UserID, c.at
			return nil
		}); err != nil || !owner {
			return &api.NoContent{}, err
		}
		return &api.NoContent{}, c.requireOwner(tx, fmt.Sprintf("the service account %q (%s)", a.Name, a.ID))
	})
}

func (rules *Rules) serviceAccount(a store.ServiceAccount) api.ServiceAccount {
	return api.ServiceAccount{
		ID: a.ID, AccountID: a.AccountID, Name: a.Name, TokenLast4: a.Last4, TokenPrefix: api.TokenPrefix, TokenPublicID: a.PublicID,
		CreatedAt: timestamp(a.CreatedAt), UpdatedAt: timestamp(a.UpdatedAt), CreatedByUserID: optional(a.CreatedByUserID),
		ExpiresAt: optionalTimestamp(a.ExpiresAt), LastUsedAt: optionalTimestamp(rules.lastUses.Of(a)),
		RevokedAt: optionalTimestamp(a.RevokedAt), RevokedByUserID: optional(a.RevokedByUserID),
	}
}
