package mailbox

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// createTimeout is how long a create takes at most, waiting for the mailbox
// included, where the configuration does not say.
const createTimeout = 20 * time.Minute

// Resource is mailhost_mailbox.
type Resource struct{ service.Resource }

var (
	_ resource.ResourceWithConfigure   = (*Resource)(nil)
	_ resource.ResourceWithIdentity    = (*Resource)(nil)
	_ resource.ResourceWithImportState = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan  = (*Resource)(nil)
)

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Tracked(&Resource{}, service.Kind[model]{Label: func(m model) string { return "mailbox " + m.address() }})
}

// Metadata implements resource.Resource.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_mailbox"
}

// Create implements resource.Resource.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, diags := plan.Timeouts.Create(ctx, createTimeout)
	resp.Diagnostics.Append(diags...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	created, resumed, err := c.CreateMailbox(ctx, api.CreateMailboxBody{
		Domain: plan.Domain.ValueString(), LocalPart: plan.LocalPart.ValueString(),
		FirstName: plan.FirstName.ValueString(), LastName: plan.LastName.ValueString(),
	})
	if err != nil {
		addCreateError(ctx, c, &resp.Diagnostics, err, plan)
		return
	}
	if resumed {
		service.AddResumed(&resp.Diagnostics, "mailbox "+created.PrimaryEmail, created.ID)
	}
	// From here on the mailbox exists: whatever happens, its id is kept.
	ready, err := awaitReady(ctx, c, created)
	if err != nil {
		service.AddNotReady(ctx, &resp.Diagnostics, "mailbox "+created.PrimaryEmail, ready.Status, err)
	}
	plan.fill(ready)
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), plan.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// addCreateError reports why a mailbox could not be created: because of its domain,
// because it exists, or because something else has its address or the account has as
// many as it may have.
func addCreateError(ctx context.Context, c *client.Client, diags *diag.Diagnostics, err error, plan model) {
	summary := "Can't create the mailbox " + plan.address()
	if !client.IsConflict(err) {
		service.AddError(diags, service.CreateError(ctx, err), summary, service.Fields{})
		return
	}
	next := service.UnusableDomain(ctx, c, plan.Domain.ValueString())
	if next == "" {
		next = conflictAdvice(ctx, c, plan)
	}
	service.AddErrorAdvising(diags, err, summary, service.Fields{}, next)
}

// conflictAdvice says what to do about the mailbox that has the address, if there is
// one.
func conflictAdvice(ctx context.Context, c *client.Client, plan model) string {
	address := plan.LocalPart.ValueString() + "@" + plan.Domain.ValueString()
	if d, err := c.GetDomain(ctx, plan.Domain.ValueString()); err == nil {
		address = plan.LocalPart.ValueString() + "@" + d.Name
	}
	switch _, err := c.FindMailbox(ctx, address); {
	case client.IsNotFound(err):
		return "No mailbox has this address. Remove what the API names, or choose another local_part, and run apply again."
	case err != nil:
		return "Choose another local_part, or remove what the API names, and run apply again."
	}
	return "The mailbox exists. " + service.ImportAdvice("mailhost_mailbox", address) +
		"\n\nIf another resource manages it, remove one of the two. For another mailbox, choose another local_part."
}

// awaitReady waits until a mailbox is no longer being provisioned. It returns
// the mailbox as it was last seen, with an error too.
func awaitReady(ctx context.Context, c *client.Client, m *api.Mailbox) (*api.Mailbox, error) {
	if m.Status != vocab.MailboxProvisioning {
		return m, nil
	}
	last, err := client.WaitFor(ctx, c,
		func(ctx context.Context) (*api.Mailbox, error) { return c.GetMailbox(ctx, m.ID) },
		func(m *api.Mailbox) (bool, error) { return m.Status != vocab.MailboxProvisioning, nil })
	if last == nil {
		last = m
	}
	return last, err
}

// Read implements resource.Resource.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), state.ID)...)
	m, err := c.GetMailbox(ctx, state.ID.ValueString())
	if !service.Found(ctx, resp, err, "mailbox "+state.address()) {
		return
	}
	state.fill(m)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// Update implements resource.Resource.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), state.ID)...)
	body := api.UpdateMailboxBody{
		FirstName: service.Changed(plan.FirstName, state.FirstName),
		LastName:  service.Changed(plan.LastName, state.LastName),
	}
	updated := plan
	if body == (api.UpdateMailboxBody{}) {
		updated.UpdatedAt = state.UpdatedAt // only timeouts changed, which the API does not know
	} else {
		m, err := c.UpdateMailbox(ctx, state.ID.ValueString(), body)
		if err != nil {
			service.AddError(&resp.Diagnostics, err, "Can't update the mailbox "+state.address(), service.Fields{})
			return
		}
		updated.fill(m)
		updated.keepPlanned(plan)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &updated)...)
}

// Delete implements resource.Resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	err := c.DeleteMailbox(ctx, state.ID.ValueString())
	service.Deleted(ctx, req, resp, err, "delete", state.remains())
}

// ImportState implements resource.ResourceWithImportState: by UUID, by address,
// or by identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Import(ctx, req, resp, func(ctx context.Context, c *client.Client, address string) (string, error) {
		m, err := c.FindMailbox(ctx, address)
		if client.IsNotFound(err) {
			err = fmt.Errorf("%w. Import by address, such as jane@example.com, or by UUID", err)
		}
		if err != nil {
			return "", err
		}
		return m.ID, nil
	})
}
