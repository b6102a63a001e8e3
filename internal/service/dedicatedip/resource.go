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

// createTimeout is the default limit of a claim, including the wait until the address
// is ready.
const createTimeout = 30 * time.Minute

// Resource is mailhost_dedicated_ip.
type Resource struct {
	service.Resource[resourceModel]
}

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Manage(&Resource{service.Resource[resourceModel]{Definition: service.Definition[resourceModel]{
		Name:  "dedicated_ip",
		Label: func(m resourceModel) string { return "dedicated IP " + m.display() },
		Find: func(ctx context.Context, c *client.Client, nameOrIP string) (string, error) {
			d, err := c.FindDedicatedIP(ctx, nameOrIP)
			if err != nil {
				return "", err
			}
			return d.ID, nil
		},
		DeleteVerb:      "release",
		DeleteOperation: api.ReleaseDedicatedIP.Spec,
		Orphaned: func(context.Context, resourceModel) string {
			return "It stays claimed, and it is still paid for."
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
	if plan.OptionID.ValueString() == "" {
		addOptionMissing(ctx, c, &resp.Diagnostics)
		return
	}
	claimed, err := c.ClaimDedicatedIP(ctx, plan.OptionID.ValueString())
	if err != nil {
		addClaimError(ctx, c, &resp.Diagnostics, err, plan.OptionID.ValueString())
		return
	}
	// The address is charged from here on: its id goes into the state in any case.
	ready, err := awaitReady(ctx, c, claimed)
	if err != nil {
		service.WarnNotReady(ctx, &resp.Diagnostics, "dedicated IP "+claimed.Name, ready.Status, err)
	}
	plan.flatten(ready)
	r.SetCreated(ctx, resp, c, &plan)
}

// awaitReady waits until an address is provisioned. It returns the dedicated IP as last
// read, also with an error.
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
	r.ReadObject(ctx, req, resp, func(c *client.Client, state *resourceModel) error {
		d, err := c.GetDedicatedIP(ctx, state.ID.ValueString())
		if err == nil {
			state.flatten(d)
		}
		return err
	})
}

// Update implements resource.Resource. The API can't change a dedicated IP: only
// timeouts differ, or the option_id of an imported one.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	if plan, _, c := r.Changed(ctx, req, resp); c != nil {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	}
}

// Delete implements resource.Resource: it releases the address.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.DeleteObject(ctx, req, resp, func(c *client.Client, state resourceModel) error {
		err := c.ReleaseDedicatedIP(ctx, state.ID.ValueString())
		if client.IsConflict(err) {
			return service.WithAdvice(err, "Nothing was released. Unassign the address from those domains in the service's own control panel, and run destroy again.")
		}
		return err
	})
}
