package forwarding

import (
	"context"
	"errors"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// Resource is mailhost_forwarding.
type Resource struct {
	service.Resource[api.Forwarding, model]
}

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Manage(&Resource{service.Resource[api.Forwarding, model]{Definition: Definition}})
}

// Create implements resource.Resource.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, c := r.Planned(ctx, req, resp)
	if c == nil {
		return
	}
	created, err := r.create(ctx, c, plan)
	switch {
	case tooManyMessages(err):
		addError(&resp.Diagnostics, err, "Can't create the "+plan.String())
		return
	case err != nil:
		service.AddCreateError(ctx, c, &resp.Diagnostics, err, plan, "", service.Fields{}, plan.conflictAdvice)
		return
	}
	// The rule exists from here on: its id goes into the state in any case.
	active := plan.Active
	r.SetModel(ctx, c, &plan, created)
	if active.ValueBool() && !plan.confirmed() {
		plan.Active = active
		resp.Diagnostics.Append(switchState{On: true}.store(ctx, resp.Private)...)
	}
	r.SetCreated(ctx, resp, c, &plan)
	if isFalse(active) {
		switchOffNew(ctx, c, plan, resp)
	}
}

// create creates the rule or, if on_existing says so, adopts the rule that exists.
func (r *Resource) create(ctx context.Context, c *client.Client, plan model) (*api.Forwarding, error) {
	if service.Adopts(plan.OnExisting) {
		switch found, err := c.FindForwarding(ctx, plan.TargetEmail.ValueString(), plan.Expand()); {
		case err == nil && plan.Active.ValueBool() && !found.Active && confirmed(found.VerificationState):
			return c.SetForwardingActive(ctx, found.ID, true)
		case !client.IsNotFound(err):
			return found, err
		}
	}
	return c.CreateForwarding(ctx, api.CreateForwardingBody{
		TargetEmail: plan.TargetEmail.ValueString(), Domain: plan.Domain.ValueStringPointer(), WorkspaceID: plan.WorkspaceID.ValueStringPointer(),
	})
}

// conflictAdvice returns what to do about the rule that exists.
func (m model) conflictAdvice() string {
	return "A scope has one rule for a target. " + service.ExistingAdvice("mailhost_forwarding", m.ImportKey(m.TargetEmail.ValueString())) +
		" For another rule, change target_email, domain or workspace_id."
}

// addError reports an error of a request that may send a verification message.
func addError(diags *diag.Diagnostics, err error, summary string) {
	if !tooManyMessages(err) {
		service.AddError(diags, err, summary, service.Fields{})
		return
	}
	service.AddErrorWithAdvice(diags, err, summary, service.Fields{},
		"The API limits verification messages for each recipient and for each account, to protect recipients. Run apply again after that time: it continues with the remaining changes. "+
			"Forwarding to an address of the account needs no message and is not limited.")
}

// tooManyMessages reports whether the API refused a request because of the limit of
// verification messages, and not because of the limit of requests.
func tooManyMessages(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && refused.Status == http.StatusTooManyRequests && len(refused.ProblemsAt("body", "target_email")) > 0
}

// switchOffNew switches off a new rule.
func switchOffNew(ctx context.Context, c *client.Client, created model, resp *resource.CreateResponse) {
	f, err := c.SetForwardingActive(ctx, created.ID.ValueString(), false)
	switch {
	case err == nil:
		Definition.SetModel(ctx, c, &created, f)
	case errors.Is(err, client.ErrUpdateUnsupported):
		// An error would make Terraform create the rule again, which can't be switched off
		// either.
		resp.Diagnostics.AddAttributeWarning(path.Root("active"), "The "+created.String()+" is not switched off",
			"The rule was created. "+noSwitchAdvice("off")+" "+created.stillForwards())
	default:
		service.AddError(&resp.Diagnostics, err, "The "+created.String()+" was created, but can't be switched off", nil)
		return
	}
	created.Active = types.BoolValue(false)
	resp.Diagnostics.Append(resp.State.Set(ctx, &created)...)
	resp.Diagnostics.Append(switchState{Off: true}.store(ctx, resp.Private)...)
}

// Read implements resource.Resource.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	known := readSwitchState(ctx, req.Private, &resp.Diagnostics)
	r.ReadObject(ctx, req, resp, func(c *client.Client, state *model) error {
		f, err := c.GetForwarding(ctx, state.ID.ValueString())
		if err != nil {
			return err
		}
		r.SetModel(ctx, c, state, f)
		if known.On && !state.confirmed() {
			state.Active = types.BoolValue(true)
		}
		return nil
	})
}

// ImportState implements resource.ResourceWithImportState: by UUID, by scope and
// target, or by identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Resource.ImportState(ctx, req, resp)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(switchState{Imported: true}.store(ctx, resp.Private)...)
	}
}
