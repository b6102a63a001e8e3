package service

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

// WarnDestroy warns that a plan destroys a paid object. consequence describes the loss.
func WarnDestroy(diags *diag.Diagnostics, object, consequence string) {
	diags.AddWarning(fmt.Sprintf("The plan destroys the %s", object),
		report.Paragraphs(consequence, "If the API can't delete it, it stays and is only dropped from Terraform's state.",
			"To keep it and only remove it from the state, use a removed block with destroy = false (or terraform state rm) instead."))
}

// WarnReplace warns that a plan replaces an object, because of a change.
func WarnReplace(diags *diag.Diagnostics, object, because, consequence string) {
	diags.AddWarning(fmt.Sprintf("The plan replaces the %s", object), report.Paragraphs(because, consequence,
		"Apply only if you intend that; to keep the object, undo the change. With lifecycle { destroy = false }, OpenTofu only forgets it, and Terraform deletes it all the same."))
}

// warnOrphan warns that the API can't delete an object, in the plan of its destroy and in the apply.
func (r *Resource[T, M]) warnOrphan(ctx context.Context, c *client.Client, raw tftypes.Value, state M, diags *diag.Diagnostics) {
	next := ". It can't be imported again, because this API can't read it either."
	if slices.ContainsFunc(api.Specs(), func(s api.Spec) bool {
		return s.Kind == r.DeleteOperation.Kind && s.Method == http.MethodGet && !s.Lifecycle()
	}) {
		next = "; to manage it again, import it."
	}
	diags.AddWarning(fmt.Sprintf("The %s will still exist", state), report.Paragraphs(
		"This API has no operation that deletes it, so it is only dropped from Terraform's state. Its id is "+attribute.TextOf(raw, "id")+".", r.OrphanConsequence(ctx, c, state),
		"If you no longer need it, remove it in the service's own control panel"+next))
}

// WillOrphan reports whether a plan destroys or replaces an object that the API can't delete. It can't
// detect a replacement by -replace: Terraform shows no warnings of the second plan, and the first
// plan looks like a change.
func (r *Resource[T, M]) WillOrphan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) bool {
	if r.OrphanConsequence == nil || resp.Diagnostics.HasError() || !DestroysOrReplaces(resp) {
		return false
	}
	c := r.ClientIfOpen(ctx)
	return c != nil && !c.Supports(ctx, r.DeleteOperation, attribute.TextOf(req.State.Raw, "id"))
}

// warnOrphanInPlan warns in a plan about an object that it orphans.
func (r *Resource[T, M]) warnOrphanInPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state M
	if !r.WillOrphan(ctx, req, resp) {
		return
	}
	if resp.Diagnostics.Append(req.State.Get(ctx, &state)...); !resp.Diagnostics.HasError() {
		r.warnOrphan(ctx, r.ClientIfOpen(ctx), req.State.Raw, state, &resp.Diagnostics)
	}
}
