package client

import (
	"context"
	"iter"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// ListServiceAccounts returns all service accounts, including revoked ones.
func (c *Client) ListServiceAccounts(ctx context.Context) iter.Seq2[api.ServiceAccount, error] {
	return list(ctx, c, api.ListServiceAccounts, api.ListRequest{}, serviceAccountKeys.ID)
}

// FindServiceAccount looks a service account up by its name. It ignores revoked ones.
func (c *Client) FindServiceAccount(ctx context.Context, name string) (*api.ServiceAccount, error) {
	found, err := c.findServiceAccounts(ctx, name)
	return c.ServiceAccounts.one(name, found, err)
}

func (c *Client) findServiceAccounts(ctx context.Context, name string) ([]api.ServiceAccount, error) {
	return filter(c.ListServiceAccounts(ctx), func(a *api.ServiceAccount) bool {
		return a.Name == name && a.RevokedAt == nil
	})
}

// CreateServiceAccount creates a service account. If the response with its token was lost,
// the error is a *SecretLostError, and the service account is returned too if this call
// certainly created it. If the API can't list them, the error is an *UnknownOutcomeError.
func (c *Client) CreateServiceAccount(ctx context.Context, body api.CreateServiceAccountBody) (*api.CreatedServiceAccount, error) {
	a, _, err := create(ctx, c, api.CreateServiceAccount, &api.CreateServiceAccountRequest{Body: body}, createSpec[api.CreatedServiceAccount]{
		object:    body.Name,
		id:        func(a *api.CreatedServiceAccount) string { return a.ID },
		hasSecret: func(a *api.CreatedServiceAccount) bool { return a.Token != "" },
		createdAt: func(a *api.CreatedServiceAccount) string { return a.CreatedAt },
		facts:     facts{secret: true},
		find: func(ctx context.Context) (withoutToken []api.CreatedServiceAccount, err error) {
			found, err := c.findServiceAccounts(ctx, body.Name)
			for _, a := range found {
				withoutToken = append(withoutToken, api.CreatedServiceAccount{ServiceAccount: a})
			}
			return withoutToken, err
		},
		invalidate: c.ServiceAccounts.cache.Invalidate,
		effect:     "the service account may have been created, with a token that nobody knows",
		check:      "Check the account's service accounts and revoke what is too much before trying again.",
	})
	return a, err
}
