package masterpassword

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// Resource is mailhost_master_password.
type Resource struct{ service.Resource }

var (
	_ resource.ResourceWithConfigure      = (*Resource)(nil)
	_ resource.ResourceWithIdentity       = (*Resource)(nil)
	_ resource.ResourceWithImportState    = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan     = (*Resource)(nil)
	_ resource.ResourceWithValidateConfig = (*Resource)(nil)
)

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Tracked(&Resource{}, service.Kind[model]{Label: func(m model) string { return m.label() }})
}

// Metadata implements resource.Resource.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_master_password"
}

// Create implements resource.Resource.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var config, plan model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	// What was not known when the plan was made is known now.
	resp.Diagnostics.Append(config.check()...)
	if resp.Diagnostics.Append(config.checkCreate()...); resp.Diagnostics.HasError() {
		return
	}
	created, err := c.CreateMasterPassword(ctx, api.CreateMasterPasswordBody{
		Name:        plan.Name.ValueString(),
		Domain:      plan.Domain.ValueStringPointer(),
		WorkspaceID: plan.WorkspaceID.ValueStringPointer(),
		Generate:    plan.Generate.ValueBool(),
		Value:       config.given(), // a write-only value is in the configuration alone
	})
	if err != nil {
		addCreateError(ctx, c, &resp.Diagnostics, err, plan, config)
		return
	}
	plan.fill(ctx, c, &created.MasterPassword)
	plan.GeneratedSecret = types.StringPointerValue(created.GeneratedSecret)
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), plan.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	service.AddLeftovers(&resp.Diagnostics, plan.label(), created.Leftovers, "Its secret works, although nobody knows it: delete it.")
}

// addCreateError reports why a master password could not be created: because of its
// domain, or because its name is taken.
func addCreateError(ctx context.Context, c *client.Client, diags *diag.Diagnostics, err error, plan, config model) {
	summary, fields := "Can't create the "+plan.label(), service.Fields{"value": config.givenAt()}
	if !client.IsConflict(err) {
		service.AddError(diags, err, summary, fields)
		return
	}
	next := service.UnusableDomain(ctx, c, plan.Domain.ValueString())
	if next == "" {
		next = "For this secret choose another name. If that is the master password that you mean, keep its secret, which an import does not change. " +
			service.ImportAdvice("mailhost_master_password", plan.Key(plan.Name.ValueString())) +
			"\n\nBefore the command terraform import, remove the secret from the configuration. The import block records it as the one in use."
	}
	service.AddErrorAdvising(diags, err, summary, fields, next)
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
	p, err := c.GetMasterPassword(ctx, state.ID.ValueString())
	if !service.Found(ctx, resp, err, state.label()) {
		return
	}
	// An import leaves the name to the read that belongs to it.
	if stage := readImportStage(ctx, req.Private, &resp.Diagnostics); stage == importing && !state.Name.IsNull() {
		resp.Diagnostics.Append(imported.keep(ctx, resp.Private)...)
	}
	state.fill(ctx, c, p)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// Update implements resource.Resource. The API can change the name alone.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), state.ID)...)
	if name := service.Changed(plan.Name, state.Name); name != nil {
		p, err := c.RenameMasterPassword(ctx, state.ID.ValueString(), *name)
		if err != nil {
			service.AddError(&resp.Diagnostics, err, fmt.Sprintf("Can't rename the %s to %q", state.label(), *name), service.Fields{})
			return
		}
		plan.fill(ctx, c, p)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	resp.Diagnostics.Append(settled.keep(ctx, resp.Private)...)
}

// Delete implements resource.Resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	err := c.DeleteMasterPassword(ctx, state.ID.ValueString())
	service.Deleted(ctx, req, resp, err, "delete", state.remains())
}

// ImportState implements resource.ResourceWithImportState: by UUID, by name with
// the scope before it, or by identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Import(ctx, req, resp, func(ctx context.Context, c *client.Client, key string) (string, error) {
		p, err := service.FindScoped(key, func(scope client.Scope, name string) (*api.MasterPassword, error) {
			return c.FindMasterPassword(ctx, name, scope)
		})
		if client.IsNotFound(err) {
			err = fmt.Errorf("%w. Import by <domain>/<name>, <workspace UUID>/<name>, <name> alone for a master password of the account, or by UUID", err)
		}
		if err != nil {
			return "", err
		}
		return p.ID, nil
	})
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(importing.keep(ctx, resp.Private)...)
	resp.Diagnostics.AddAttributeWarning(path.Root("value"), "The secret of the imported master password is not known",
		"The API does not return it, and the import does not change it. If an import block imports the master password, its plan records the secret that the configuration gives (value, value_wo or generate) as the one in use, without sending it: check that it is. "+
			"After the command terraform import, and in later runs, a secret that is added is an error that says how to go on: it may be the one in use or a new one.")
}
