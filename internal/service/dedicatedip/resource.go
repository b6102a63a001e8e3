package dedicatedip

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

type Resource struct {
	service.Resource[api.DedicatedIP, model]
}

func NewResource() resource.Resource {
	return service.Manage(&Resource{service.Resource[api.DedicatedIP, model]{Definition: Definition}})
}

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

const maxOptions = 10

func addClaimError(ctx context.Context, c *client.Client, diags *diag.Diagnostics, err error, optionID string) {
	summary := "Can't claim a dedicated IP from the option " + optionID
	_, unknown := errors.AsType[*client.UnknownOutcomeError](err)
	switch {
	case unknown:
		service.AddErrorWithAdvice(diags, err, summary, nil,
			"Check the account for an address that is in no Terraform state, and import it by its id or IP: otherwise you pay for it unused. If there is none, nothing was claimed: run apply again.")
	case client.IsConflict(err):
		var exhausted diag.Diagnostics
		service.AddErrorWithAdvice(&exhausted, err, summary, nil, "Nothing was claimed. If the option is exhausted: "+optionAdvice(ctx, c))
		for _, d := range exhausted {
			diags.Append(diag.WithPath(path.Root("option_id"), d))
		}
	case len(client.ProblemsAt(err, "body", "option_id")) > 0:
		service.AddErrorWithAdvice(diags, err, summary, service.Fields{}, optionAdvice(ctx, c))
	default:
		service.AddError(diags, service.CreateError(ctx, err), summary, service.Fields{})
	}
}

func addOptionMissing(ctx context.Context, c *client.Client, diags *diag.Diagnostics) {
	diags.AddAttributeError(path.Root("option_id"), "option_id is missing to claim a dedicated IP",
		"No address is in the state, so this resource has to claim one, and a claim needs an option.\n\n"+
			optionAdvice(ctx, c)+" If the account has the address already, import it: an import needs no option_id.")
}

// optionAdvice lists the options to choose from, or explains where to find them if the
// API can't list them.
func optionAdvice(ctx context.Context, c *client.Client) string {
	var left []string
	for o, err := range c.ListDedicatedIPOptions(ctx) {
		switch {
		case err != nil:
			return "Set option_id to an option that has addresses left; the service's own control panel shows them."
		case o.Available > 0 && len(left) < maxOptions:
			left = append(left, fmt.Sprintf("%s (%s, %s, %d left)", o.ID, o.Name, o.CountryCode, o.Available))
		}
	}
	if len(left) == 0 {
		return "No option has addresses left: release a dedicated IP that you no longer need, or try again later."
	}
	return "Set option_id to an option that has addresses left: " + strings.Join(left, "; ") + "."
}
