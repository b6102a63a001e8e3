package apiclient

import (
	"context"
	"fmt"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Child is a working service account or grant that descends from a subject, see api.ListCreationsRequest.
type Child struct {
	api.Creation
	// Account is the service account; only its id is set if the caller may not see it, or for a grant.
	Account api.ServiceAccount
	// Grant is the zero value for a service account.
	Grant api.Authorization
}

// IsGrant reports whether the child is a grant.
func (c Child) IsGrant() bool { return c.ObjectType != vocab.SubjectServiceAccount }

// Subject is the holder of a grant.
type Subject struct{ Type, ID string }

// Children returns what descends from any of the subjects and works, the oldest first.
func Children(ctx context.Context, c *Client, subjects ...Subject) (children []Child, err error) {
	names := NewNames(ctx, c)
	var grants []api.Authorization
	for _, s := range subjects {
		creations, err := Call(ctx, c, api.ListCreations, &api.ListCreationsRequest{SubjectType: s.Type, SubjectID: s.ID})
		if err != nil {
			return nil, err
		}
		for _, creation := range *creations {
			child := Child{Creation: creation}
			if slices.ContainsFunc(children, func(other Child) bool { return other.ObjectID == creation.ObjectID }) {
				continue
			}
			if !child.IsGrant() {
				child.Account = names.Token(creation.ObjectID)
				child.Account.ID = creation.ObjectID
				children = append(children, child)
				continue
			}
			if grants == nil {
				all, err := Call(ctx, c, api.ListAuthorizations, &api.ListAuthorizationsRequest{})
				if err != nil {
					return nil, err
				}
				grants = *all
			}
			// A grant that is missing was revoked in the meantime.
			if i := slices.IndexFunc(grants, func(g api.Authorization) bool { return g.ID == creation.ObjectID }); i >= 0 {
				child.Grant = grants[i]
				children = append(children, child)
			}
		}
	}
	return children, nil
}

// RevokeChildren revokes what descends from the subjects, and what is created meanwhile. The service
// account with the id own, the caller's, is the last one. After an error, revoked holds what was revoked.
func RevokeChildren(ctx context.Context, c *Client, own string, subjects ...Subject) (revoked []Child, err error) {
	revoke := func(child Child) (err error) {
		if child.IsGrant() {
			_, err = Call(ctx, c, api.RevokeAuthorization, &api.AuthorizationRequest{AuthorizationID: child.ObjectID})
		} else {
			_, err = Call(ctx, c, api.RevokeServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: child.ObjectID})
		}
		if err == nil {
			revoked = append(revoked, child)
		}
		return err
	}
	for {
		children, err := Children(ctx, c, subjects...)
		if err != nil {
			return revoked, err
		}
		// The caller's rights may be among the grants.
		others := slices.DeleteFunc(slices.Clone(children), func(child Child) bool {
			return child.ObjectID == own || child.IsGrant() && child.Grant.SubjectID == own
		})
		for _, child := range others {
			if slices.ContainsFunc(revoked, func(r Child) bool { return r.ObjectID == child.ObjectID }) { // the loop would never end
				return revoked, fmt.Errorf("%s: the API at %s lists %s, which it has revoked", api.ListCreations.ID, c.URL, child.ObjectID)
			}
			if err := revoke(child); err != nil {
				return revoked, err
			}
		}
		if len(others) > 0 {
			continue
		}
		for _, child := range slices.Backward(children) { // the caller's grants, and then its token
			if err := revoke(child); err != nil {
				return revoked, err
			}
		}
		return revoked, nil
	}
}

// Creators returns the creators of all service accounts and grants by their ids. It omits those that are
// unknown, or that the caller may not see.
func Creators(ctx context.Context, c *Client) (map[string]api.AuditSubject, error) {
	creations, err := Call(ctx, c, api.ListCreations, &api.ListCreationsRequest{IncludeRevoked: true})
	if Denied(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	creators := map[string]api.AuditSubject{}
	for _, creation := range *creations {
		if creation.CreatedBy != nil {
			creators[creation.ObjectID] = *creation.CreatedBy
		}
	}
	return creators, nil
}
