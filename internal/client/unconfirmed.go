package client

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// Origin identifies the configuration that the requests belong to, and its run.
type Origin = transport.Origin

// FromRun returns a context for the creates of objects that go into the state.
func FromRun(ctx context.Context) context.Context { return transport.FromRun(ctx) }

// Origin returns the origin of the client's creates.
func (c *Client) Origin() Origin { return c.transport.Origin }

// HasUnconfirmed reports whether earlier runs have created objects that no plan has seen in
// the state. known is false before the first response to a GET request.
func (c *Client) HasUnconfirmed() (exist, known bool) { return c.transport.HasUnconfirmed() }

// HasCreated reports whether this run has created objects other than by bulk requests.
func (c *Client) HasCreated() bool { return c.transport.HasCreated() }

// ReviewCreates reports what the state has, or what this run has created, and returns the
// objects of the origin that remain unconfirmed.
func (c *Client) ReviewCreates(ctx context.Context, body api.ReviewCreatesBody) (*api.UnconfirmedCreates, error) {
	body.Origin = c.transport.Origin.ID
	return call(ctx, c.core, api.ReviewCreates, &api.ReviewCreatesRequest{Body: body}, "unconfirmed creates")
}
