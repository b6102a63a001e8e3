package client

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

const checkPlan = "Check the account's plan before trying again."

// GetAccount reads the account. The error is ErrReadUnsupported if the API lacks the operation.
func (c *Client) GetAccount(ctx context.Context) (*api.Account, error) {
	a, err := call(ctx, c, api.GetAccount, &api.InAccount{}, c.AccountID())
	if err == nil {
		err = c.requireID(api.GetAccount.Spec, c.AccountID(), a.ID)
	}
	return a, err
}

// Caller returns the identity of the credential, or an error if the API can't be reached,
// base_url is not the API's, or the API refuses the credential. The operation requires no
// capability. If the API lacks it, Caller requests the list of domains instead and returns nil;
// a 403 is then no error, because it may only mean a missing capability.
func (c *Client) Caller(ctx context.Context) (*api.Caller, error) {
	caller, err := call(ctx, c, api.GetCaller, &api.InAccount{}, "the caller")
	if !IsUnsupported(err) {
		return caller, err
	}
	if err = c.ping(ctx); StatusOf(err) == http.StatusForbidden && isAPIRefusal(err) {
		err = nil
	}
	return nil, err
}

// CancelPlan cancels the account's plan.
func (c *Client) CancelPlan(ctx context.Context, body api.CancelPlanBody) (*api.BillingResult, error) {
	v, _, err := create(ctx, c, api.CancelPlan, &api.CancelPlanRequest{Body: body}, createSpec[api.BillingResult]{
		facts: facts{paid: true}, effect: "the plan may have been cancelled", check: checkPlan,
	})
	return v, err
}

// ChangePlan changes the account's plan.
func (c *Client) ChangePlan(ctx context.Context, body api.ChangePlanBody) (*api.BillingResult, error) {
	v, _, err := create(ctx, c, api.ChangePlan, &api.ChangePlanRequest{Body: body}, createSpec[api.BillingResult]{
		facts: facts{paid: true}, effect: "the plan may have been changed", check: checkPlan,
	})
	return v, err
}

// SubmitFeedback submits product feedback.
func (c *Client) SubmitFeedback(ctx context.Context, body api.SubmitFeedbackBody) (*api.Feedback, error) {
	v, _, err := create(ctx, c, api.SubmitFeedback, &api.SubmitFeedbackRequest{Body: body}, createSpec[api.Feedback]{
		object: body.Title, effect: "the feedback may have been submitted", check: "Submitting it again may submit it twice.",
	})
	return v, err
}

// ListWorkspaces returns all workspaces. The error is ErrReadUnsupported if the API lacks the operation.
func (c *Client) ListWorkspaces(ctx context.Context) iter.Seq2[api.Workspace, error] {
	return list(ctx, c, api.ListWorkspaces, api.ListRequest{}, func(w *api.Workspace) string { return w.ID })
}

// ListAuthorizations returns the grants that match the request's filters.
func (c *Client) ListAuthorizations(ctx context.Context, req api.ListAuthorizationsRequest) iter.Seq2[api.Authorization, error] {
	return func(yield func(api.Authorization, error) bool) {
		all, err := transport.Do(ctx, c.transport, api.ListAuthorizations, &req)
		if err != nil {
			yield(api.Authorization{}, err)
			return
		}
		for _, a := range *all {
			if !yield(a, nil) {
				return
			}
		}
	}
}

// GrantAuthorization grants an authorization. The caller can't grant more than its own authorizations.
func (c *Client) GrantAuthorization(ctx context.Context, body api.GrantAuthorizationBody) error {
	subject, granted := body.SubjectType+" "+body.SubjectID, cmp.Or(api.Value(body.CapabilityKey), body.GrantKind)
	_, _, err := create(ctx, c, api.GrantAuthorization, &api.GrantAuthorizationRequest{Body: body}, createSpec[api.Authorization]{
		object: granted + " to " + subject,
		id:     authorizationID,
		find: func(ctx context.Context) ([]api.Authorization, error) {
			// The API may spell the id of a subject in another way.
			grants := c.ListAuthorizations(ctx, api.ListAuthorizationsRequest{SubjectType: body.SubjectType, CapabilityKey: api.Value(body.CapabilityKey)})
			found, err := filter(grants, func(a *api.Authorization) bool { return a.RevokedAt == nil && isGrant(a, body) })
			return found[:min(len(found), 1)], err // equal grants are interchangeable
		},
		effect: "the " + subject + " may have been granted " + granted, check: "Check its authorizations before trying again.",
	})
	return err
}

func authorizationID(a *api.Authorization) string { return a.ID }

// isGrant reports whether an authorization is the one that a request grants.
func isGrant(a *api.Authorization, body api.GrantAuthorizationBody) bool {
	same := func(a, b *string) bool { return normalizeID(api.Value(a)) == normalizeID(api.Value(b)) }
	return a.GrantKind == body.GrantKind && a.SubjectType == body.SubjectType && same(&a.SubjectID, &body.SubjectID) &&
		same(a.CapabilityKey, body.CapabilityKey) && same(a.ResourceType, body.ResourceType) && same(a.ResourceID, body.ResourceID)
}

// RevokeAuthorization revokes an authorization. It succeeds if no authorization with the id exists.
// If the API lacks the operation, the error is ErrDeleteUnsupported.
func (c *Client) RevokeAuthorization(ctx context.Context, id string) error {
	op := api.RevokeAuthorization
	if c.operation(op.Spec).isAbsent() {
		return unsupported(ErrDeleteUnsupported, op.Spec, id)
	}
	_, _, err := send(ctx, c, op, &api.AuthorizationRequest{AuthorizationID: id}, id)
	if !isMissing(err) {
		return c.orAbsent(ctx, op.Spec, err, ErrDeleteUnsupported, id)
	}
	// The authorization is gone, possibly by an attempt whose response was lost, or the API lacks the operation.
	left, listErr := filter(c.ListAuthorizations(ctx, api.ListAuthorizationsRequest{}), func(a *api.Authorization) bool {
		return a.RevokedAt == nil && normalizeID(a.ID) == normalizeID(id)
	})
	switch {
	case listErr != nil:
		return fmt.Errorf("%w; the list of authorizations failed too: %w", undecided{err}, undecided{listErr})
	case len(left) == 0:
		return nil
	case c.operation(op.Spec).present.Load(): // a proxy may have sent this response
		return fmt.Errorf("%w; but the authorization is still there", undecided{err})
	}
	return c.orAbsent(ctx, op.Spec, err, ErrDeleteUnsupported, id)
}
