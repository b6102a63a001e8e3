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

// createTimeout is how long a create takes at most, waiting for the registry
// included, where the configuration does not say.
const createTimeout = 30 * time.Minute

// Resource is mailhost_domain.
type Resource struct{ service.Resource }

var (
	_ resource.ResourceWithConfigure   = (*Resource)(nil)
	_ resource.ResourceWithIdentity    = (*Resource)(nil)
	_ resource.ResourceWithImportState = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan  = (*Resource)(nil)
)

// What acquisition and on_existing may be.
const (
	purchased = "purchase"
	adoption  = "adopt"
	refusal   = "error"
)

// typeName is the name of the resource's type.
const typeName = "mailhost_domain"

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Tracked(&Resource{}, service.Kind[model]{
		Label: func(m model) string { return "domain " + m.display() },
		Key:   "name", Canonical: canonical,
	})
}

// Metadata implements resource.Resource.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_domain"
}

// Create implements resource.Resource: it buys the domain, or adopts it.
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
	a := &acquisition{client: c, walk: r.Walk(), plan: plan}
	a.run(ctx, &resp.Diagnostics)
	if a.domain == nil {
		return
	}
	created := plan
	created.fill(a.domain)
	created.keepPlanned(plan)
	if created.Acquisition = types.StringValue(purchased); a.adopted {
		created.Acquisition = types.StringValue(adoption)
	}
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), created.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &created)...)
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
	d, err := c.GetDomain(ctx, state.ID.ValueString())
	if !service.Found(ctx, resp, err, "domain "+state.display()) {
		return
	}
	state.fill(d)
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
	updated := plan
	if body := plan.changes(state.record); body != (api.UpdateDomainBody{}) {
		settings, err := c.UpdateDomain(ctx, state.ID.ValueString(), body)
		if err != nil {
			service.AddError(&resp.Diagnostics, err, "Can't update the domain "+state.display(), service.Fields{})
			return
		}
		updated.fillSettings(settings)
		updated.fillConsequences(ctx, c, state.record)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &updated)...)
}

// fillConsequences reads what an update changes and does not answer. That it
// can't be read is no failure of the update: the next refresh tells it.
func (m *record) fillConsequences(ctx context.Context, c *client.Client, before record) {
	now := before
	if d, err := c.GetDomain(ctx, m.ID.ValueString()); err == nil {
		now.fill(d)
	}
	m.UpdatedAt = now.UpdatedAt
	if m.RedirectMode.IsUnknown() {
		m.RedirectMode = now.RedirectMode
	}
}

// Delete implements resource.Resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	err := c.DeleteDomain(ctx, state.ID.ValueString())
	if client.IsConflict(err) {
		service.AddErrorAdvising(&resp.Diagnostics, err, "Can't delete the domain "+state.display(), nil, "Nothing was deleted. "+
			"Run destroy again if mailboxes of this configuration were being destroyed at the same time. So that Terraform destroys them first, let each mailbox refer to the domain, for instance with domain = mailhost_domain.main.name, or give it depends_on. "+
			"Delete or import mailboxes that the configuration does not have. "+
			"To keep the domain, take it out of the state with `terraform state rm` or a removed block.")
		return
	}
	service.Deleted(ctx, req, resp, err, "delete", state.remains())
}

// ImportState implements resource.ResourceWithImportState: by UUID, by name, or
// by identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Import(ctx, req, resp, func(ctx context.Context, c *client.Client, name string) (string, error) {
		d, err := c.FindDomain(ctx, name)
		if err != nil {
			return "", err
		}
		return d.ID, nil
	})
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("acquisition"), adoption)...)
	}
}
