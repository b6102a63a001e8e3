package client

import (
	"context"
	"iter"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// ListForwarding returns the rules that match the request's filters.
func (c *Client) ListForwarding(ctx context.Context, req api.ListForwardingRequest) iter.Seq2[api.Forwarding, error] {
	return list(ctx, c, api.ListForwarding, req, forwardingKeys.ID)
}

// FindForwarding looks a rule up by its target address and scope.
func (c *Client) FindForwarding(ctx context.Context, target string, scope Scope) (*api.Forwarding, error) {
	found, err := c.findForwarding(ctx, target, scope)
	return c.Forwarding.one("to "+target+" of "+scope.String(), found, err)
}

func (c *Client) findForwarding(ctx context.Context, target string, scope Scope) ([]api.Forwarding, error) {
	inScope, err := c.inScope(ctx, scope)
	if err != nil {
		return nil, err
	}
	target = normalizeAddress(target)
	rules := c.ListForwarding(ctx, api.ListForwardingRequest{
		Domain: scope.Domain, WorkspaceID: scope.WorkspaceID, ScopeType: scope.scopeType(), Search: target,
	})
	return filter(rules, func(f *api.Forwarding) bool {
		return normalizeAddress(f.TargetEmail) == target && inScope(f.ScopeType, f.ScopeID)
	})
}

// CreateForwarding creates a rule.
func (c *Client) CreateForwarding(ctx context.Context, body api.CreateForwardingBody) (*api.Forwarding, error) {
	scope := newScope(body.Domain, body.WorkspaceID)
	return createIn(ctx, c.Forwarding, api.CreateForwarding, &api.CreateForwardingRequest{Body: body}, createSpec[api.Forwarding]{
		object:    "the rule to " + body.TargetEmail + " of " + scope.String(),
		createdAt: func(f *api.Forwarding) string { return f.CreatedAt },
		find: func(ctx context.Context) ([]api.Forwarding, error) {
			return c.findForwarding(ctx, body.TargetEmail, scope)
		},
	})
}

// UpdateForwarding changes a rule's target.
func (c *Client) UpdateForwarding(ctx context.Context, id string, body api.UpdateForwardingBody) (*api.Forwarding, error) {
	req := &api.UpdateForwardingRequest{ForwardingID: id, Body: body}
	return update(ctx, c.Forwarding, api.UpdateForwarding, req, id)
}

// SetForwardingActive switches a rule on or off.
func (c *Client) SetForwardingActive(ctx context.Context, id string, active bool) (*api.Forwarding, error) {
	req := &api.SetForwardingActiveRequest{ForwardingID: id, Body: api.SetForwardingActiveBody{Active: active}}
	return update(ctx, c.Forwarding, api.SetForwardingActive, req, id)
}
