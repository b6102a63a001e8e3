package service

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// KeepEqual returns a plan modifier that keeps the prior spelling of an equal value, such as one
// in another case. Put it before RequiresReplace. Semantic equality of a custom type does not
// suffice, because the framework compares responses with it and not configurations.
func KeepEqual(equal func(a, b string) bool) planmodifier.String {
	return KeepPrior(func(_ Attributes, a, b string) bool { return equal(a, b) })
}

// keepDomainRef is a [KeepPrior] that keeps the prior reference to a domain if the configuration
// refers to the same domain in another way.
func keepDomainRef(state Attributes, _, config string) bool {
	return customtype.RefersTo(config, state.domainID(), state.Text("domain_name"))
}

// KeepPrior is a plan modifier that keeps the prior value if it means the same as the configured
// one, in an object with the attributes of the state.
type KeepPrior func(state Attributes, prior, config string) bool

func (KeepPrior) Description(context.Context) string {
	return "keeps the prior spelling of an equal value"
}

func (k KeepPrior) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

func (k KeepPrior) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if req.StateValue.IsNull() || req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if k(attributesOf(req.State.Raw), req.StateValue.ValueString(), req.ConfigValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}

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

// Changed returns the value of a planned attribute for an update, or nil if it equals the state: an
// update sends only what changed.
func Changed[T any](plan, state attr.Value, value *T) *T {
	if plan.Equal(state) || plan.IsUnknown() {
		return nil
	}
	return value
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
	plan, state := attributesOf(resp.Plan.Raw), attributesOf(req.State.Raw)
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
	plan, config, state := attributesOf(resp.Plan.Raw), attributesOf(req.Config.Raw), attributesOf(req.State.Raw)
	for name, a := range resp.Plan.Schema.GetAttributes() {
		if a.IsComputed() && !plan[name].IsKnown() && config[name].IsNull() && !slices.Contains(r.Volatile, name) {
			plan[name] = state[name]
		}
	}
	resp.Plan.Raw = tftypes.NewValue(resp.Plan.Raw.Type(), map[string]tftypes.Value(plan))
}

// losesDomain reports whether the plan destroys or replaces the domain of an object.
func (r *Resource[T, M]) losesDomain(state Attributes) bool {
	return r.Walk().IsDestroyed(session.Object{Type: "mailhost_domain", ID: state.domainID()})
}

// DestroysOrReplaces reports whether a plan destroys the object, or replaces it.
func DestroysOrReplaces(resp *resource.ModifyPlanResponse) bool {
	return resp.Plan.Raw.IsNull() || len(resp.RequiresReplace) > 0
}

// WarnDestroy warns that a plan destroys an object that is paid for. consequence
// describes the loss.
func WarnDestroy(diags *diag.Diagnostics, object, consequence string) {
	diags.AddWarning(fmt.Sprintf("The plan destroys the %s", object),
		paragraphs(consequence, "If the API can't delete it, it stays and is only dropped from Terraform's state.",
			"To keep it and only remove it from the state, use a removed block with destroy = false (or terraform state rm) instead."))
}

// WarnReplace warns that a plan replaces an object, because of a change.
func WarnReplace(diags *diag.Diagnostics, object, because, consequence string) {
	diags.AddWarning(fmt.Sprintf("The plan replaces the %s", object), paragraphs(because, consequence,
		"Apply only if you intend that; to keep the object, undo the change. With lifecycle { destroy = false }, OpenTofu only forgets it, and Terraform deletes it all the same."))
}
