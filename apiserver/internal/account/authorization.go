package account

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// authorizationOperations binds the operations on authorizations to their rules.
var authorizationOperations = []Operation{
	read(api.ListAuthorizations, listAuthorizations),
	read(api.ListCreations, listCreations),
	read(api.GetCaller, getCaller),
	change(api.GrantAuthorization, grantAuthorization),
	remove(api.RevokeAuthorization, revokeAuthorization),
}

func listAuthorizations(c *Call, r store.Reader, in *api.ListAuthorizationsRequest) (*[]api.Authorization, error) {
	grants, err := r.Authorizations(c.Caller.AccountID, store.AuthorizationFilter{
		SubjectType: in.SubjectType, SubjectID: in.SubjectID, GrantKind: in.GrantKind, CapabilityKey: in.CapabilityKey,
		IncludeRevoked: in.IncludeRevoked,
	})
	return new(objects(grants, authorization)), err
}

func getCaller(c *Call, _ store.Reader, _ *api.InAccount) (*api.Caller, error) {
	who := c.Caller
	return &api.Caller{
		SubjectType: who.Subjects[0].Type, SubjectID: who.Subjects[0].ID, Name: optional(who.Name), Email: optional(who.Email),
		ExpiresAt: optionalTimestamp(who.ExpiresAt), Grants: objects(who.Grants, authorization),
	}, nil
}

// grantAuthorization creates a grant. A caller can't grant more than their own grants allow, nor
// for longer. A second equal grant is a conflict.
func grantAuthorization(c *Call, tx store.Tx, in *api.GrantAuthorizationRequest) (*api.Authorization, error) {
	b := in.Body
	if b.SubjectType == vocab.SubjectServiceAccount {
		b.SubjectID = api.CanonicalID(b.SubjectID)
	}
	g := store.Authorization{
		ID: c.Rules.Random.ID(), AccountID: c.Caller.AccountID, GrantKind: b.GrantKind, SubjectType: b.SubjectType, SubjectID: b.SubjectID,
		CapabilityKey: api.Value(b.CapabilityKey), ResourceType: api.Value(b.ResourceType), ResourceID: api.Value(b.ResourceID), CreatedAt: c.Arrival,
	}
	if err := c.requireGrant("grant", g); err != nil {
		return nil, err
	}
	if err := checkGrant(tx, g); err != nil {
		return nil, err
	}
	if err := c.limitGrant(tx, g); err != nil {
		return nil, err
	}
	if err := c.refuseSameGrant(tx, g); err != nil {
		return nil, err
	}
	err := tx.Create(&g)
	return new(authorization(g)), err
}

// requireGrant returns a 403 if the caller may not make a grant. verb names the request's action.
func (c *Call) requireGrant(verb string, g store.Authorization) error {
	if c.Caller.MayGrant(g) {
		return nil
	}
	return api.Forbidden("the credential can't %s %s, which it does not have itself to that extent", verb, cmp.Or(g.CapabilityKey, g.GrantKind))
}

// limitGrant returns a 403 if an expiring service account makes a grant to a subject that expires
// later or never.
func (c *Call) limitGrant(r store.Reader, g store.Authorization) error {
	latest := c.Caller.ExpiresAt
	if !c.Caller.IsServiceAccount() || latest.IsZero() {
		return nil
	}
	if g.SubjectType == vocab.SubjectServiceAccount {
		a, err := store.Get[store.ServiceAccount](r, g.AccountID, g.SubjectID)
		if err != nil || !a.ExpiresAt.IsZero() && !a.ExpiresAt.After(latest) {
			return err
		}
	}
	return api.Forbidden("the credential expires at %s, and can't grant anything for longer: the subject must be a service account that expires no later", timestamp(latest))
}

// checkGrant checks that the service account and the resource of a grant exist, and that a workload can.
func checkGrant(r store.Reader, g store.Authorization) error {
	var problems []*api.Problem
	exists := func(err error, problem *api.Problem) error {
		if errors.Is(err, store.ErrNotFound) {
			problems, err = append(problems, problem), nil
		}
		return err
	}
	if g.SubjectType == vocab.SubjectServiceAccount {
		_, err := store.Get[store.ServiceAccount](r, g.AccountID, g.SubjectID)
		if err := exists(err, api.Invalid("the account has no service account %.255q", g.SubjectID).InBody("subject_id")); err != nil {
			return err
		}
	}
	if name, ok := strings.CutPrefix(g.SubjectID, identity.WorkloadPrefix); ok && g.SubjectType == vocab.SubjectUser {
		if err := identity.CheckWorkloadName(name); err != nil { // no trust file can name it, so that the grant would permit nothing
			problems = append(problems, api.Invalid("%s", err).InBody("subject_id"))
		}
	}
	var err error
	switch g.ResourceType {
	case vocab.ResourceWorkspace:
		_, err = store.Get[store.Workspace](r, g.AccountID, g.ResourceID)
	case vocab.ResourceDomain:
		_, err = store.Get[store.Domain](r, g.AccountID, g.ResourceID)
	}
	err = exists(err, api.Invalid("the account has no %s %s", g.ResourceType, g.ResourceID).InBody("resource_id"))
	if err == nil && problems != nil {
		return api.Unprocessable(problems...)
	}
	return err
}

