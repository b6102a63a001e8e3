package service

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// DropEmptyUpdate drops an update in which only attributes differ that the framework marked as
// unknown before the plan modifiers found that nothing changes. It drops nothing if the
// configuration has an unknown value, which may differ.
func DropEmptyUpdate(req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() || resp.Plan.Raw.IsNull() || len(resp.RequiresReplace) > 0 || !req.Config.Raw.IsFullyKnown() {
		return
	}
	if equalWhereKnown(resp.Plan.Raw, req.State.Raw) {
		resp.Plan.Raw = req.State.Raw
	}
}

// equalWhereKnown reports whether two values of one type are equal except for unknown parts of a.
func equalWhereKnown(a, b tftypes.Value) bool {
	var fieldsA, fieldsB map[string]tftypes.Value
	var itemsA, itemsB []tftypes.Value
	switch {
	case !a.IsKnown() || a.Equal(b):
		return true
	case a.IsNull() || b.IsNull():
		return false
	case a.As(&fieldsA) == nil && b.As(&fieldsB) == nil:
		return maps.EqualFunc(fieldsA, fieldsB, equalWhereKnown)
	}
	return a.As(&itemsA) == nil && b.As(&itemsB) == nil && slices.EqualFunc(itemsA, itemsB, equalWhereKnown)
}

// planReplacement plans the replacement of an object whose scope or an argument of ReplacedBy
// changes. An unknown value that turns out to be the same would delete mail or spend money for
// nothing, and is common: what depends on a change with depends_on is unknown in the plan. So it
// replaces no valuable object, unless it is the domain that the plan replaces. Should it be another
// value, core stops the apply with an inconsistent final plan, and the next plan knows it.
func (r *Resource[T, M]) planReplacement(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if resp.Plan.Raw.IsNull() {
		return
	}
	plan, state := attribute.RawOf(resp.Plan.Raw), attribute.RawOf(req.State.Raw)
	for _, name := range r.ReplacedBy {
		if !plan[name].Equal(state[name]) && (!r.IsValuable || plan[name].IsKnown() || name == "domain" && r.losesDomain(state)) {
			resp.RequiresReplace.Append(path.Root(name))
		}
	}
	if r.isScoped() {
		r.planScope(ctx, req, resp)
	}
}

// keepComputed keeps the values of computed attributes in the plan of an update, unless they are
// volatile or the configuration sets them.
func (r *Resource[T, M]) keepComputed(req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if resp.Plan.Raw.IsNull() {
		return
	}
	plan, config, state := attribute.RawOf(resp.Plan.Raw), attribute.RawOf(req.Config.Raw), attribute.RawOf(req.State.Raw)
	for name, a := range resp.Plan.Schema.GetAttributes() {
		if a.IsComputed() && !plan[name].IsKnown() && config[name].IsNull() && !slices.Contains(r.Volatile, name) {
			plan[name] = state[name]
		}
	}
	resp.Plan.Raw = tftypes.NewValue(resp.Plan.Raw.Type(), map[string]tftypes.Value(plan))
}

// losesDomain reports whether the plan destroys or replaces the domain of an object.
func (r *Resource[T, M]) losesDomain(state attribute.Raw) bool {
	return r.Walk().IsDestroyed(session.Object{Type: "mailhost_domain", ID: state.DomainID()})
}

// DestroysOrReplaces reports whether a plan destroys the object, or replaces it.
func DestroysOrReplaces(resp *resource.ModifyPlanResponse) bool {
	return resp.Plan.Raw.IsNull() || len(resp.RequiresReplace) > 0
}

// WarnDestroy warns that a plan destroys an object that is paid for. consequence
// describes the loss.
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
