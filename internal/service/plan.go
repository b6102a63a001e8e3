package service

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// KeepEqual returns a plan modifier that keeps the prior spelling of an equal value, such as one
// in another case. Put it before RequiresReplace. Semantic equality of a custom type does not
// suffice, because the framework compares responses with it and not configurations.
func KeepEqual(equal func(a, b string) bool) planmodifier.String {
	return KeepPrior(func(_ context.Context, _ planmodifier.StringRequest, a, b string) (bool, diag.Diagnostics) {
		return equal(a, b), nil
	})
}

// keepDomainRef returns a plan modifier that keeps the prior reference to a domain if the
// configuration refers to the same domain in another way.
func keepDomainRef(idAttribute string) planmodifier.String {
	return KeepPrior(func(ctx context.Context, req planmodifier.StringRequest, _, config string) (bool, diag.Diagnostics) {
		var id, name types.String
		diags := req.State.GetAttribute(ctx, path.Root(idAttribute), &id)
		diags.Append(req.State.GetAttribute(ctx, path.Root("domain_name"), &name)...)
		return customtype.RefersTo(config, id.ValueString(), name.ValueString()), diags
	})
}

// KeepPrior is a plan modifier that keeps the prior value if it means the same as the
// configured one.
type KeepPrior func(ctx context.Context, req planmodifier.StringRequest, prior, config string) (same bool, diags diag.Diagnostics)

func (KeepPrior) Description(context.Context) string {
	return "keeps the prior spelling of an equal value"
}

func (k KeepPrior) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

func (k KeepPrior) PlanModifyString(ctx context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if req.StateValue.IsNull() || req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	same, diags := k(ctx, req, req.StateValue.ValueString(), req.ConfigValue.ValueString())
	resp.Diagnostics.Append(diags...)
	if same {
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
	if !a.IsKnown() || a.Equal(b) {
		return true
	}
	if a.IsNull() || b.IsNull() {
		return false
	}
	var fieldsA, fieldsB map[string]tftypes.Value
	if a.As(&fieldsA) == nil && b.As(&fieldsB) == nil {
		for name, value := range fieldsA {
			if other, ok := fieldsB[name]; !ok || !equalWhereKnown(value, other) {
				return false
			}
		}
		return len(fieldsA) == len(fieldsB)
	}
	var itemsA, itemsB []tftypes.Value
	if a.As(&itemsA) != nil || b.As(&itemsB) != nil {
		return false
	}
	return slices.EqualFunc(itemsA, itemsB, equalWhereKnown)
}

// Changed returns a planned value for an update, or nil if it equals the state: an
// update sends only what changed.
func Changed(plan, state types.String) *string {
	if plan.Equal(state) || plan.IsUnknown() {
		return nil
	}
	return plan.ValueStringPointer()
}

// DestroysOrReplaces reports whether a plan destroys the object, or replaces it because of a change
// of ReplacedBy, of others, whose plan modifiers replace it too, or of what ModifyPlan has found.
func (m *Managing) DestroysOrReplaces(req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, others ...string) bool {
	if req.State.Raw.IsNull() {
		return false
	}
	for _, name := range m.ReplacedBy {
		if !m.IsValuable || !isUnknown(resp.Plan.Raw, name) { // see replaces
			others = append(others, name)
		}
	}
	return resp.Plan.Raw.IsNull() || len(resp.RequiresReplace) > 0 || anyDiffers(resp.Plan.Raw, req.State.Raw, others)
}

func isUnknown(object tftypes.Value, attribute string) bool {
	var fields map[string]tftypes.Value
	return object.As(&fields) == nil && fields != nil && !fields[attribute].IsKnown()
}

// anyDiffers reports whether two objects differ in one of the attributes.
func anyDiffers(a, b tftypes.Value, attributes []string) bool {
	var fieldsA, fieldsB map[string]tftypes.Value
	if a.As(&fieldsA) != nil || b.As(&fieldsB) != nil {
		return false
	}
	return slices.ContainsFunc(attributes, func(name string) bool { return !fieldsA[name].Equal(fieldsB[name]) })
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
