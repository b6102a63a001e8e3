package dedicatedip

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// createTimeout is how long a claim takes at most, waiting for the address
// included, where the configuration does not say.
const createTimeout = 30 * time.Minute

// loss says what it means to give an address back.
const loss = "The address goes back to the service with the reputation that it has earned, and can't be had again; mail then leaves from other addresses."

// Resource is mailhost_dedicated_ip.
type Resource struct{ service.Resource }

var (
	_ resource.ResourceWithConfigure   = (*Resource)(nil)
	_ resource.ResourceWithIdentity    = (*Resource)(nil)
	_ resource.ResourceWithImportState = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan  = (*Resource)(nil)
)

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Tracked(&Resource{}, service.Kind[model]{Label: func(m model) string { return "dedicated IP " + m.display() }})
}

// Metadata implements resource.Resource.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_dedicated_ip"
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
	if plan.OptionID.ValueString() == "" {
		addOptionMissing(ctx, c, &resp.Diagnostics)
		return
	}
	claimed, err := c.ClaimDedicatedIP(ctx, plan.OptionID.ValueString())
	if err != nil {
		addClaimError(ctx, c, &resp.Diagnostics, err, plan.OptionID.ValueString())
		return
	}
	// From here on the address is paid for: whatever happens, its id is kept.
	ready, err := awaitReady(ctx, c, claimed)
	if err != nil {
		service.AddNotReady(ctx, &resp.Diagnostics, "dedicated IP "+claimed.Name, ready.Status, err)
	}
	plan.fill(ready)
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), plan.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// awaitReady waits until an address is no longer being provisioned. It returns
// the dedicated IP as it was last seen, with an error too.
func awaitReady(ctx context.Context, c *client.Client, d *api.DedicatedIP) (*api.DedicatedIP, error) {
	if d.Status != vocab.DedicatedIPProvisioning {
		return d, nil
	}
	last, err := client.WaitFor(ctx, c,
		func(ctx context.Context) (*api.DedicatedIP, error) { return c.GetDedicatedIP(ctx, d.ID) },
		func(d *api.DedicatedIP) (bool, error) { return d.Status != vocab.DedicatedIPProvisioning, nil })
	if last == nil {
		last = d
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
	d, err := c.GetDedicatedIP(ctx, state.ID.ValueString())
	if !service.Found(ctx, resp, err, "dedicated IP "+state.display()) {
		return
	}
	state.fill(d)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// Update implements resource.Resource. The API can't change a dedicated IP: what
// differs is timeouts, or the option_id of one that was imported.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), plan.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Delete implements resource.Resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	err := c.ReleaseDedicatedIP(ctx, state.ID.ValueString())
	if client.IsConflict(err) {
		service.AddErrorAdvising(&resp.Diagnostics, err, "Can't give back the dedicated IP "+state.display(), nil, "Nothing was given back. Take the address off those domains in the service's own control panel, and run destroy again.")
		return
	}
	service.Deleted(ctx, req, resp, err, "give back", state.remains())
}

// ImportState implements resource.ResourceWithImportState: by UUID, by name, by
// IP address, or by identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Import(ctx, req, resp, func(ctx context.Context, c *client.Client, nameOrIP string) (string, error) {
		d, err := c.FindDedicatedIP(ctx, nameOrIP)
		if err != nil {
			return "", err
		}
		return d.ID, nil
	})
}
