package service

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// DestroysOrReplaces reports whether a plan destroys the object, or replaces it.
func DestroysOrReplaces(resp *resource.ModifyPlanResponse) bool {
	return resp.Plan.Raw.IsNull() || len(resp.RequiresReplace) > 0
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

// planReplacement plans the replacement of an object if its scope or an argument of ReplacedBy changes.
// For a valuable object an unknown value is not a change, because with depends_on a value is often unknown
// in a plan and turns out to be the same. If it differs, core stops the apply with an inconsistent final
// plan, and the next plan knows the value. An unknown domain is a change if this plan destroys or replaces
// the object's domain.
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
		r.replaceScope(ctx, req, resp)
	}
}

// losesDomain reports whether the plan destroys or replaces the domain of an object.
func (r *Resource[T, M]) losesDomain(state attribute.Raw) bool {
	return r.Walk().IsDestroyed(session.Object{Type: "mailhost_domain", ID: state.DomainID()})
}

// replaceScope plans a replacement if the scope changes, and none if the configuration
// refers to the same scope in another form.
func (r *Resource[T, M]) replaceScope(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	config, diags := scopeIn(ctx, req.Config)
	resp.Diagnostics.Append(diags...)
	state, diags := scopeIn(ctx, req.State)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	same, err := state.covers(ctx, config, func(ctx context.Context, name string) (*api.Domain, error) {
		c := r.Client(ctx, &resp.Diagnostics)
		if c == nil {
			return nil, client.ErrNotFound
		}
		// An apply deletes a domain before it updates the objects that referred to it.
		if key, err := customtype.DomainName.Normalize(name); err == nil {
			if id := r.Walk().Dropped(session.Named("mailhost_domain", key)); id != "" {
				return &api.Domain{ID: id}, nil
			}
		}
		return c.Domains.Get(ctx, name)
	})
	if err != nil {
		report.Error(&resp.Diagnostics, err, "Can't look up the domain "+config.DomainLabel(config.Domain.ValueString()), nil)
	}
	switch {
	case resp.Diagnostics.HasError():
	case same:
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("domain"), state.Domain)...)
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("workspace_id"), state.WorkspaceID)...)
	default:
		if !config.Domain.Equal(state.Domain) {
			resp.RequiresReplace.Append(path.Root("domain"))
		}
		if !config.WorkspaceID.Equal(state.WorkspaceID) {
			resp.RequiresReplace.Append(path.Root("workspace_id"))
		}
	}
}

// DropEmptyUpdate drops an update without a known difference: the framework marks computed attributes
// as unknown before plan modifiers find that nothing changes. It keeps an update if the configuration
// contains an unknown value, which may differ.
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

// planValues plans the known computed attributes of a new object. They also bind the plan to its
// account: core refuses an apply if its plan contains other values.
func (r *Resource[T, M]) planValues(ctx context.Context, plan *tfsdk.Plan, diags *diag.Diagnostics) {
	c := r.ClientIfOpen(ctx)
	if c == nil || diags.HasError() {
		return
	}
	values := r.PlannedValues
	if r.isScoped() {
		values = scopeValues
	}
	if values == nil {
		return
	}
	accountID, _ := customtype.UUID.Normalize(c.AccountID())
	for name, value := range values(attribute.RawOf(plan.Raw), accountID) {
		diags.Append(plan.SetAttribute(ctx, path.Root(name), value)...)
	}
}

// keepPlanned sets the known planned values in the state after an apply, because core refuses other
// values. If somebody else changed a value since the plan, the next refresh reads it. A shared kind keeps
// its own state, because a set may be created in part.
func (r *Resource[T, M]) keepPlanned(plan tfsdk.Plan, state *tfsdk.State, diags diag.Diagnostics) {
	if r.Shared || diags.HasError() || state.Raw.IsNull() {
		return
	}
	applied := attribute.RawOf(state.Raw)
	for name, value := range attribute.RawOf(plan.Raw) {
		if value.IsFullyKnown() {
			applied[name] = value
		}
	}
	state.Raw = tftypes.NewValue(state.Raw.Type(), map[string]tftypes.Value(applied))
}
