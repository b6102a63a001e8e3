package domain

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// The values of acquisition.
const (
	acquisitionPurchase = "purchase"
	acquisitionAdopt    = "adopt"
)

// typeName is the name of the resource type.
const typeName = "mailhost_domain"

// Resource is mailhost_domain.
type Resource struct {
	service.Resource[api.Domain, model]
}

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Manage(&Resource{service.Resource[api.Domain, model]{Definition: Definition}})
}

// Create implements resource.Resource: it buys the domain or adopts it.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, c := r.Planned(ctx, req, resp)
	if c == nil {
		return
	}
	a := &acquisition{client: c, plan: plan}
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
	if created.PurchasePrice.IsUnknown() {
		created.PurchasePrice = types.StringNull() // no plan has shown it
	}
	r.SetCreated(ctx, resp, c, &created)
}

// Update implements resource.Resource.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan, state, c := r.Changed(ctx, req, resp)
	if c == nil {
		return
	}
	updated := plan
	if body := plan.changes(state); body != (api.UpdateDomainBody{}) {
		settings, err := c.UpdateDomain(ctx, state.ID.ValueString(), body)
		if err != nil {
			service.AddError(&resp.Diagnostics, err, "Can't update the "+state.String(), service.Fields{})
			return
		}
		updated.flattenSettings(settings)
		updated.readSideEffects(ctx, c, state)
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

// ImportState implements resource.ResourceWithImportState: by UUID, by name, or
// by identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Resource.ImportState(ctx, req, resp)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("acquisition"), acquisitionAdopt)...)
	}
}
