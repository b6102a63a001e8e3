package client

import (
	"context"
	"iter"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// ListMasterPasswords returns the master passwords that match the request's filters.
func (c *Client) ListMasterPasswords(ctx context.Context, req api.ListMasterPasswordsRequest) iter.Seq2[api.MasterPassword, error] {
	return list(ctx, c, api.ListMasterPasswords, req, masterPasswordKeys.ID)
}

// FindMasterPassword looks a master password up by its scope and name. The case of the name matters
// only if several match.
func (c *Client) FindMasterPassword(ctx context.Context, name string, scope Scope) (*api.MasterPassword, error) {
	found, err := c.findMasterPasswords(ctx, name, scope)
	if slices.ContainsFunc(found, func(p api.MasterPassword) bool { return p.Name == name }) {
		found = slices.DeleteFunc(found, func(p api.MasterPassword) bool { return p.Name != name })
	}
	return c.MasterPasswords.one(name+" of "+scope.String(), found, err)
}

func (c *Client) findMasterPasswords(ctx context.Context, name string, scope Scope) ([]api.MasterPassword, error) {
	inScope, err := c.inScope(ctx, scope)
	if err != nil {
		return nil, err
	}
	passwords := c.ListMasterPasswords(ctx, api.ListMasterPasswordsRequest{
		Domain: scope.Domain, WorkspaceID: scope.WorkspaceID, ScopeType: scope.scopeType(), Search: name,
	})
	return filter(passwords, func(p *api.MasterPassword) bool {
		return text.Fold(p.Name) == text.Fold(name) && inScope(p.ScopeType, p.ScopeID)
	})
}

// CreateMasterPassword creates a master password. If the response with a generated secret was
// lost, the error is a *SecretLostError, and the master password is returned too if this call
// certainly created it.
func (c *Client) CreateMasterPassword(ctx context.Context, body api.CreateMasterPasswordBody) (*api.CreatedMasterPassword, error) {
	scope := newScope(body.Domain, body.WorkspaceID)
	p, _, err := create(ctx, c, api.CreateMasterPassword, &api.CreateMasterPasswordRequest{Body: body}, createSpec[api.CreatedMasterPassword]{
		object:    body.Name + " of " + scope.String(),
		redact:    []string{api.Value(body.Value)},
		id:        func(p *api.CreatedMasterPassword) string { return p.ID },
		hasSecret: func(p *api.CreatedMasterPassword) bool { return api.Value(p.GeneratedSecret) != "" },
		createdAt: func(p *api.CreatedMasterPassword) string { return p.CreatedAt },
		facts:     facts{secret: body.Generate},
		same:      func(p *api.CreatedMasterPassword) bool { return p.Name == body.Name },
		find: func(ctx context.Context) (withoutSecret []api.CreatedMasterPassword, err error) {
			found, err := c.findMasterPasswords(ctx, body.Name, scope)
			for _, p := range found {
				withoutSecret = append(withoutSecret, api.CreatedMasterPassword{MasterPassword: p})
			}
			return withoutSecret, err
		},
		invalidate: c.MasterPasswords.cache.Invalidate,
		check:      "Check the account's master passwords before trying again.",
	})
	return p, err
}

// RenameMasterPassword changes the name of a master password.
func (c *Client) RenameMasterPassword(ctx context.Context, id string, body api.RenameMasterPasswordBody) (*api.MasterPassword, error) {
	req := &api.RenameMasterPasswordRequest{CredentialID: id, Body: body}
	return update(ctx, c.MasterPasswords, api.RenameMasterPassword, req, id)
}
