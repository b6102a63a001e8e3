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
	service.Resource[resourceModel]

	now func() time.Time
}

var _ resource.ResourceWithValidateConfig = (*Resource)(nil)

// NewResource returns the resource.
func NewResource() resource.Resource { return newResource(time.Now) }

func newResource(now func() time.Time) resource.Resource {
	r := &Resource{now: now}
	r.Definition = service.Definition[resourceModel]{
		Name:  "service_account",
		Label: func(m resourceModel) string { return m.label() },
		Find: func(ctx context.Context, c *client.Client, name string) (string, error) {
			a, err := c.FindServiceAccount(ctx, name)
			if client.IsNotFound(err) {
				err = fmt.Errorf("%w among those that are not revoked", err)
			}
			if err != nil {
				return "", err
			}
			return a.ID, nil
		},
		ImportBy:        "name or by UUID",
		DeleteVerb:      "revoke",
		DeleteOperation: api.RevokeServiceAccount.Spec,
		Orphaned:        func(ctx context.Context, m resourceModel) string { return stillWorks(m, r.serverNow(ctx)) },
		Unreadable:      true,
	}
	return service.Manage(r)
}

// serverNow returns the time of the API's clock, which decides when a token expires.
// Without a connection it is this machine's time.
func (r *Resource) serverNow(ctx context.Context) time.Time {
	if c := r.ClientForWarning(ctx); c != nil {
		return r.now().Add(c.ClockOffset(ctx))
	}
	return r.now()
}

// Create implements resource.Resource.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, c := r.Planned(ctx, req, resp)
	if c == nil {
		return
	}
	expiresAt := plan.expiry(func() time.Time { return r.serverNow(ctx) })
	created, err := c.CreateServiceAccount(ctx, api.CreateServiceAccountBody{
		Name: plan.Name.ValueString(), ExpiresAt: expiresAt,
	})
	if err != nil {
		addCreateError(&resp.Diagnostics, err, "Can't create the "+plan.label(), plan.fields())
		return
	}
	if expiresAt == nil && created.ExpiresAt != nil {
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, inheritedKey, []byte("true"))...)
		resp.Diagnostics.AddAttributeWarning(path.Root("expires_at"), fmt.Sprintf("The %s expires with the provider's credential", plan.label()),
			fmt.Sprintf("Its token stops working at %s, like the credential that created it. For a longer validity, create it with a credential that expires later.", *created.ExpiresAt))
	}
	plan.flatten(&created.ServiceAccount)
	plan.Token = types.StringValue(created.Token)
	r.SetCreated(ctx, resp, c, &plan)
	service.WarnDuplicates(&resp.Diagnostics, plan.label(), created.Leftovers, "Nobody knows their tokens, but they are valid: revoke them.")
}

// Read implements resource.Resource. An API that can't read service accounts leaves the
// state as it is.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	r.ReadObject(ctx, req, resp, func(c *client.Client, state *resourceModel) error {
		a, err := c.GetServiceAccount(ctx, state.ID.ValueString())
		switch {
		case errors.Is(err, client.ErrReadUnsupported) && state.Name.IsNull():
			addNoImport(&resp.Diagnostics, state.ID.ValueString())
			return nil
		case errors.Is(err, client.ErrReadUnsupported):
		case err != nil:
			return err
		case a.RevokedAt != nil:
			resp.Diagnostics.AddWarning(fmt.Sprintf("The service account %q was revoked", a.Name),
				fmt.Sprintf("It was revoked at %s, outside Terraform, so its token no longer works. It is dropped from Terraform's state; the next apply creates a new one with a new token. Its id was %s.", *a.RevokedAt, a.ID))
			return client.ErrNotFound
		default:
			state.flatten(a)
		}
		warnExpired(&resp.Diagnostics, *state, r.serverNow(ctx))
		return nil
	})
}

func warnExpired(diags *diag.Diagnostics, state resourceModel, now time.Time) {
	if !past(state.ExpiresAt, now) {
		return
	}
	next := "For a new token, set another expires_at or valid_for"
	if !state.ValidFor.IsNull() {
		next = "The next apply replaces it"
	}
	diags.AddAttributeWarning(path.Root("expires_at"), fmt.Sprintf("The %s has expired", state.label()),
		fmt.Sprintf("Its token stopped working at %s. %s; if you no longer need it, remove the resource.", state.ExpiresAt.ValueString(), next))
}

// Update implements resource.Resource. The API can't change a service account; an update
// only stores attributes that the API does not have.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	if plan, _, c := r.Changed(ctx, req, resp); c != nil {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	}
}

// Delete implements resource.Resource: it revokes the service account.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.DeleteObject(ctx, req, resp, func(c *client.Client, state resourceModel) error {
		if state.authenticates(c) {
			addOwn(&resp.Diagnostics, state)
			return nil
		}
		return c.RevokeServiceAccount(ctx, state.ID.ValueString())
	})
}

// ImportState implements resource.ResourceWithImportState: by UUID, by name, or
// by identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	unsupported := false
	r.ImportFound(ctx, req, resp, func(ctx context.Context, c *client.Client, name string) (string, error) {
		id, err := r.Find(ctx, c, name)
		unsupported = errors.Is(err, client.ErrReadUnsupported)
		return id, err
	})
	switch {
	case unsupported:
		resp.Diagnostics = nil
		addNoImport(&resp.Diagnostics, req.ID)
	case !resp.Diagnostics.HasError():
		resp.Diagnostics.AddWarning("The token of the imported service account is not known",
			"The API returns a token only once, when the service account is created. After this import token stays null; whoever has the token can still use it. For a new token, replace the service account, for instance with terraform apply -replace.")
	}
}

// addNoImport adds the error of an import from an API that can't read service accounts.
func addNoImport(diags *diag.Diagnostics, key string) {
	diags.AddError(fmt.Sprintf("Can't import the service account %q", key),
		"This API has no operation that reads or lists service accounts, so none can be imported. Create a new one with Terraform, give its token to the users of the old one, and revoke the old one in the service's own control panel.")
}
