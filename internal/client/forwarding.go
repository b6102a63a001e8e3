package client

import (
	"context"
	"iter"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

var forwardingKind = kind[api.Forwarding]{
	noun: "forwarding rule",
	id:   func(f *api.Forwarding) string { return f.ID },
	fold: foldID,
}

// ListForwarding returns the rules that match the request's filters.
func (c *Client) ListForwarding(ctx context.Context, req api.ListForwardingRequest) iter.Seq2[api.Forwarding, error] {
	return sweep(ctx, c, api.ListForwarding, req, forwardingKind.id)
}

// GetForwarding reads a rule.
func (c *Client) GetForwarding(ctx context.Context, id string) (*api.Forwarding, error) {
	return read(ctx, c, api.GetForwarding, &api.ForwardingRequest{ForwardingID: id}, c.forwarding, id)
}

// FindForwarding looks a rule up by its target address and scope.
func (c *Client) FindForwarding(ctx context.Context, target string, scope Scope) (*api.Forwarding, error) {
	found, err := c.forwardingTo(ctx, target, scope)
	return only(forwardingKind, "to "+target+" of "+scope.String(), found, err)
}

func (c *Client) forwardingTo(ctx context.Context, target string, scope Scope) ([]api.Forwarding, error) {
	inScope, err := c.inScope(ctx, scope)
	if err != nil {
		return nil, err
	}
	target = foldAddress(target)
	list := c.ListForwarding(ctx, api.ListForwardingRequest{
		Domain: scope.Domain, WorkspaceID: scope.WorkspaceID, ScopeType: scope.kind(), Search: target,
	})
	return matching(list, func(f *api.Forwarding) bool {
		return foldAddress(f.TargetEmail) == target && inScope(f.ScopeType, f.ScopeID)
	})
}

// CreateForwarding creates a rule. resumed reports that an earlier, interrupted run has
// created it.
func (c *Client) CreateForwarding(ctx context.Context, body api.CreateForwardingBody) (f *api.Forwarding, resumed bool, err error) {
	scope := scopeFrom(body.Domain, body.WorkspaceID)
	cr := &creation[api.Forwarding]{
		object:    "to " + body.TargetEmail + " of " + scope.String(),
		id:        forwardingKind.id,
		createdAt: func(f *api.Forwarding) string { return f.CreatedAt },
		find: func(ctx context.Context) ([]api.Forwarding, error) {
			return c.forwardingTo(ctx, body.TargetEmail, scope)
		},
		forget: c.forwarding.invalidate,
	}
	if f, err = create(ctx, c, api.CreateForwarding, &api.CreateForwardingRequest{Body: body}, cr); err != nil {
		return nil, false, err
	}
	c.forwarding.upsert(*f)
	return f, cr.resumed, nil
}

// UpdateForwarding changes a rule's target; the same target again sends a new
// verification message.
func (c *Client) UpdateForwarding(ctx context.Context, id string, body api.UpdateForwardingBody) (*api.Forwarding, error) {
	req := &api.UpdateForwardingRequest{ForwardingID: id, Body: body}
	return update(ctx, c, api.UpdateForwarding, req, c.forwarding, id, c.GetForwarding)
}

// SetForwardingActive switches a rule on or off, where this API can:
// ErrUpdateUnsupported.
func (c *Client) SetForwardingActive(ctx context.Context, id string, active bool) (*api.Forwarding, error) {
	req := &api.SetForwardingActiveRequest{ForwardingID: id, Body: api.SetForwardingActiveBody{Active: active}}
	return update(ctx, c, api.SetForwardingActive, req, c.forwarding, id, c.GetForwarding)
}

// SwitchesForwarding reports whether this API is taken to have an operation that
// switches rules on and off; it may read one to find out.
func (c *Client) SwitchesForwarding(ctx context.Context, id string) bool {
	return c.offers(ctx, api.SetForwardingActive.Spec, api.GetForwarding.Spec, func() error {
		_, err := c.GetForwarding(ctx, id)
		return err
	})
}

// DeleteForwarding deletes a rule.
func (c *Client) DeleteForwarding(ctx context.Context, id string) error {
	return remove(ctx, c, api.DeleteForwarding, &api.ForwardingRequest{ForwardingID: id}, c.forwarding, id)
}

// DeletesForwarding reports whether this API is taken to have an operation that deletes
// forwarding rules; it may read one to find out.
func (c *Client) DeletesForwarding(ctx context.Context, id string) bool {
	return c.offers(ctx, api.DeleteForwarding.Spec, api.GetForwarding.Spec, func() error {
		_, err := c.GetForwarding(ctx, id)
		return err
	})
}
