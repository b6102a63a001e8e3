package client

import (
	"context"
	"iter"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

var authorizationKind = kind[api.Authorization]{
	noun: "authorization",
	id:   func(a *api.Authorization) string { return a.ID },
	fold: foldID,
}

// ListAuthorizations returns the grants that match the request's filters. The API
// answers all of them at once.
func (c *Client) ListAuthorizations(ctx context.Context, req api.ListAuthorizationsRequest) iter.Seq2[api.Authorization, error] {
	return func(yield func(api.Authorization, error) bool) {
		list, err := call(ctx, c, api.ListAuthorizations, &req)
		if err != nil {
			yield(api.Authorization{}, err)
			return
		}
		for _, a := range *list {
			if !yield(a, nil) {
				return
			}
		}
	}
}

// sweepAuthorizations is the list in the form that an index takes.
func (c *Client) sweepAuthorizations(ctx context.Context) iter.Seq2[api.Authorization, error] {
	return c.ListAuthorizations(ctx, api.ListAuthorizationsRequest{})
}

// GrantAuthorization grants an authorization, where this API can:
// ErrCreateUnsupported.
func (c *Client) GrantAuthorization(ctx context.Context, body api.GrantAuthorizationBody) (*api.Authorization, error) {
	a, err := createLifecycle(ctx, c, api.GrantAuthorization, &api.GrantAuthorizationRequest{Body: body}, &creation[api.Authorization]{
		object: body.GrantKind + " to " + body.SubjectType + " " + body.SubjectID,
		id:     authorizationKind.id,
		find: func(ctx context.Context) ([]api.Authorization, error) {
			list := c.ListAuthorizations(ctx, api.ListAuthorizationsRequest{SubjectType: body.SubjectType, SubjectID: body.SubjectID})
			return matching(list, func(a *api.Authorization) bool { return isGrant(a, body) })
		},
		forget: c.authorizations.invalidate,
	})
	if err != nil {
		return nil, err
	}
	c.authorizations.upsert(*a)
	return a, nil
}

// isGrant reports whether a is in force and what a request asks for.
func isGrant(a *api.Authorization, body api.GrantAuthorizationBody) bool {
	return a.RevokedAt == nil &&
		a.GrantKind == body.GrantKind && a.SubjectType == body.SubjectType && a.SubjectID == body.SubjectID &&
		value(a.CapabilityKey) == value(body.CapabilityKey) &&
		value(a.ResourceType) == value(body.ResourceType) &&
		foldID(value(a.ResourceID)) == foldID(value(body.ResourceID))
}

// RevokeAuthorization revokes a grant.
func (c *Client) RevokeAuthorization(ctx context.Context, id string) error {
	return remove(ctx, c, api.RevokeAuthorization, &api.AuthorizationRequest{AuthorizationID: id}, c.authorizations, id)
}
