package service

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// KeepEqual plans to keep the prior value where the configuration says the same
// in other words: another case, another form of a name. Put it before
// RequiresReplace. Semantic equality alone is not enough: the framework asks it
// of answers, not of configurations, so an imported object would get a plan.
func KeepEqual(equal func(a, b string) bool) planmodifier.String { return keepEqual(equal) }

type keepEqual func(a, b string) bool

func (keepEqual) Description(context.Context) string {
	return "keeps the prior spelling of an equal value"
}

func (k keepEqual) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

func (k keepEqual) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if req.StateValue.IsNull() || req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if k(req.StateValue.ValueString(), req.ConfigValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}

// SettlePlan drops an update in which nothing differs but what the framework
// marked unknown, before the plan modifiers found that nothing changes. What is
// unknown in the configuration may turn out to differ, so that then nothing is
// dropped. Call it last in ModifyPlan.
func SettlePlan(_ context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() || resp.Plan.Raw.IsNull() || len(resp.RequiresReplace) > 0 || !req.Config.Raw.IsFullyKnown() {
		return
	}
	if equalWhereKnown(resp.Plan.Raw, req.State.Raw) {
		resp.Plan.Raw = req.State.Raw
	}
}

// equalWhereKnown reports whether two values of one type differ at most where
// the first is unknown.
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
	if a.As(&itemsA) == nil && b.As(&itemsB) == nil {
		for i, value := range itemsA {
			if i >= len(itemsB) || !equalWhereKnown(value, itemsB[i]) {
				return false
			}
		}
		return len(itemsA) == len(itemsB)
	}
	return false
}

// Changed returns a planned value to send in an update, or nil where it is what
// the object has: an update sends only what changed.
func Changed(plan, state types.String) *string {
	if plan.Equal(state) || plan.IsUnknown() {
		return nil
	}
	return plan.ValueStringPointer()
}
