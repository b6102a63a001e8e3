package masterpassword

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// ValidateConfig implements resource.ResourceWithValidateConfig.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(config.check()...)
	}
}

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case req.Plan.Raw.IsNull():
		r.announceRemains(ctx, req, resp)
		return
	case req.State.Raw.IsNull():
		planCreate(ctx, req, resp)
		return
	}
	r.PlanScope(ctx, req, resp)
	planSecret(ctx, req, resp)
	service.SettlePlan(ctx, req, resp)
	r.announceRemains(ctx, req, resp)
}

// planCreate requires a secret, and plans whether there will be a generated one.
// Terraform plans a replacement here too, after planSecret.
func planCreate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var config, plan model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(config.checkCreate()...)
	if !plan.Generate.IsUnknown() && !plan.Generate.ValueBool() {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("generated_secret"), types.StringNull())...)
	}
}

// planSecret plans a replacement if the secret changes, because the API has no
// operation that changes it. If it stays, the state records what the configuration
// says of it. The package comment has the table.
func planSecret(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var config, plan, state model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(config.checkVersion(state.secret)...)
	stage := readImportStage(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	changed := state.changes(plan.secret)
	switch {
	case len(changed) == 0:
		plan.GeneratedSecret = state.GeneratedSecret
	case config.absent():
		plan.GeneratedSecret = types.StringNull()
		addForgotten(&resp.Diagnostics, state)
	case state.sameSecretAs(config), !state.recorded() && stage == importing:
		plan.GeneratedSecret = types.StringNull()
	case !state.recorded() && stage == imported:
		addUncertain(&resp.Diagnostics, state, changed[0])
		return
	default:
		if !state.recorded() {
			addReplaced(&resp.Diagnostics, state, changed[0])
		}
		resp.RequiresReplace.Append(changed...)
		return
	}
	if plan.Name.Equal(state.Name) {
		plan.UpdatedAt = state.UpdatedAt // nothing is sent
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// addForgotten warns that the configuration no longer gives the secret.
func addForgotten(diags *diag.Diagnostics, state model) {
	last := "It is not in the state, so that nothing is lost but value_wo_version."
	if !state.GeneratedSecret.IsNull() {
		last = "The state has the only copy of the generated secret that Terraform knows of: keep one elsewhere if it is still needed."
	} else if !state.Value.IsNull() {
		last = "The state forgets it too."
	}
	diags.AddWarning("The secret of the "+state.label()+" is no longer managed",
		"The configuration does not give the secret any more, so it stays in use as it is. "+last+
			"\n\nA secret that the configuration gives later replaces the master password, even if it is the same one.")
}

// addReplaced warns that a secret was added to a master password whose secret is not
// known.
func addReplaced(diags *diag.Diagnostics, state model, at path.Path) {
	service.AnnounceReplacement(diags, state.label(),
		fmt.Sprintf("Terraform does not know its secret, so the one that %s gives counts as a new one, and the API can't change a secret.", at),
		"The old secret stops working.")
}

// addUncertain refuses a secret that may be the one in use or a new one. The ways out
// do not include -replace: Terraform plans the change before it plans the
// replacement, and would stop here.
func addUncertain(diags *diag.Diagnostics, state model, at path.Path) {
	diags.AddAttributeError(at, "The secret of the "+state.label()+" is not known",
		fmt.Sprintf("The master password was imported, so Terraform can't know whether %s gives the secret in use or a new one, and the API can't change a secret.\n\n"+
			"For a new secret, run terraform taint with the address of this resource: the next apply replaces the master password, and the old secret stops working. "+
			"If it is the one in use, take the master password out of the state with terraform state rm, and import it again with an import block: that plan records the secret without sending it. "+
			"To leave the secret as it is, remove it from the configuration.", at))
}

// remains is the master password where the API can't delete it.
func (m model) remains() service.Remains {
	return service.Remains{
		Object: m.label(), ID: m.ID.ValueString(),
		Consequence: fmt.Sprintf("THE PASSWORD STILL WORKS: whoever knows it can use every mailbox of %s. Its name stays taken there; to create another one, choose another name.", m.Client()),
	}
}

// announceRemains warns in a plan that gives the master password up, where the API
// can't delete it. Another one of the same name and scope can't be made then.
func (r *Resource) announceRemains(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state model
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	remains := r.AnnounceRemains(ctx, req, resp, state.remains(), api.DeleteMasterPassword.Spec)
	if !remains || resp.Plan.Raw.IsNull() {
		return
	}
	var plan model
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	if plan.Name.Equal(state.Name) && plan.Domain.Equal(state.Domain) && plan.WorkspaceID.Equal(state.WorkspaceID) {
		resp.Diagnostics.AddAttributeError(path.Root("name"), "Another secret needs another name here",
			fmt.Sprintf("The %s can't be deleted, and keeps its name; one with the new secret can't have the same name in the same scope. Give another name together with the new secret, and remove the old master password in the service's own control panel.", state.label()))
	}
}
