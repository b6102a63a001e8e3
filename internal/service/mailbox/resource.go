package mailbox

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// createTimeout is the default limit of a create, including the wait until the
// mailbox is ready.
const createTimeout = 20 * time.Minute

// Resource is mailhost_mailbox.
type Resource struct {
	service.Resource[resourceModel]
}

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Manage(&Resource{service.Resource[resourceModel]{Definition: service.Definition[resourceModel]{
		Name:  "mailbox",
		Label: func(m resourceModel) string { return "mailbox " + m.address() },
		Find: func(ctx context.Context, c *client.Client, address string) (string, error) {
			m, err := c.FindMailbox(ctx, address)
			if err != nil {
				return "", err
			}
			return m.ID, nil
		},
		ImportBy:        "address, such as jane@example.com, or by UUID",
		DeleteOperation: api.DeleteMailbox.Spec,
		Orphaned: func(context.Context, resourceModel) string {
			return "It keeps receiving mail, and it is still paid for."
		},
	}}})
}

// Create implements resource.Resource.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, c := r.Planned(ctx, req, resp)
	if c == nil {
		return
	}
	timeout, diags := plan.Timeouts.Create(ctx, createTimeout)
	if resp.Diagnostics.Append(diags...); diags.HasError() {
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
		service.WarnResumed(&resp.Diagnostics, "mailbox "+created.PrimaryEmail, created.ID)
	}
	// The mailbox exists from here on: its id goes into the state in any case.
	ready, err := awaitReady(ctx, c, created)
	if err != nil {
		service.WarnNotReady(ctx, &resp.Diagnostics, "mailbox "+created.PrimaryEmail, ready.Status, err)
	}
	plan.flatten(ready)
	r.SetCreated(ctx, resp, c, &plan)
}

// awaitReady waits until a mailbox is provisioned. It returns the mailbox as last
// read, also with an error.
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
	r.ReadObject(ctx, req, resp, func(c *client.Client, state *resourceModel) error {
		m, err := c.GetMailbox(ctx, state.ID.ValueString())
		if err == nil {
			state.flatten(m)
		}
		return err
	})
}

// Update implements resource.Resource.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan, state, c := r.Changed(ctx, req, resp)
	if c == nil {
		return
	}
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
		updated.flatten(m)
		updated.keepPlanned(plan)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &updated)...)
}

// Delete implements resource.Resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.DeleteObject(ctx, req, resp, func(c *client.Client, state resourceModel) error {
		return c.DeleteMailbox(ctx, state.ID.ValueString())
	})
}

// addCreateError reports why a mailbox could not be created, with advice for a
// conflict: the domain is not active, or the address is in use.
func addCreateError(ctx context.Context, c *client.Client, diags *diag.Diagnostics, err error, plan resourceModel) {
	summary := "Can't create the mailbox " + plan.address()
	if !client.IsConflict(err) {
		service.AddError(diags, service.CreateError(ctx, err), summary, service.Fields{})
		return
	}
	next := service.InactiveDomainAdvice(ctx, c, plan.Domain.ValueString())
	if next == "" {
		next = conflictAdvice(ctx, c, plan)
	}
	service.AddErrorWithAdvice(diags, err, summary, service.Fields{}, next)
}

// conflictAdvice returns what to do about the mailbox that has the address, if there
// is one.
func conflictAdvice(ctx context.Context, c *client.Client, plan resourceModel) string {
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
