package attribute

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// KeepEqual returns a plan modifier that keeps the prior spelling of an equal value, for instance in
// another case. Put it before RequiresReplace. Semantic equality of a custom type does not suffice,
// because the framework applies it to responses but not to configurations.
func KeepEqual(equal func(a, b string) bool) planmodifier.String {
	return KeepPrior(func(_ Raw, a, b string) bool { return equal(a, b) })
}

// keepDomainRef is a [KeepPrior] for references to a domain: it keeps the prior reference if the
// configuration refers to the same domain in another way.
func keepDomainRef(state Raw, _, config string) bool {
	return customtype.RefersTo(config, state.DomainID(), state.Text("domain_name"))
}

// KeepPrior is a plan modifier that keeps the prior value of an attribute. The function reports whether
// the configured value means the same in an object with the attributes of state.
type KeepPrior func(state Raw, prior, config string) bool

func (KeepPrior) Description(context.Context) string {
	return "keeps the prior spelling of an equal value"
}

func (k KeepPrior) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

func (k KeepPrior) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if req.StateValue.IsNull() || req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if k(RawOf(req.State.Raw), req.StateValue.ValueString(), req.ConfigValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}

// Changed returns the value of a planned attribute for an update, or nil if it equals the state: an
// update sends only changes.
func Changed[T any](plan, state attr.Value, value *T) *T {
	if plan.IsUnknown() || MeanSame(context.Background(), plan, state) {
		return nil
	}
	return value
}

// ChangedNullable is [Changed] for a field that null removes.
func ChangedNullable[T any](plan, state attr.Value, value *T) api.Nullable[T] {
	if plan.IsUnknown() || MeanSame(context.Background(), plan, state) {
		return api.Nullable[T]{}
	}
	return api.NullableFrom(value)
}

// MeanSame reports whether two values are equal, or mean the same to their custom type.
func MeanSame(ctx context.Context, from, to attr.Value) bool {
	if v, ok := from.(basetypes.StringValuableWithSemanticEquals); ok && !to.IsUnknown() && !to.IsNull() && !from.IsNull() {
		same, _ := v.StringSemanticEquals(ctx, to.(basetypes.StringValuable))
		return same
	}
	return from.Equal(to)
}

// Shown returns a value as text, a string without quotes.
func Shown(ctx context.Context, v attr.Value) string {
	text, isText := v.(basetypes.StringValuable)
	switch {
	case v.IsUnknown():
		return "a value that is known after the apply"
	case v.IsNull():
		return "null"
	case isText:
		s, _ := text.ToStringValue(ctx)
		return s.ValueString()
	}
	return v.String()
}
