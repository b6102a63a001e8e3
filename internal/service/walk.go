package service

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// ownWalk returns the walk that records the objects of the kind, for a shared kind an unused walk.
func (r *Resource[T, M]) ownWalk() *session.Walk {
	if r.Shared {
		return &session.Walk{}
	}
	return r.Walk()
}

// object identifies the object of a plan or a state in the walk.
func (r *Resource[T, M]) object(raw tftypes.Value) session.Object {
	o := session.Object{Type: r.typeName(), ID: attribute.TextOf(raw, "id"), IsValuable: r.IsValuable}
	if r.NaturalKeys != nil {
		o.Keys = r.NaturalKeys(attribute.RawOf(raw))
	}
	return o
}

// getter returns the model of a plan or a state.
type getter func(ctx context.Context, target any) diag.Diagnostics

// label names the object of a plan or a state.
func (r *Resource[T, M]) label(ctx context.Context, get getter) string {
	var m M
	get(ctx, &m) // an error is reported elsewhere
	r.setNameOf(ctx, &m)
	return m.String()
}

// addConflict adds the error of a conflict, if there is one.
func (r *Resource[T, M]) addConflict(ctx context.Context, o session.Object, conflict session.Conflict, get getter, diags *diag.Diagnostics) {
	if conflict != session.NoConflict && r.ownWalk().MayReport() {
		AddConflict(diags, r.label(ctx, get), o.ID, conflict)
	}
}

// recordPlannedCreate records the plan of a create before its lookup, and returns false if another plan
// creates the same object.
func (r *Resource[T, M]) recordPlannedCreate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) (ok bool) {
	o := r.object(req.Plan.Raw)
	conflict := r.ownWalk().PlanCreate(o)
	r.addConflict(ctx, o, conflict, req.Plan.Get, &resp.Diagnostics)
	return conflict == session.NoConflict
}

// recordLookup records the plan of a create after the kind's lookup. If the lookup found an object,
// [connection.AdoptOrRefuse] recorded it already, and PlanNew has no effect.
func (r *Resource[T, M]) recordLookup(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	o := r.object(req.Plan.Raw)
	if o.IsValuable {
		StoreAdopted(ctx, resp.Private, r.ownWalk().Adopted(o), &resp.Diagnostics)
	}
	if !resp.Diagnostics.HasError() {
		r.addConflict(ctx, o, r.ownWalk().PlanNew(o), req.Plan.Get, &resp.Diagnostics)
	}
}

// recordChange records the plan for an object of the state.
func (r *Resource[T, M]) recordChange(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	o, plan := r.object(req.State.Raw), r.ownWalk().PlanKeep
	switch {
	case req.Plan.Raw.IsNull():
		plan = r.ownWalk().PlanDestroy
	case DestroysOrReplaces(resp):
		plan = r.ownWalk().PlanReplace
	}
	r.addConflict(ctx, o, plan(o), req.State.Get, &resp.Diagnostics)
}

// recordRead records that a refresh found or dropped the object.
func (r *Resource[T, M]) recordRead(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	switch o := r.object(req.State.Raw); {
	case resp.Diagnostics.HasError():
	case resp.State.Raw.IsNull():
		r.ownWalk().Gone(o)
		resp.Diagnostics.Append(SetPrivate(ctx, resp.Private, accountKey, stateAccount{IsDropped: true})...)
	default:
		r.addConflict(ctx, o, r.ownWalk().Refreshed(o), req.State.Get, &resp.Diagnostics)
	}
}

// recordAcquired records the object that a create put into the state. It returns false if there is no
// such object, or if the object belongs to another resource.
func (r *Resource[T, M]) recordAcquired(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) (ok bool) {
	o := r.object(resp.State.Raw)
	if o.ID == "" {
		return false
	}
	conflict := r.ownWalk().Acquire(o)
	if conflict == session.NoConflict {
		return true
	}
	// The object belongs to the other resource. In the state it would be tainted after the error, and the
	// next apply would delete it for the other resource.
	resp.State.RemoveResource(ctx)
	resp.Diagnostics = nil
	AddConflict(&resp.Diagnostics, r.label(ctx, req.Plan.Get), o.ID, conflict)
	return false
}

// mayDelete adds an error and returns false if this process created or adopted the object, or if the
// same plan deletes it as tainted and adopts it.
func (r *Resource[T, M]) mayDelete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) bool {
	o, adopted := r.object(req.State.Raw), GetPrivate[string](ctx, req.Private, adoptedKey)
	if adopted != "" { // after an error, core keeps the private state of the plan in the state
		resp.Diagnostics.Append(SetPrivate(ctx, resp.Private, adoptedKey, "")...)
	}
	if r.ownWalk().IsAcquired(o) || o.ID != "" && strings.EqualFold(o.ID, adopted) {
		addNotDeleted(&resp.Diagnostics, r.label(ctx, req.State.Get), o.ID)
		return false
	}
	return true
}

// recordDropped records that the object is no longer in the state.
func (r *Resource[T, M]) recordDropped(req resource.DeleteRequest, diags diag.Diagnostics) {
	if !diags.HasError() {
		r.ownWalk().Gone(r.object(req.State.Raw))
	}
}
