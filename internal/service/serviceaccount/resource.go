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
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

type Resource struct {
	service.Resource[api.ServiceAccount, model]
}

func NewResource() resource.Resource {
	return service.Chain(&Resource{service.Resource[api.ServiceAccount, model]{Definition: Definition}})
}

func (r *Resource) now(ctx context.Context) time.Time { return serverNow(ctx, r.ClientIfOpen(ctx)) }

// serverNow returns the time of the API's clock, which decides when a token expires. Without a
// client, it returns this machine's time.
func serverNow(ctx context.Context, c *client.Client) time.Time {
	if c == nil {
		return time.Now()
	}
	return time.Now().Add(c.ClockOffset(ctx))
}

func (r *Resource) Create(ctx context.Context, c *client.Client, plan model, req resource.CreateRequest, resp *resource.CreateResponse) {
	// Values that were unknown in the plan are known now.
	if checkPermissions(ctx, plan.Permissions, &resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	expiresAt := plan.expiry(func() time.Time { return serverNow(ctx, c) })
	created, err := c.CreateServiceAccount(ctx, api.CreateServiceAccountBody{
		Name: plan.Name.ValueString(), ExpiresAt: expiresAt,
	})
	willReplace := created != nil && r.WillReplace(ctx, c, created.ID, err)
	if err != nil {
		addCreateError(&resp.Diagnostics, err, "Can't create the "+plan.String(), plan.fields())
	}
	if err != nil && !willReplace {
		return
	}
	if err == nil && expiresAt == nil && created.ExpiresAt != nil {
		resp.Diagnostics.AddAttributeWarning(path.Root("expires_at"), fmt.Sprintf("The %s expires with the provider's credential", plan.String()),
			fmt.Sprintf("Its token stops working at %s, like the credential that created it. For a longer validity, create it with a credential that expires later.", *created.ExpiresAt))
	}
	attribute.Flatten(&plan, created)
	if err != nil {
		plan.Token = types.StringNull()
	}
	if err == nil && !plan.Permissions.IsNull() {
		if err := restrict(ctx, c, plan.ID.ValueString(), plan.Permissions, true); err != nil {
			plan.Token = types.StringNull()
			report.ErrorWithAdvice(&resp.Diagnostics, err, fmt.Sprintf("Can't restrict the %s to its permissions", plan.String()), permissionFields,
				fmt.Sprintf("The service account was created with the id %s. Its token may have more permissions than planned, so it was discarded: it is not in the state, and nobody has it. "+
					"The service account is tainted in Terraform's state: the next apply revokes it and creates another one.", plan.ID.ValueString()))
		}
	}
	r.SetCreated(ctx, resp, c, &plan)
}

// Update changes the permissions. The API can't change anything else.
func (r *Resource) Update(ctx context.Context, c *client.Client, plan, state model, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	if !plan.Permissions.IsNull() && !plan.Permissions.Equal(state.Permissions) {
		if err := restrict(ctx, c, plan.ID.ValueString(), plan.Permissions, false); err != nil {
			report.ErrorWithAdvice(&resp.Diagnostics, err, fmt.Sprintf("Can't change the permissions of the %s", plan.String()), permissionFields,
				"It may have some of the old permissions and some of the new ones; the next plan shows which.")
			return
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *Resource) Read(ctx context.Context, c *client.Client, state *model, req resource.ReadRequest, resp *resource.ReadResponse) error {
	a, err := c.ServiceAccounts.Get(ctx, state.ID.ValueString())
	switch {
	case errors.Is(err, client.ErrReadUnsupported):
	case err != nil:
		return err
	case a.RevokedAt != nil:
		resp.Diagnostics.AddWarning(fmt.Sprintf("The service account %q was revoked", a.Name),
			fmt.Sprintf("It was revoked at %s, outside Terraform, so its token no longer works. It is dropped from Terraform's state; the next apply creates a new one with a new token. Its id was %s.", *a.RevokedAt, a.ID))
		return client.ErrNotFound
	default:
		isImport := state.Name.IsNull()
		if isImport {
			resp.Diagnostics.AddWarning(fmt.Sprintf("The token of the imported service account %q is not known", a.Name),
				"The API returns a token only once, when the service account is created. After this import token stays null; whoever has the token can still use it. For a new token, replace the service account, for instance with terraform apply -replace. Without permissions, the new one has the rights of the provider's credential.")
		}
		r.SetModel(ctx, c.Domains.Get, state, a)
		if err := state.readPermissions(ctx, c, isImport); err != nil {
			return err
		}
	}
	warnExpired(&resp.Diagnostics, *state, serverNow(ctx, c))
	return err
}

func warnExpired(diags *diag.Diagnostics, state model, now time.Time) {
	if !past(state.ExpiresAt, now) {
		return
	}
	next := "For a new token, set another expires_at or valid_for"
	if !state.ValidFor.IsNull() {
		next = "The next apply replaces it"
	}
	diags.AddAttributeWarning(path.Root("expires_at"), fmt.Sprintf("The %s has expired", state.String()),
		fmt.Sprintf("Its token stopped working at %s. %s; if you no longer need it, remove the resource.", state.ExpiresAt.ValueString(), next))
}

func (r *Resource) Delete(ctx context.Context, c *client.Client, state model, req resource.DeleteRequest, resp *resource.DeleteResponse) error {
	if state.authenticates(c) {
		addOwn(&resp.Diagnostics, state)
		return nil
	}
	return c.ServiceAccounts.Delete(ctx, state.ID.ValueString())
}
