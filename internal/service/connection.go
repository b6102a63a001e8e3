package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// connection is the session that a provider configuration gives to its parts.
type connection struct {
	session *session.Session
}

// connect stores the provider's data; it is nil while a configuration is only
// validated.
func (c *connection) connect(providerData any, diags *diag.Diagnostics) {
	if providerData == nil {
		return
	}
	s, ok := providerData.(*session.Session)
	if !ok {
		diags.AddError("Unexpected provider data", fmt.Sprintf("The provider handed over a %T in place of its session. This is a bug of the provider.", providerData))
		return
	}
	c.session = s
}

// Client returns the account's client, or adds an error and returns nil.
func (c *connection) Client(ctx context.Context, diags *diag.Diagnostics) *client.Client {
	if c.session == nil {
		diags.AddError("Provider not configured", "The provider was asked for an object before it was configured. This is a bug of the provider.")
		return nil
	}
	api, err := c.session.Client(ctx)
	if err != nil {
		summary, next := "Can't open the account", ""
		if p, ok := errors.AsType[*session.Problem](err); ok {
			summary, next = p.Summary, p.Next
		}
		diags.Append(newConnectionError(&c.session.Unopened, summary, sentence(err.Error()), next))
		return nil
	}
	return api
}

// ClientForWarning returns the account's client, or nil: a warning in a plan is
// not worth an error.
func (c *connection) ClientForWarning(ctx context.Context) *client.Client {
	var unconnected diag.Diagnostics
	return c.Client(ctx, &unconnected)
}

// Walk is what one walk of Terraform's core has seen, see [session.Walk].
type Walk = session.Walk

// Walk returns what this walk of Terraform's core has seen of the configuration's
// objects. [Tracked] records it; a resource that adopts objects looks there first.
func (c *connection) Walk() *Walk {
	if c.session == nil {
		return &Walk{}
	}
	return c.session.Walk()
}

// DataSource is the base of every data source: it has the account's client.
type DataSource struct{ connection }

// Configure implements datasource.DataSourceWithConfigure.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.connect(req.ProviderData, &resp.Diagnostics)
}

// Ephemeral is the base of every ephemeral resource: it has the account's client.
type Ephemeral struct{ connection }

// Configure implements ephemeral.EphemeralResourceWithConfigure.
func (e *Ephemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	e.connect(req.ProviderData, &resp.Diagnostics)
}

// Leave has clear called when the provider ends, unless the object with the id is
// taken back before: after a run that failed or was interrupted, Terraform does not
// close what it has opened.
func (e *Ephemeral) Leave(id string, clear func(context.Context) error) { e.session.Leave(id, clear) }

// TakeBack says that an object is closed as it should be.
func (e *Ephemeral) TakeBack(id string) { e.session.TakeBack(id) }

// Action is the base of every action: it has the account's client.
type Action struct{ connection }

// Configure implements action.ActionWithConfigure.
func (a *Action) Configure(_ context.Context, req action.ConfigureRequest, resp *action.ConfigureResponse) {
	a.connect(req.ProviderData, &resp.Diagnostics)
}

// Progress tells how far an action has come, in whole sentences.
func Progress(resp *action.InvokeResponse, format string, args ...any) {
	resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
}
