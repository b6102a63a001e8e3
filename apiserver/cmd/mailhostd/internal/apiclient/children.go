package apiclient

import (
	"context"
	"errors"
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
// account with the id own, the caller's, is the last one. A failure stops no other child but that one; the
// error contains all failures.
func RevokeChildren(ctx context.Context, c *Client, own string, subjects ...Subject) (revoked []Child, err error) {
	tried := map[string]bool{} // whether it was revoked
	var failures []error
	revoke := func(child Child) {
		var err error
		if child.IsGrant() {
			_, err = Call(ctx, c, api.RevokeAuthorization, &api.AuthorizationRequest{AuthorizationID: child.ObjectID})
		} else {
			_, err = Call(ctx, c, api.RevokeServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: child.ObjectID})
		}
		if tried[child.ObjectID] = err == nil; err == nil {
			revoked = append(revoked, child)
		} else {
			failures = append(failures, fmt.Errorf("%s %s: %w", child.ObjectType, child.ObjectID, err))
		}
	}
	for {
		children, err := Children(ctx, c, subjects...)
		if err != nil {
			return revoked, errors.Join(append(failures, err)...)
		}
		// The caller's rights may be among the grants.
		isOwn := func(child Child) bool {
			return child.ObjectID == own || child.IsGrant() && child.Grant.SubjectID == own
		}
		found := false
		for _, child := range children {
			ended, again := tried[child.ObjectID]
			if ended { // the loop would never end
				return revoked, errors.Join(append(failures, fmt.Errorf("%s: the API at %s lists %s, which it has revoked", api.ListCreations.ID, c.URL, child.ObjectID))...)
			}
			if !again && !isOwn(child) {
				revoke(child)
				found = true
			}
		}
		if found {
			continue
		}
		for _, child := range slices.Backward(children) { // the caller's grants, and then its token
			if isOwn(child) && len(failures) == 0 {
				revoke(child)
			}
		}
		return revoked, errors.Join(failures...)
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

// UnknownCreators returns the number of working service accounts and grants whose creator is unknown: an
// earlier version created them, and the audit log does not contain them.
func UnknownCreators(ctx context.Context, c *Client) (n int, err error) {
	creations, err := Call(ctx, c, api.ListCreations, &api.ListCreationsRequest{})
	if err != nil {
		return 0, err
	}
	for _, creation := range *creations {
		if creation.CreatedBy == nil {
			n++
		}
	}
	return n, nil
}
