package masterpassword

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

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

// planCreate asks for a secret, and lets the plan say whether it will be a
// generated one. A replacement is planned here too, the second time.
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

// planSecret plans a replacement where the secret changes, for the API has no
// operation that changes it. Where it stays, what the configuration says of it
// is only taken down: after an import, which can't tell the secret, where it moves
// from one attribute to another, as out of the state into value_wo, and where the
// configuration says nothing of it any more.
func planSecret(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var config, plan, state model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(config.checkVersion(state.secret)...)
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
	case !state.recorded(), state.sameSecretAs(config):
		plan.GeneratedSecret = types.StringNull()
	default:
		resp.RequiresReplace.Append(changed...)
		return
	}
	if plan.Name.Equal(state.Name) {
		plan.UpdatedAt = state.UpdatedAt // nothing is sent
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// addForgotten warns of what comes of a secret that the configuration says nothing
// of any more.
func addForgotten(diags *diag.Diagnostics, state model) {
	last := "It is not in the state, so that nothing is lost but value_wo_version."
	if !state.GeneratedSecret.IsNull() {
		last = "The state has the only copy of the generated secret that Terraform knows of: keep one elsewhere if it is still needed."
	} else if !state.Value.IsNull() {
		last = "The state forgets it too."
	}
	diags.AddWarning("The secret of the "+state.label()+" is no longer managed",
		"The configuration says nothing of the secret any more, so it stays in use as it is. "+last+
			"\n\nWhat the configuration says of it later is taken down without being sent, as after an import. For a new secret, give it and replace the master password, for instance with terraform apply -replace.")
}
