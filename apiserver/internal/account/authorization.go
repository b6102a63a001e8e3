package account

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// ListAuthorizations implements api.ListAuthorizations.
func ListAuthorizations(c *Call, in *api.ListAuthorizationsRequest) (*[]api.Authorization, error) {
	return view(c, func(r store.Reader) (*[]api.Authorization, error) {
		grants, err := r.Authorizations(c.caller.AccountID, store.AuthorizationFilter{
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

// GrantAuthorization implements api.GrantAuthorization.
func GrantAuthorization(c *Call, in *api.GrantAuthorizationRequest) (*api.Authorization, error) {
	b := in.Body
	if b.SubjectType == vocab.SubjectServiceAccount {
		b.SubjectID = api.CanonicalID(b.SubjectID)
	}
	g := store.Authorization{
		ID: c.rules.random.ID(), AccountID: c.caller.AccountID, GrantKind: b.GrantKind, SubjectType: b.SubjectType, SubjectID: b.SubjectID,
		CapabilityKey: value(b.CapabilityKey), ResourceType: value(b.ResourceType), ResourceID: value(b.ResourceID), CreatedAt: c.at,
	}
	return transact(c, func(tx store.Tx) (*api.Authorization, error) {
		if !c.caller.MayGrant(g) {
			return nil, api.NewError(http.StatusForbidden, api.TypePermissionDenied, "the credential can't grant %s, which it does not have itself to that extent",
				cmp.Or(g.CapabilityKey, g.GrantKind)).At("header", "Authorization")
		}
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

// checkGrant checks that the service account and the resource of a grant exist.
func (c *Call) checkGrant(r store.Reader, g store.Authorization) error {
	var problems []*api.Problem
	if g.SubjectType == vocab.SubjectServiceAccount {
		switch _, err := r.ServiceAccount(g.AccountID, g.SubjectID); {
		case errors.Is(err, store.ErrNotFound):
			problems = append(problems, api.Invalid("the account has no service account %.255q", g.SubjectID).InBody("subject_id"))
		case err != nil:
			return err
		}
	}
	var err error
	switch g.ResourceType {
	case vocab.ResourceWorkspace:
		_, err = r.Workspace(g.AccountID, g.ResourceID)
	case vocab.ResourceDomain:
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

// refuseSameGrant returns a conflict for a grant that exists already: revoking one of two
// would change nothing.
func (c *Call) refuseSameGrant(r store.Reader, g store.Authorization) error {
	granted, err := r.Authorizations(g.AccountID, store.AuthorizationFilter{
		SubjectType: g.SubjectType, SubjectID: g.SubjectID, GrantKind: g.GrantKind, CapabilityKey: g.CapabilityKey,
	})
	for _, have := range granted {
		if have.ResourceType == g.ResourceType && have.ResourceID == g.ResourceID {
			return api.Conflict("the %s %s has this grant already%s", g.SubjectType, g.SubjectID,
				c.naming(r, vocab.CapAuthorizationView, store.Scope{Type: vocab.ScopeAccount, ID: g.AccountID}, ": ", have.ID))
		}
	}
	return err
}

// RevokeAuthorization implements api.RevokeAuthorization.
func RevokeAuthorization(c *Call, in *api.AuthorizationRequest) (*api.NoContent, error) {
	return transact(c, func(tx store.Tx) (*api.NoContent, error) {
		g, err := tx.Authorization(c.caller.AccountID, in.AuthorizationID)
		if err != nil {
			return nil, statusOf(err, "authorization_id", "authorization")
		}
		// A caller that can't create an owner can't remove one.
		if g.GrantKind != vocab.GrantCapability && !c.caller.MayGrant(g) {
			return nil, api.NewError(http.StatusForbidden, api.TypePermissionDenied, "the credential can't revoke %s, which it does not have itself", g.GrantKind).At("header", "Authorization")
		}
		if !g.RevokedAt.IsZero() {
			return &api.NoContent{}, nil
		}
		if _, err := tx.UpdateAuthorization(g.AccountID, g.ID, func(g *store.Authorization) error {
			g.RevokedAt = c.at
			return nil
		}); err != nil {
			return nil, err
		}
		if g.GrantKind == vocab.GrantCapability {
			return &api.NoContent{}, nil
		}
		return &api.NoContent{}, c.requireOwner(tx, fmt.Sprintf("%s of the %s %s (%s)", g.GrantKind, g.SubjectType, g.SubjectID, g.ID))
	})
}

func authorization(g store.Authorization) api.Authorization {
	return api.Authorization{
		ID: g.ID, GrantKind: g.GrantKind, SubjectType: g.SubjectType, SubjectID: g.SubjectID,
		CapabilityKey: optional(g.CapabilityKey), ResourceType: optional(g.ResourceType), ResourceID: optional(g.ResourceID),
		CreatedAt: optionalTimestamp(g.CreatedAt), RevokedAt: optionalTimestamp(g.RevokedAt),
	}
}
