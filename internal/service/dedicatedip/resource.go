package dedicatedip

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// Resource is mailhost_dedicated_ip.
type Resource struct {
	service.Resource[api.DedicatedIP, model]
}

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Manage(&Resource{service.Resource[api.DedicatedIP, model]{Definition: Definition}})
}

// Create implements resource.Resource.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, c := r.Planned(ctx, req, resp)
	if c == nil {
		return
	}
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
	ready, err := service.AwaitReady(ctx, c, claimed,
		func(d *api.DedicatedIP) bool { return d.Status != vocab.DedicatedIPProvisioning },
		func(ctx context.Context) (*api.DedicatedIP, error) { return c.GetDedicatedIP(ctx, claimed.ID) })
	if err != nil {
		service.WarnNotReady(ctx, &resp.Diagnostics, "dedicated IP "+claimed.Name, ready.Status, err)
	}
	r.SetModel(ctx, c, &plan, ready)
	r.SetCreated(ctx, resp, c, &plan)
}
