package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
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

// AnnounceLoss warns, while it can still be stopped, that a plan gives up
// something that is paid for; consequence says what that means.
func AnnounceLoss(diags *diag.Diagnostics, object, consequence string) {
	diags.AddWarning(fmt.Sprintf("The plan gives up the %s", object),
		join(consequence, "Where the API can't delete it, it stays and is only dropped from Terraform's state.",
			"If Terraform should just forget it, use a removed block with destroy = false (or terraform state rm) instead."))
}

// AnnounceReplacement is [AnnounceLoss] for an object that is replaced; because
// says by which change. unknown are the attributes of which only the apply will
// tell whether they change, where nothing else does, see [StillUnknown].
func AnnounceReplacement(diags *diag.Diagnostics, object, because, consequence string, unknown ...string) {
	next := "Apply only if that is what you mean; to keep it, undo the change."
	if len(unknown) > 0 {
		attributes := strings.Join(unknown, " and ")
		because = fmt.Sprintf("Only the apply will know its %s, and until then that counts as another one: it is replaced even if the apply finds that nothing has changed.", attributes)
		next = fmt.Sprintf("To keep it, give %s a value that the plan knows. What a data source tells is not known while a change is planned of anything in its depends_on.", attributes)
	}
	diags.AddWarning(fmt.Sprintf("The plan replaces the %s", object), join(because, consequence, next))
}

// StillUnknown returns those of the attributes that a plan does not know, unless
// one that it knows differs from the state.
func StillUnknown(plan, state tftypes.Value, attributes ...string) []string {
	var planned map[string]tftypes.Value
	if plan.As(&planned) != nil {
		return nil
	}
	unknown := slices.DeleteFunc(slices.Clone(attributes), func(name string) bool { return planned[name].IsKnown() })
	known := slices.DeleteFunc(slices.Clone(attributes), func(name string) bool { return !planned[name].IsKnown() })
	if anyDiffers(plan, state, known) {
		return nil
	}
	return unknown
}

// GivesUp reports whether a plan destroys the object, or replaces it by a change of
// one of the attributes replacing or of those that ModifyPlan has found.
func GivesUp(req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, replacing ...string) bool {
	if req.State.Raw.IsNull() {
		return false
	}
	return resp.Plan.Raw.IsNull() || len(resp.RequiresReplace) > 0 || anyDiffers(resp.Plan.Raw, req.State.Raw, replacing)
}

// anyDiffers reports whether two objects differ in one of the attributes.
func anyDiffers(a, b tftypes.Value, attributes []string) bool {
	var fieldsA, fieldsB map[string]tftypes.Value
	if a.As(&fieldsA) != nil || b.As(&fieldsB) != nil {
		return false
	}
	return slices.ContainsFunc(attributes, func(name string) bool { return !fieldsA[name].Equal(fieldsB[name]) })
}