// refuseSameGrant returns a conflict if an equal grant exists: revoking one of two would change
// nothing.
func (c *Call) refuseSameGrant(r store.Reader, g store.Authorization) error {
	granted, err := r.Authorizations(g.AccountID, store.AuthorizationFilter{
		SubjectType: g.SubjectType, SubjectID: g.SubjectID, GrantKind: g.GrantKind, CapabilityKey: g.CapabilityKey,
	})
	for _, have := range granted {
		if have.ResourceType == g.ResourceType && have.ResourceID == g.ResourceID {
			return api.Conflict("the %s %s has this grant already%s", g.SubjectType, g.SubjectID,
				c.existingID(r, vocab.CapAuthorizationView, store.Scope{Type: vocab.ScopeAccount, ID: g.AccountID}, ": ", have.ID))
		}
	}
	return err
}

// revokeAuthorization revokes a grant. The caller must be able to make the grant, and an owner who
// can act must remain.
func revokeAuthorization(c *Call, tx store.Tx, in *api.AuthorizationRequest) error {
	g, err := store.Get[store.Authorization](tx, c.Caller.AccountID, in.AuthorizationID)
	if err != nil {
		return err
	}
	if err := c.requireGrant("revoke", g); err != nil || !g.RevokedAt.IsZero() {
		return err
	}
	if _, err := store.Update(tx, g.AccountID, g.ID, func(g *store.Authorization) error {
		g.RevokedAt = c.Arrival
		return nil
	}); err != nil || g.GrantKind == vocab.GrantCapability {
		return err
	}
	return c.requireOwner(tx, fmt.Sprintf("%s of the %s %s (%s)", g.GrantKind, g.SubjectType, g.SubjectID, g.ID))
}

// requireOwner returns a conflict unless an owner remains who can act. what names the revoked
// object in the conflict.
func (c *Call) requireOwner(r store.Reader, what string) error {
	if c.Caller.IsOperator() {
		return nil // an operator can create another owner
	}
	// The caller's grants come first: the caller usually is an owner, and the account may contain
	// thousands of revoked owners.
	own, err := r.GrantsOf(c.Caller.AccountID, c.Caller.Subjects)
	if err != nil {
		return err
	}
	owners, err := r.Authorizations(c.Caller.AccountID, store.AuthorizationFilter{GrantKind: vocab.GrantAccountOwner})
	if err != nil {
		return err
	}
	for _, g := range append(own, owners...) {
		if g.GrantKind != vocab.GrantAccountOwner {
			continue
		}
		if can, err := c.canAct(r, g); can || err != nil {
			return err
		}
	}
	return api.Conflict("revoking %s would leave the account without an owner who can act; grant account_owner to another service account first", what)
}

// canAct reports whether the subject of a grant can sign in: a service account with a valid token,
// a user or group if access tokens are accepted, or the built-in owner if the OwnerClient calls.
func (c *Call) canAct(r store.Reader, g store.Authorization) (bool, error) {
	switch {
	case g.SubjectType == vocab.SubjectServiceAccount:
		a, err := store.Get[store.ServiceAccount](r, g.AccountID, g.SubjectID)
		return err == nil && auth.CheckServiceAccount(a, c.Rules.Now()) == nil, err
	case g.SubjectType == vocab.SubjectUser && g.SubjectID == auth.OwnerSubject(g.AccountID).ID:
		return c.Caller.IsBuiltInOwner(), nil
	}
	return c.Rules.Auth.AcceptsAccessTokens(), nil
}

func authorization(g store.Authorization) api.Authorization {
	return api.Authorization{
		ID: g.ID, GrantKind: g.GrantKind, SubjectType: g.SubjectType, SubjectID: g.SubjectID,
		CapabilityKey: optional(g.CapabilityKey), ResourceType: optional(g.ResourceType), ResourceID: optional(g.ResourceID),
		CreatedAt: optionalTimestamp(g.CreatedAt), RevokedAt: optionalTimestamp(g.RevokedAt),
	}
}
