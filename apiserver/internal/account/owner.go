package account

import (
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// requireOwner returns a conflict if a revocation has left the account without an owner
// who can act, see canAct. what names the revoked object.
func (c *Call) requireOwner(r store.Reader, what string) error {
	// Usually the caller is still an owner, and the account may have thousands of
	// revoked ones.
	own, err := r.GrantsOf(c.caller.AccountID, c.caller.Subjects)
	if err != nil {
		return err
	}
	own = slices.DeleteFunc(own, func(g store.Authorization) bool { return g.GrantKind != vocab.GrantAccountOwner })
	if ok, err := c.anyCanAct(r, own); ok || err != nil {
		return err
	}
	owners, err := r.Authorizations(c.caller.AccountID, store.AuthorizationFilter{GrantKind: vocab.GrantAccountOwner})
	if err != nil {
		return err
	}
	if ok, err := c.anyCanAct(r, owners); ok || err != nil {
		return err
	}
	return api.Conflict("revoking %s would leave the account without an owner who can act; grant account_owner to another service account first", what)
}

func (c *Call) anyCanAct(r store.Reader, grants []store.Authorization) (bool, error) {
	for _, g := range grants {
		if ok, err := c.canAct(r, g); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// canAct reports whether the subject of a grant has a way in: a service account
// with a working token, or a user or group where access tokens are accepted. The
// built-in owner has no credential, so it counts only for the OwnerClient that acts
// for it.
func (c *Call) canAct(r store.Reader, g store.Authorization) (bool, error) {
	if g.SubjectType == vocab.SubjectServiceAccount {
		a, err := r.ServiceAccount(g.AccountID, g.SubjectID)
		return err == nil && auth.CheckServiceAccount(a, c.rules.now()) == nil, err
	}
	if g.SubjectType == vocab.SubjectUser && g.SubjectID == auth.OwnerSubject(g.AccountID).ID {
		return c.caller.IsBuiltInOwner(), nil
	}
	return c.rules.auth.AcceptsAccessTokens(), nil
}
