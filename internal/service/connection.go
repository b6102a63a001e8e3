package service

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// connection contains the session of the provider configuration, or nil while a configuration is
// only validated.
type connection struct{ *session.Session }

func (c *connection) connect(providerData any) { c.Session, _ = providerData.(*session.Session) }

// Client returns the account's client, or adds an error and returns nil.
func (c *connection) Client(ctx context.Context, diags *diag.Diagnostics) *client.Client {
	api, err := c.Session.Client(ctx)
	if err != nil {
		summary, next := "Can't open the account", ""
		if e, ok := errors.AsType[*session.OpenError](err); ok {
			summary, next = e.Summary, e.Next
		}
		diags.Append(report.ConnectionError(&c.Unopened, summary, report.Sentence(err.Error()), next))
		return nil
	}
	return api
}

// ClientIfOpen returns the account's client, or nil if it can't be opened: a
// warning in a plan is not worth an error.
func (c *connection) ClientIfOpen(ctx context.Context) *client.Client {
	return c.Client(ctx, new(diag.Diagnostics))
}

// ClientForPlan is [connection.Client] for an optional lookup in a plan: it returns nil without
// an error while a setting of the provider is unknown.
func (c *connection) ClientForPlan(ctx context.Context, diags *diag.Diagnostics) *client.Client {
	_, err := c.Session.Client(ctx)
	if _, ok := errors.AsType[*session.OpenError](err); ok {
		return nil
	}
	return c.Client(ctx, diags)
}

// Caller returns the API's view of the provider's credential. It is requested once in a walk.
func (c *connection) Caller(ctx context.Context, from *client.Client) (*api.Caller, error) {
	type noteKey struct{}
	return OnceResult(c.Notes(), noteKey{}, func() (*api.Caller, error) { return from.Caller(ctx) })
}
