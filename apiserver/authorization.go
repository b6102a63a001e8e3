package apiserver

import (
	"errors"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func listAuthorizations(c *call, in *api.ListAuthorizationsRequest) (*[]api.Authorization, error) {
	return view(c, func(r store.Reader) (*[]api.Authorization, error) {
		grants, err := r.Authorizations(c.caller.accountID, store.AuthorizationFilter{
			SubjectType: in.SubjectType, SubjectID: in.SubjectID, GrantKind: in.GrantKind, CapabilityKey: in.CapabilityKey,
			IncludeRevoked: in.IncludeRevoked,
		})
		out := make([]api.Authorization, len(grants))
		for i, g := range grants {
			out[i] = authorization(g)
		}
		return &out, err
	})
}

func grantAuthorization(c *call, in *api.GrantAuthorizationRequest) (*api.Authorization, error) {
	b := in.Body
	if !c.mayGrant(b) {
		granted := b.GrantKind
		if b.CapabilityKey != nil {
			granted = *b.CapabilityKey
		}
		return nil, api.NewError(http.StatusForbidden, api.TypePermissionDenied, "the credential can't grant %s, which it does not have itself to that extent", granted).At("header", "Authorization")
	}
	if b.SubjectType == api.SubjectServiceAccount {
		b.SubjectID = canonicalID(b.SubjectID)
	}
	g := store.Authorization{
		ID: c.newID(), AccountID: c.caller.accountID, GrantKind: b.GrantKind, SubjectType: b.SubjectType, SubjectID: b.SubjectID,
		CapabilityKey: value(b.CapabilityKey), ResourceType: value(b.ResourceType), ResourceID: value(b.ResourceID), CreatedAt: c.at,
	}
	return transact(c, func(tx store.Tx) (*api.Authorization, error) {
		if err := c.checkGrant(tx, g); err != nil {
			return nil, err
		}
		if err := c.refuseSameGrant(tx, g); err != nil {
			return nil, err
		}
		created := g
		if err := tx.CreateAuthorization(&created); err != nil {
			return nil, err
		}
		return new(authorization(created)), nil
	})
}

// mayGrant keeps a caller from granting more than they have.
func (c *call) mayGrant(b api.GrantAuthorizationBody) bool {
	for _, g := range c.caller.grants {
		if g.GrantKind == api.GrantSuperAdmin || g.GrantKind == api.GrantAccountOwner && b.GrantKind != api.GrantSuperAdmin {
			return true
		}
		if g.GrantKind != api.GrantCapability || b.GrantKind != api.GrantCapability || g.CapabilityKey != value(b.CapabilityKey) {
			continue
		}
		if g.ResourceType == "" || g.ResourceType == value(b.ResourceType) && g.ResourceID == value(b.ResourceID) {
			return true
		}
	}
	return false
}

// checkGrant makes sure that what a grant names exists.
func (c *call) checkGrant(r store.Reader, g store.Authorization) error {
	var problems []*api.Problem
	if g.SubjectType == api.SubjectServiceAccount {
		switch _, err := r.ServiceAccount(g.AccountID, g.SubjectID); {
		case errors.Is(err, store.ErrNotFound):
			problems = append(problems, api.Invalid("the account has no service account %.255q", g.SubjectID).InBody("subject_id"))
		case err != nil:
			return err
		}
	}
	var err error
	switch g.ResourceType {
	case api.ResourceWorkspace:
		_, err = r.Workspace(g.AccountID, g.ResourceID)
	case api.ResourceDomain:
		_, err = r.Domain(g.AccountID, g.ResourceID)
	}
	if errors.Is(err, store.ErrNotFound) {
		problems, err = append(problems, api.Invalid("the account has no %s %s", g.ResourceType, g.ResourceID).InBody("resource_id")), nil
	}
	if err == nil && problems != nil {
		return api.Unprocessable(problems...)
	}
	return err
}

// refuseSameGrant keeps a grant from being made twice: revoking one would change
// nothing.
func (c *call) refuseSameGrant(r store.Reader, g store.Authorization) error {
	granted, err := r.Authorizations(g.AccountID, store.AuthorizationFilter{
		SubjectType: g.SubjectType, SubjectID: g.SubjectID, GrantKind: g.GrantKind, CapabilityKey: g.CapabilityKey,
	})
	for _, have := range granted {
		if have.ResourceType == g.ResourceType && have.ResourceID == g.ResourceID {
			return api.Conflict("the %s %s has this grant already%s", g.SubjectType, g.SubjectID,
				c.naming(r, api.CapAuthorizationView, store.Scope{Type: api.ScopeAccount, ID: g.AccountID}, ": ", have.ID))
		}
	}
	return err
}

func revokeAuthorization(c *call, in *api.AuthorizationRequest) (*api.NoContent, error) {
	return transact(c, func(tx store.Tx) (*api.NoContent, error) {
		g, err := tx.Authorization(c.caller.accountID, in.AuthorizationID)
		if err != nil {
			return nil, statusOf(err, "authorization_id", "authorization")
		}
		// Whoever may not make an owner may not unmake one.
		if g.GrantKind != api.GrantCapability && !c.mayGrant(api.GrantAuthorizationBody{GrantKind: g.GrantKind}) {
			return nil, api.NewError(http.StatusForbidden, api.TypePermissionDenied, "the credential can't revoke %s, which it does not have itself", g.GrantKind).At("header", "Authorization")
		}
		err = tx.RevokeAuthorization(c.caller.accountID, in.AuthorizationID, c.at)
		return &api.NoContent{}, statusOf(err, "authorization_id", "authorization")
	})
}

func authorization(g store.Authorization) api.Authorization {
	return api.Authorization{
		ID: g.ID, GrantKind: g.GrantKind, SubjectType: g.SubjectType, SubjectID: g.SubjectID,
		CapabilityKey: optional(g.CapabilityKey), ResourceType: optional(g.ResourceType), ResourceID: optional(g.ResourceID),
		CreatedAt: optionalTimestamp(g.CreatedAt), RevokedAt: optionalTimestamp(g.RevokedAt),
	}
}
