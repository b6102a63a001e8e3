package serviceaccount

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// Resource is mailhost_service_account.
type Resource struct {
	service.Resource

	now func() time.Time
}

var (
	_ resource.ResourceWithConfigure      = (*Resource)(nil)
	_ resource.ResourceWithIdentity       = (*Resource)(nil)
	_ resource.ResourceWithImportState    = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan     = (*Resource)(nil)
	_ resource.ResourceWithValidateConfig = (*Resource)(nil)
)

// NewResource returns the resource.
func NewResource() resource.Resource { return track(&Resource{now: time.Now}) }

func track(r *Resource) resource.Resource {
	return service.Tracked(r, service.Kind[model]{Label: func(m model) string { return m.label() }})
}

// serverNow returns the time by the API's clock, which decides when a token expires.
// Without a connection it is this machine's time.
func (r *Resource) serverNow(ctx context.Context) time.Time {
	if c := r.ClientForWarning(ctx); c != nil {
		return r.now().Add(c.ClockOffset(ctx))
	}
	return r.now()
}

// Metadata implements resource.Resource.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_service_account"
}

// Create implements resource.Resource.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	asked := plan.expiry(func() time.Time { return r.serverNow(ctx) })
	created, err := c.CreateServiceAccount(ctx, api.CreateServiceAccountBody{
		Name: plan.Name.ValueString(), ExpiresAt: asked,
	})
	if err != nil {
		addCreateError(&resp.Diagnostics, err, "Can't create the "+plan.label(), plan.fields())
		return
	}
	if asked == nil && created.ExpiresAt != nil {
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, inheritedKey, []byte("true"))...)
		resp.Diagnostics.AddAttributeWarning(path.Root("expires_at"), fmt.Sprintf("The %s expires with the provider's credential", plan.label()),
			fmt.Sprintf("Its token stops working at %s, as the credential does that has created it. For one that lasts longer, create it with a credential that does.", *created.ExpiresAt))
	}
	plan.fill(&created.ServiceAccount)
	plan.Token = types.StringValue(created.Token)
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), plan.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	service.AddLeftovers(&resp.Diagnostics, plan.label(), created.Leftovers, "Nobody knows their tokens, but they count as valid: revoke them.")
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
	a, err := c.GetServiceAccount(ctx, state.ID.ValueString())
	switch {
	case client.IsNotFound(err):
		resp.State.RemoveResource(ctx)
	case errors.Is(err, client.ErrReadUnsupported) && state.Name.IsNull():
		addNoImport(&resp.Diagnostics, state.ID.ValueString())
	case errors.Is(err, client.ErrReadUnsupported): // what the create answered is all there is to know
		warnExpired(&resp.Diagnostics, state, r.serverNow(ctx))
	case err != nil:
		service.AddError(&resp.Diagnostics, err, "Can't read the "+state.label(), nil)
	case a.RevokedAt != nil:
		resp.Diagnostics.AddWarning(fmt.Sprintf("The service account %q was revoked", a.Name),
			fmt.Sprintf("It was revoked at %s, outside Terraform, so its token no longer works and never will again. It is dropped from Terraform's state; the next apply makes a new one with a new token. Its id was %s.", *a.RevokedAt, a.ID))
		resp.State.RemoveResource(ctx)
	default:
		state.fill(a)
		warnExpired(&resp.Diagnostics, state, r.serverNow(ctx))
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	}
}

func warnExpired(diags *diag.Diagnostics, state model, now time.Time) {
	if !past(state.ExpiresAt, now) {
		return
	}
	next := "For a new one give another expires_at or valid_for"
	if !state.ValidFor.IsNull() {
		next = "The next apply replaces it"
	}
	diags.AddAttributeWarning(path.Root("expires_at"), fmt.Sprintf("The %s has expired", state.label()),
		fmt.Sprintf("Its token stopped working at %s. %s; without use for it, remove the resource.", state.ExpiresAt.ValueString(), next))
}

// Update implements resource.Resource. Nothing of a service account can be
// changed; an update only takes down what the API does not know.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), state.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Delete implements resource.Resource: it revokes the service account.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if state.authenticates(c) {
		addOwn(&resp.Diagnostics, state)
		return
	}
	err := c.RevokeServiceAccount(ctx, state.ID.ValueString())
	service.Deleted(ctx, req, resp, err, "revoke", state.remains(r.serverNow(ctx)))
}

// ImportState implements resource.ResourceWithImportState: by UUID, by name, or
// by identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	unsupported := false
	r.Import(ctx, req, resp, func(ctx context.Context, c *client.Client, name string) (string, error) {
		a, err := c.FindServiceAccount(ctx, name)
		if client.IsNotFound(err) {
			err = fmt.Errorf("%w among those that are not revoked. Import by name or by UUID", err)
		}
		if err != nil {
			unsupported = errors.Is(err, client.ErrReadUnsupported)
			return "", err
		}
		return a.ID, nil
	})
	switch {
	case unsupported:
		resp.Diagnostics = nil
		addNoImport(&resp.Diagnostics, req.ID)
	case !resp.Diagnostics.HasError():
		resp.Diagnostics.AddWarning("The token of the imported service account is not known",
			"The API tells a token only once, when the service account is created. After this import token is null and stays so; who has the token goes on using it. For a new token, replace the service account, for instance with terraform apply -replace.")
	}
}

// addNoImport is the error of an import from an API that tells nothing of
// service accounts.
func addNoImport(diags *diag.Diagnostics, key string) {
	diags.AddError(fmt.Sprintf("Can't import the service account %q", key),
		"This API has no operation that reads or lists service accounts, so there is nothing to import from. Create a new one with Terraform, give its token to those who use the old one, and revoke the old one in the service's own control panel.")
}
