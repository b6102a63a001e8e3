package service

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// connection holds the session of the provider configuration.
type connection struct {
	// configured is nil while a configuration is only validated.
	configured *session.Session
}

func (c *connection) connect(providerData any) { c.configured, _ = providerData.(*session.Session) }

// unconfigured is the session of a provider that is not configured: it records nothing.
var unconfigured = func() *session.Session {
	s := session.New(func(context.Context) (*client.Client, error) {
		return nil, &session.OpenError{Summary: "Provider not configured", Reason: "The provider was called before it was configured. This is a bug in the provider."}
	})
	s.Walk().Disable()
	return s
}()

func (c *connection) session() *session.Session { return cmp.Or(c.configured, unconfigured) }

// Client returns the account's client, or adds an error and returns nil.
func (c *connection) Client(ctx context.Context, diags *diag.Diagnostics) *client.Client {
	api, err := c.session().Client(ctx)
	if err != nil {
		summary, next := "Can't open the account", ""
		if e, ok := errors.AsType[*session.OpenError](err); ok {
			summary, next = e.Summary, e.Next
		}
		diags.Append(newConnectionError(&c.session().Unopened, summary, sentence(err.Error()), next))
		return nil
	}
	return api
}

// ClientForWarning returns the account's client, or nil if it can't be opened: a
// warning in a plan is not worth an error.
func (c *connection) ClientForWarning(ctx context.Context) *client.Client {
	return c.Client(ctx, new(diag.Diagnostics))
}

// ClientForPlan is [connection.Client] for a plan that looks something up if it can: it
// returns nil without an error while a setting of the provider is unknown.
func (c *connection) ClientForPlan(ctx context.Context, diags *diag.Diagnostics) *client.Client {
	_, err := c.session().Client(ctx)
	if _, ok := errors.AsType[*session.OpenError](err); ok {
		return nil
	}
	return c.Client(ctx, diags)
}

// Walk returns the record of this walk of Terraform's core. [Manage] fills it.
func (c *connection) Walk() *session.Walk { return c.session().Walk() }

// Notes returns what calls of this walk keep for later ones, see [session.Session.Notes].
func (c *connection) Notes() *sync.Map { return c.session().Notes() }

// Caller returns who the provider is, as the API sees it. It is requested once in a walk.
func (c *connection) Caller(ctx context.Context, from *client.Client) (*api.Caller, error) {
	type noteKey struct{}
	type result struct {
		caller *api.Caller
		err    error
	}
	r := Once(c.Notes(), noteKey{}, func() result {
		caller, err := from.Caller(ctx)
		return result{caller, err}
	})
	return r.caller, r.err
}

// Ephemeral is the base of every ephemeral resource: it has the account's client.
type Ephemeral struct{ connection }

func (e *Ephemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	e.connect(req.ProviderData)
}

// AddCleanup registers a function that is called when the provider ends, unless
// RemoveCleanup is called with the id before. Terraform does not close ephemeral
// resources after a run that failed or was interrupted.
func (e *Ephemeral) AddCleanup(id string, cleanup func(context.Context) error) {
	e.session().AddCleanup(id, cleanup)
}

// RemoveCleanup removes what AddCleanup registered with the id.
func (e *Ephemeral) RemoveCleanup(id string) { e.session().RemoveCleanup(id) }
