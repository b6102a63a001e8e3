package forwarding

import (
	"context"
	"errors"
	"fmt"
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
type Resource struct{ service.Resource }

var (
	_ resource.ResourceWithConfigure   = (*Resource)(nil)
	_ resource.ResourceWithIdentity    = (*Resource)(nil)
	_ resource.ResourceWithImportState = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan  = (*Resource)(nil)
)

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Tracked(&Resource{}, service.Kind[model]{Label: func(m model) string { return m.String() }})
}

// Metadata implements resource.Resource.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_forwarding"
}

// Create implements resource.Resource.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	created, resumed, err := c.CreateForwarding(ctx, api.CreateForwardingBody{
		TargetEmail: plan.TargetEmail.ValueString(), Domain: plan.Domain.ValueStringPointer(), WorkspaceID: plan.WorkspaceID.ValueStringPointer(),
	})
	if err != nil {
		addCreateError(ctx, c, &resp.Diagnostics, err, plan)
		return
	}
	if resumed {
		service.AddResumed(&resp.Diagnostics, "forwarding rule to "+created.TargetEmail, created.ID)
	}
	// From here on the rule exists: whatever happens, its id is kept.
	active := plan.Active
	plan.fill(ctx, c, created)
	if active.ValueBool() && !plan.confirmed() {
		plan.Active = active
		resp.Diagnostics.Append(note{On: true}.keep(ctx, resp.Private)...)
	}
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), plan.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	if isFalse(active) {
		switchOffNew(ctx, c, plan, resp)
	}
}

// addCreateError reports why a rule could not be created: because of its domain, or
// because it exists already.
func addCreateError(ctx context.Context, c *client.Client, diags *diag.Diagnostics, err error, plan model) {
	summary := "Can't create the " + plan.String()
	if !client.IsConflict(err) {
		addError(diags, err, summary)
		return
	}
	next := service.UnusableDomain(ctx, c, plan.Domain.ValueString())
	if next == "" {
		next = "There is one rule for a scope and a target. " + service.ImportAdvice("mailhost_forwarding", plan.Key(plan.TargetEmail.ValueString())) +
			"\n\nIf another resource manages it, remove one of the two. For another rule, change target_email, domain or workspace_id."
	}
	service.AddErrorAdvising(diags, err, summary, service.Fields{}, next)
}

// addError reports an error of a request that may send a verification message.
func addError(diags *diag.Diagnostics, err error, summary string) {
	if !tooManyMessages(err) {
		service.AddError(diags, err, summary, service.Fields{})
		return
	}
	service.AddErrorAdvising(diags, err, summary, service.Fields{},
		"The API limits verification messages for each recipient and for each account, to protect recipients. Run apply again after that time: it goes on with what is left. "+
			"Forwarding to an address of the account needs no message and is not limited.")
}

// tooManyMessages reports whether the API refused a request because of the message
// that it would send, and not because of how many requests there were.
func tooManyMessages(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && refused.Status == http.StatusTooManyRequests && len(refused.ProblemsAt("body", "target_email")) > 0
}

// switchOffNew switches off a rule that was created just now.
func switchOffNew(ctx context.Context, c *client.Client, created model, resp *resource.CreateResponse) {
	f, err := c.SetForwardingActive(ctx, created.ID.ValueString(), false)
	switch {
	case err == nil:
		created.fill(ctx, c, f)
	case errors.Is(err, client.ErrUpdateUnsupported):
		// No error: Terraform would create the rule again, which would help nothing.
		resp.Diagnostics.AddAttributeWarning(path.Root("active"), "The "+created.String()+" is not switched off",
			"The rule was created. "+noSwitch("off")+" "+created.goesOn())
	default:
		service.AddError(&resp.Diagnostics, err, "The "+created.String()+" was created, but can't be switched off", nil)
		return
	}
	created.Active = types.BoolValue(false)
	resp.Diagnostics.Append(resp.State.Set(ctx, &created)...)
	resp.Diagnostics.Append(note{Off: true}.keep(ctx, resp.Private)...)
}

// Read implements resource.Resource.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	known := readNote(ctx, req.Private, &resp.Diagnostics)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), state.ID)...)
	f, err := c.GetForwarding(ctx, state.ID.ValueString())
	if !service.Found(ctx, resp, err, state.String()) {
		return
	}
	state.fill(ctx, c, f)
	if known.On && !state.confirmed() {
		state.Active = types.BoolValue(true)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// Delete implements resource.Resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	err := c.DeleteForwarding(ctx, state.ID.ValueString()) // gone with its domain, for instance
	service.Deleted(ctx, req, resp, err, "delete", state.remains())
}

// ImportState implements resource.ResourceWithImportState: by UUID, by scope and
// target, or by identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Import(ctx, req, resp, func(ctx context.Context, c *client.Client, key string) (string, error) {
		f, err := service.FindScoped(key, func(scope client.Scope, target string) (*api.Forwarding, error) {
			return c.FindForwarding(ctx, target, scope)
		})
		if client.IsNotFound(err) {
			return "", fmt.Errorf("%w. Import by <domain>/<target>, <workspace UUID>/<target>, <target> alone for a rule of the account, or the rule's UUID", err)
		}
		if err != nil {
			return "", err
		}
		return f.ID, nil
	})
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(note{Imported: true}.keep(ctx, resp.Private)...)
	}
}
