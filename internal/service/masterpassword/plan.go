package masterpassword

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if req.State.Raw.IsNull() {
		planCreate(ctx, config, plan, resp)
		return
	}
	r.planSecret(ctx, req, config, plan, state, resp)
	service.DropEmptyUpdate(req, resp)
	if r.WillOrphan(ctx, req, resp) && plan.Name.Equal(state.Name) && plan.Domain.Equal(state.Domain) && plan.WorkspaceID.Equal(state.WorkspaceID) {
		resp.Diagnostics.AddAttributeError(path.Root("name"), "Another secret needs another name here",
			fmt.Sprintf("The %s can't be deleted, and keeps its name; one with the new secret can't have the same name in the same scope. Set another name together with the new secret, and remove the old master password in the service's own control panel.", state.String()))
	}
}

// planCreate requires a secret, and plans generated_secret. For a replacement, Terraform calls it
// after planSecret.
func planCreate(ctx context.Context, config, plan model, resp *resource.ModifyPlanResponse) {
	resp.Diagnostics.Append(config.checkCreate()...)
	config.warnShort(&resp.Diagnostics)
	if !plan.Generate.IsUnknown() && !plan.Generate.ValueBool() {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("generated_secret"), types.StringNull())...)
	}
}

// shortest is the minimum length of a secret without a warning. The API accepts shorter secrets.
const shortest = 12

func (m model) warnShort(diags *diag.Diagnostics) {
	if value := m.secret.expand(); value != nil && len([]rune(*value)) < shortest {
		diags.AddAttributeWarning(path.Root(m.secret.attribute()), "The secret of the "+m.String()+" is short",
			fmt.Sprintf("It opens every mailbox of %s. Use at least %d characters, or generate = true.", m.Label(), shortest))
	}
}

// planSecret plans a replacement if the secret changes, because the API can't change a secret.
// Otherwise the state records the configuration of the secret. See the table in the package
// comment.
func (r *Resource) planSecret(ctx context.Context, req resource.ModifyPlanRequest, config, plan, state model, resp *resource.ModifyPlanResponse) {
	resp.Diagnostics.Append(config.checkVersion(state.secret)...)
	stage := service.GetPrivate[importStage](ctx, req.Private, importStageKey)
	if resp.Diagnostics.HasError() {
		return
	}
	changed := state.changes(plan.secret)
	if len(changed) > 0 && state.recorded() {
		config.warnShort(&resp.Diagnostics)
	}
	switch {
	case len(changed) == 0:
		plan.GeneratedSecret = state.GeneratedSecret
	case config.absent():
		plan.GeneratedSecret = types.StringNull()
		if state.GeneratedSecret.IsNull() { // otherwise it is a loss
			warnForgotten(&resp.Diagnostics, state)
		}
	case state.sameSecretAs(config), !state.recorded() && stage == importing:
		plan.GeneratedSecret = types.StringNull()
	case !state.recorded() && stage == imported:
		addUncertain(&resp.Diagnostics, state, changed[0])
		return
	default:
		resp.RequiresReplace.Append(changed...)
		return
	}
	if len(r.ChangedArguments(ctx, state, plan)) == 0 {
		plan.UpdatedAt = state.UpdatedAt // see Update
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// laterSecret describes a secret that is set after the configuration has omitted one.
const laterSecret = "A secret that you set later replaces the master password, even if it is the same secret."

func warnForgotten(diags *diag.Diagnostics, state model) {
	last := "Only value_wo_version is removed from the state."
	if !state.Value.IsNull() {
		last = "The apply removes it from the state too."
	}
	diags.AddWarning("The secret of the "+state.String()+" is no longer managed",
		"The configuration no longer sets the secret, so it stays in use unchanged. "+last+"\n\n"+laterSecret)
}

// losses returns the losses of a planned change.
func losses(_ context.Context, ch service.Change[model]) []service.Loss {
	switch ch.Fate {
	case service.Destroyed, service.Replaced:
		l := ch.Ending("deletes", "the "+ch.Before.String(), service.Access)
		l.Consequence = fmt.Sprintf("Whoever uses it for a mailbox of %s is locked out: the old secret stops working.", ch.Before.Label())
		if ch.Fate == service.Replaced && !ch.Before.recorded() && len(ch.Replacing) > 0 {
			l.Because = fmt.Sprintf("Terraform does not know its secret, so the value of %s counts as a new one, and the API can't change a secret.", ch.Replacing[0])
		}
		return []service.Loss{l}
	case service.Updated:
		if !ch.Before.GeneratedSecret.IsNull() && !ch.After.recorded() {
			return []service.Loss{{
				Of: []service.Asset{service.Access}, Does: "removes the generated secret of the " + ch.Before.String() + " from the state",
				Because:     "The configuration no longer sets the secret. It stays in use unchanged, but the state has the only copy that Terraform knows.",
				Consequence: laterSecret,
				Keep:        "Store it elsewhere if you still need it, or set generate = true again.",
			}}
		}
	}
	return nil
}

// addUncertain adds the error of a secret that may be in use or new. Its advice does not
// include -replace, because Terraform plans the change before the replacement, and would stop
// at this error.
func addUncertain(diags *diag.Diagnostics, state model, at path.Path) {
	diags.AddAttributeError(at, "The secret of the "+state.String()+" is not known",
		fmt.Sprintf("The master password was imported, so Terraform can't know whether %s is the secret in use or a new one, and the API can't change a secret.\n\n"+
			"For a new secret, run terraform taint with the address of this resource: the next apply replaces the master password, and the old secret stops working. "+
			"If it is the one in use, remove the master password from the state with terraform state rm, and import it again with an import block: that plan records the secret without sending it. "+
			"To leave the secret as it is, remove it from the configuration.", at))
}
