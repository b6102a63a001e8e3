package mailbox

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

type Resource struct {
	service.Resource[api.Mailbox, model]
}

func NewResource() resource.Resource {
	return service.Chain(&Resource{service.Resource[api.Mailbox, model]{Definition: Definition}})
}

func (r *Resource) Create(ctx context.Context, c *client.Client, plan model, req resource.CreateRequest, resp *resource.CreateResponse) {
	created, err := r.create(ctx, c, plan)
	if err != nil {
		service.AddCreateError(ctx, c, &resp.Diagnostics, err, plan, plan.Domain.ValueString(), report.Fields{},
			func() string { return conflictAdvice(ctx, c, plan) })
		return
	}
	// The mailbox exists from here on: its id goes into the state in any case.
	service.ConfirmTargets(ctx, c, r.Walk(), []string{created.PrimaryEmail}, &resp.Diagnostics)
	if created.Status == vocab.MailboxProvisioning {
		created = r.AwaitReady(ctx, c, created, "mailbox "+created.PrimaryEmail, vocab.MailboxProvisioning, func(m *api.Mailbox) string { return m.Status }, &resp.Diagnostics)
	}
	plan.flatten(created)
	r.SetCreated(ctx, resp, c, &plan)
}

// create creates the mailbox or, if on_existing allows it, adopts the existing mailbox.
func (r *Resource) create(ctx context.Context, c *client.Client, plan model) (*api.Mailbox, error) {
	if !service.Adopts(plan.OnExisting) {
		return c.CreateMailbox(ctx, plan.expandCreate())
	}
	found, err := findIn(ctx, c, plan)
	switch {
	case client.IsNotFound(err):
		return c.CreateMailbox(ctx, plan.expandCreate())
	case err != nil:
		return nil, err
	}
	var before model
	before.flatten(found)
	if body := plan.expandUpdate(before); body != (api.UpdateMailboxBody{}) {
		return c.UpdateMailbox(ctx, found.ID, body)
	}
	return found, nil
}

// findIn finds the mailbox with the planned address by its domain's name or id.
func findIn(ctx context.Context, c *client.Client, plan model) (*api.Mailbox, error) {
	d, err := c.Domains.Get(ctx, plan.Domain.ValueString())
	if err != nil {
		return nil, err
	}
	return c.FindMailbox(ctx, plan.LocalPart.ValueString()+"@"+d.Name)
}

func (r *Resource) Update(ctx context.Context, c *client.Client, plan, state model, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	body, updated := plan.expandUpdate(state), plan
	if body == (api.UpdateMailboxBody{}) {
		updated.UpdatedAt = state.UpdatedAt // only timeouts changed, which are not sent
	} else {
		m, err := c.UpdateMailbox(ctx, state.ID.ValueString(), body)
		if err != nil {
			report.Error(&resp.Diagnostics, err, "Can't update the "+state.String(), report.Fields{})
			return
		}
		updated.flatten(m)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &updated)...)
}

// conflictAdvice returns advice about the existing mailbox or, without one, about the conflict.
func conflictAdvice(ctx context.Context, c *client.Client, plan model) string {
	found, err := findIn(ctx, c, plan)
	if err != nil {
		return "Choose another local_part, or remove what the API names, and run apply again."
	}
	return "The mailbox exists. For another one, choose another local_part. " + service.ExistsAdvice("mailhost_mailbox", found.PrimaryEmail)
}
