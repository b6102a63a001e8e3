package domain

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// createTimeout is the default limit of a create, including the wait for the
// registry.
const createTimeout = 30 * time.Minute

// The values of acquisition and on_existing.
const (
	acquisitionPurchase = "purchase"
	acquisitionAdopt    = "adopt"
	onExistingAdopt     = "adopt"
	onExistingError     = "error"
)

// typeName is the name of the resource type.
const typeName = "mailhost_domain"

// Resource is mailhost_domain.
type Resource struct {
	service.Resource[resourceModel]
}

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Manage(&Resource{service.Resource[resourceModel]{Definition: service.Definition[resourceModel]{
		Name:  "domain",
		Label: func(m resourceModel) string { return "domain " + m.display() },
		Key:   "name", Canonical: canonical,
		Find: func(ctx context.Context, c *client.Client, name string) (string, error) {
			d, err := c.FindDomain(ctx, name)
			if err != nil {
				return "", err
			}
			return d.ID, nil
		},
		DeleteOperation: api.DeleteDomain.Spec,
		Orphaned: func(_ context.Context, m resourceModel) string {
			if m.AutoRenew.ValueBool() {
				return "It keeps receiving mail and answering DNS queries. Because auto_renew is on, its registration will be renewed and charged again."
			}
			return "It keeps receiving mail and answering DNS queries until its registration ends."
		},
	}}})
}

// Create implements resource.Resource: it buys the domain or adopts it.
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
	a := &acquisition{client: c, walk: r.Walk(), plan: plan}
	a.run(ctx, &resp.Diagnostics)
	if a.domain == nil {
		return
	}
	created := plan
	created.flatten(a.domain)
	created.keepPlanned(plan)
	if created.Acquisition = types.StringValue(acquisitionPurchase); a.adopted {
		created.Acquisition = types.StringValue(acquisitionAdopt)
	}
	r.SetCreated(ctx, resp, c, &created)
}

// Read implements resource.Resource.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	r.ReadObject(ctx, req, resp, func(c *client.Client, state *resourceModel) error {
		d, err := c.GetDomain(ctx, state.ID.ValueString())
		if err == nil {
			state.flatten(d)
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
	updated := plan
	if body := plan.changes(state.model); body != (api.UpdateDomainBody{}) {
		settings, err := c.UpdateDomain(ctx, state.ID.ValueString(), body)
		if err != nil {
			service.AddError(&resp.Diagnostics, err, "Can't update the domain "+state.display(), service.Fields{})
			return
		}
		updated.flattenSettings(settings)
		updated.readSideEffects(ctx, c, state.model)
		updated.keepPlanned(plan) // somebody else may have changed them since the plan
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &updated)...)
}

// readSideEffects reads the attributes that an update changes but its response does
// not include. If the read fails, the update still succeeded, and the next refresh
// reads them.
func (m *model) readSideEffects(ctx context.Context, c *client.Client, before model) {
	now := before
	if d, err := c.GetDomain(ctx, m.ID.ValueString()); err == nil {
		now.flatten(d)
	}
	m.UpdatedAt = now.UpdatedAt
	if m.RedirectMode.IsUnknown() {
		m.RedirectMode = now.RedirectMode
	}
}

// Delete implements resource.Resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.DeleteObject(ctx, req, resp, func(c *client.Client, state resourceModel) error {
		err := c.DeleteDomain(ctx, state.ID.ValueString())
		if client.IsConflict(err) {
			return service.WithAdvice(err, "Nothing was deleted. "+
				"Run destroy again if mailboxes of this configuration were being destroyed at the same time. To make Terraform destroy them first, let each mailbox refer to the domain, for instance with domain = mailhost_domain.main.name, or give it depends_on. "+
				"Delete or import mailboxes that the configuration does not have. "+
				"To keep the domain, remove it from the state with `terraform state rm` or a removed block.")
		}
		return err
	})
}

// ImportState implements resource.ResourceWithImportState: by UUID, by name, or
// by identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Resource.ImportState(ctx, req, resp)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("acquisition"), acquisitionAdopt)...)
	}
}
