package client

import (
	"context"
	"iter"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

var serviceAccountKind = kind[api.ServiceAccount]{
	noun: "service account",
	id:   func(a *api.ServiceAccount) string { return a.ID },
	fold: foldID,
}

// CreatedServiceAccount is a new service account with its token.
type CreatedServiceAccount struct {
	api.CreatedServiceAccount
	// Leftovers are the ids of service accounts that an earlier attempt of the
	// same call has probably created besides; their token is lost.
	Leftovers []string
}

// ListServiceAccounts returns all service accounts, the revoked ones too.
func (c *Client) ListServiceAccounts(ctx context.Context) iter.Seq2[api.ServiceAccount, error] {
	return sweep(ctx, c, api.ListServiceAccounts, api.ListServiceAccountsRequest{}, serviceAccountKind.id)
}

// GetServiceAccount reads a service account. An API without lifecycle operations
// can't: ErrReadUnsupported.
func (c *Client) GetServiceAccount(ctx context.Context, id string) (*api.ServiceAccount, error) {
	return read(ctx, c, api.GetServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: id}, c.serviceAccounts, id)
}

// FindServiceAccount looks a service account that is not revoked up by its name.
func (c *Client) FindServiceAccount(ctx context.Context, name string) (*api.ServiceAccount, error) {
	found, err := c.serviceAccountsNamed(ctx, name)
	return only(serviceAccountKind, name, found, err)
}

func (c *Client) serviceAccountsNamed(ctx context.Context, name string) ([]api.ServiceAccount, error) {
	return matching(c.ListServiceAccounts(ctx), func(a *api.ServiceAccount) bool {
		return a.Name == name && a.RevokedAt == nil
	})
}

// CreateServiceAccount creates a service account. Where the only answer that
// told its token was lost, the error is a *SecretLostError, or an
// *UnknownOutcomeError from an API that has no list of them.
func (c *Client) CreateServiceAccount(ctx context.Context, body api.CreateServiceAccountBody) (*CreatedServiceAccount, error) {
	cr := &creation[api.CreatedServiceAccount]{
		object: body.Name,
		id: func(a *api.CreatedServiceAccount) string {
			return a.ID
		},
		secretAt: func(a *api.CreatedServiceAccount) string { return a.CreatedAt },
		find: func(ctx context.Context) ([]api.CreatedServiceAccount, error) {
			found, err := c.serviceAccountsNamed(ctx, body.Name)
			created := make([]api.CreatedServiceAccount, len(found))
			for i := range found {
				created[i].ServiceAccount = found[i]
			}
			return created, err
		},
		forget: c.serviceAccounts.invalidate,
		may:    "the service account may have been created, with a token that nobody knows",
		check:  "Check the account's service accounts and revoke what is too much before trying again.",
	}
	a, err := create(ctx, c, api.CreateServiceAccount, &api.CreateServiceAccountRequest{Body: body}, cr)
	if err != nil {
		return nil, err
	}
	c.serviceAccounts.upsert(a.ServiceAccount)
	return &CreatedServiceAccount{CreatedServiceAccount: *a, Leftovers: cr.leftovers}, nil
}

// RevokeServiceAccount makes a service account's token stop working.
func (c *Client) RevokeServiceAccount(ctx context.Context, id string) error {
	err := remove(ctx, c, api.RevokeServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: id}, c.serviceAccounts, id)
	if err == nil {
		c.serviceAccounts.touch(id) // it is still there, as a revoked one
	}
	return err
}

// RevokesServiceAccounts reports whether this API is taken to have an operation that revokes
// service accounts; it may read one to find out.
func (c *Client) RevokesServiceAccounts(ctx context.Context, id string) bool {
	return c.offers(ctx, api.RevokeServiceAccount.Spec, api.GetServiceAccount.Spec, func() error {
		_, err := c.GetServiceAccount(ctx, id)
		return err
	})
}
