package client

import (
	"context"
	"iter"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

var masterPasswordKind = kind[api.MasterPassword]{
	noun: "master password",
	id:   func(p *api.MasterPassword) string { return p.ID },
	fold: foldID,
}

// CreatedMasterPassword is a new master password.
type CreatedMasterPassword struct {
	api.CreatedMasterPassword
	// Leftovers are the ids of master passwords that an earlier attempt of the
	// same call has probably created besides; their secret is lost.
	Leftovers []string
}

// ListMasterPasswords returns the master passwords that match the request's
// filters.
func (c *Client) ListMasterPasswords(ctx context.Context, req api.ListMasterPasswordsRequest) iter.Seq2[api.MasterPassword, error] {
	return sweep(ctx, c, api.ListMasterPasswords, req, masterPasswordKind.id)
}

// GetMasterPassword reads a master password.
func (c *Client) GetMasterPassword(ctx context.Context, id string) (*api.MasterPassword, error) {
	return read(ctx, c, api.GetMasterPassword, &api.MasterPasswordRequest{CredentialID: id}, c.masterPasswords, id)
}

// FindMasterPassword looks a master password up by its name and scope.
func (c *Client) FindMasterPassword(ctx context.Context, name string, scope Scope) (*api.MasterPassword, error) {
	found, err := c.masterPasswordsNamed(ctx, name, scope)
	return only(masterPasswordKind, name+" of "+scope.String(), found, err)
}

func (c *Client) masterPasswordsNamed(ctx context.Context, name string, scope Scope) ([]api.MasterPassword, error) {
	inScope, err := c.inScope(ctx, scope)
	if err != nil {
		return nil, err
	}
	list := c.ListMasterPasswords(ctx, api.ListMasterPasswordsRequest{
		Domain: scope.Domain, WorkspaceID: scope.WorkspaceID, ScopeType: scope.kind(), Search: name,
	})
	return matching(list, func(p *api.MasterPassword) bool { return p.Name == name && inScope(p.ScopeType, p.ScopeID) })
}

// CreateMasterPassword creates a master password. Where its secret is generated
// and the only answer that told it was lost, the error is a *SecretLostError.
func (c *Client) CreateMasterPassword(ctx context.Context, body api.CreateMasterPasswordBody) (*CreatedMasterPassword, error) {
	scope := scopeFrom(body.Domain, body.WorkspaceID)
	cr := &creation[api.CreatedMasterPassword]{
		object: body.Name + " of " + scope.String(),
		hide:   []string{value(body.Value)},
		id:     func(p *api.CreatedMasterPassword) string { return p.ID },
		find: func(ctx context.Context) ([]api.CreatedMasterPassword, error) {
			found, err := c.masterPasswordsNamed(ctx, body.Name, scope)
			created := make([]api.CreatedMasterPassword, len(found))
			for i := range found {
				created[i].MasterPassword = found[i]
			}
			return created, err
		},
		forget: c.masterPasswords.invalidate,
		check:  "Check the account's master passwords before trying again.",
	}
	if body.Generate {
		cr.secretAt = func(p *api.CreatedMasterPassword) string { return p.CreatedAt }
	}
	p, err := create(ctx, c, api.CreateMasterPassword, &api.CreateMasterPasswordRequest{Body: body}, cr)
	if err != nil {
		return nil, err
	}
	c.masterPasswords.upsert(p.MasterPassword)
	return &CreatedMasterPassword{CreatedMasterPassword: *p, Leftovers: cr.leftovers}, nil
}

// RenameMasterPassword changes the name of a master password.
func (c *Client) RenameMasterPassword(ctx context.Context, id, name string) (*api.MasterPassword, error) {
	req := &api.RenameMasterPasswordRequest{CredentialID: id, Body: api.RenameMasterPasswordBody{Name: name}}
	return update(ctx, c, api.RenameMasterPassword, req, c.masterPasswords, id, c.GetMasterPassword)
}

// DeleteMasterPassword deletes a master password.
func (c *Client) DeleteMasterPassword(ctx context.Context, id string) error {
	return remove(ctx, c, api.DeleteMasterPassword, &api.MasterPasswordRequest{CredentialID: id}, c.masterPasswords, id)
}

// DeletesMasterPasswords reports whether this API is taken to have an operation that deletes
// master passwords; it may read one to find out.
func (c *Client) DeletesMasterPasswords(ctx context.Context, id string) bool {
	return c.offers(ctx, api.DeleteMasterPassword.Spec, api.GetMasterPassword.Spec, func() error {
		_, err := c.GetMasterPassword(ctx, id)
		return err
	})
}
