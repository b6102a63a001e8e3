package masterpassword

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

type Resource struct {
	service.Resource[api.MasterPassword, model]
}

func NewResource() resource.Resource {
	return service.Chain(&Resource{service.Resource[api.MasterPassword, model]{Definition: Definition}})
}

func (r *Resource) Create(ctx context.Context, c *client.Client, plan model, req resource.CreateRequest, resp *resource.CreateResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	// Values that were unknown in the plan are known now.
	resp.Diagnostics.Append(config.check()...)
	if resp.Diagnostics.Append(config.checkCreate()...); resp.Diagnostics.HasError() {
		return
	}
	created, err := c.CreateMasterPassword(ctx, api.CreateMasterPasswordBody{
		Name:        plan.Name.ValueString(),
		Domain:      plan.Domain.ValueStringPointer(),
		WorkspaceID: plan.WorkspaceID.ValueStringPointer(),
		Generate:    plan.Generate.ValueBool(),
		Value:       config.expand(), // only the configuration contains a write-only value
	})
	willReplace := created != nil && r.WillReplace(ctx, c, created.ID, err)
	if err != nil {
		service.AddCreateError(ctx, c, &resp.Diagnostics, err, plan, "", report.Fields{"value": config.attribute()}, plan.conflictAdvice)
	}
	if err != nil && !willReplace {
		return
	}
	r.SetModel(ctx, c.Domains.Get, &plan, &created.MasterPassword)
	plan.GeneratedSecret = types.StringPointerValue(created.GeneratedSecret)
	r.SetCreated(ctx, resp, c, &plan)
}

func (m model) conflictAdvice() string {
	return "To use this secret, choose another name. If the existing master password is the one you want, import it: that does not change its secret. " +
		report.ImportAdvice("mailhost_master_password", m.ImportKey(m.Name.ValueString())) +
		"\n\nThe import block records the secret of the configuration as the one in use: check that it is."
}

func (r *Resource) Read(ctx context.Context, c *client.Client, state *model, req resource.ReadRequest, resp *resource.ReadResponse) error {
	isImport := state.Name.IsNull()
	if err := r.Resource.Read(ctx, c, state, req, resp); err != nil {
		return err
	}
	switch stage := service.GetPrivate[importStage](ctx, req.Private, importStageKey); {
	case stage != importing:
	case isImport:
		resp.Diagnostics.AddAttributeWarning(path.Root("value"), fmt.Sprintf("The secret of the imported master password %q is not known", state.Name.ValueString()),
			"The API does not return it, and the import does not change it. If an import block imports the master password, its plan records the configured secret (value, value_wo or generate) as the one in use, without sending it: check that it is. "+
				"After the command terraform import, and in later runs, adding a secret is an error that explains what to do, because it may be the one in use or a new one.")
	default:
		resp.Diagnostics.Append(service.SetPrivate(ctx, resp.Private, importStageKey, imported)...)
	}
	return nil
}

// Update sends nothing if only values unknown to the API changed, such as the attribute of the secret.
func (r *Resource) Update(ctx context.Context, c *client.Client, plan, state model, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	if len(r.ChangedArguments(ctx, state, plan)) > 0 {
		p, err := c.RenameMasterPassword(ctx, state.ID.ValueString(), api.RenameMasterPasswordBody{Name: plan.Name.ValueString()})
		if err != nil {
			report.Error(&resp.Diagnostics, err, fmt.Sprintf("Can't rename the %s to %q", state.String(), plan.Name.ValueString()), report.Fields{})
			return
		}
		r.SetModel(ctx, c.Domains.Get, &plan, p)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	resp.Diagnostics.Append(service.SetPrivate(ctx, resp.Private, importStageKey, notImported)...)
}
