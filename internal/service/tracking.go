package service

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// Trackable is what [Tracked] needs of a resource. It may implement
// resource.ResourceWithValidateConfig as well.
type Trackable interface {
	resource.ResourceWithConfigure
	resource.ResourceWithIdentity
	resource.ResourceWithImportState
	resource.ResourceWithModifyPlan
}

// Kind describes the objects of a tracked resource with the model M.
type Kind[M any] struct {
	// Label names an object in messages, such as "mailbox jane@example.com".
	Label func(M) string
	// Key, if set, is the attribute by which a create finds and takes over an object
	// that exists, and Canonical brings its value to the API's spelling.
	Key       string
	Canonical func(string) string
}

// Tracked returns the resource, with every call recorded in the session's
// [session.Walk]: a plan or an apply in which two resources have the same object
// fails before one of them deletes it for the other.
//
// In a resource's own ModifyPlan, [Replaces] and [Resource.Walk] say more: which
// object a create replaces, and whether an existing one is in the state already.
func Tracked[M any](r Trackable, kind Kind[M]) resource.Resource {
	t := &tracked[M]{Trackable: r, kind: kind, walk: &session.Walk{}}
	var meta resource.MetadataResponse
	r.Metadata(context.Background(), resource.MetadataRequest{ProviderTypeName: "mailhost"}, &meta)
	t.typeName = meta.TypeName
	return t
}

type tracked[M any] struct {
	Trackable
	kind     Kind[M]
	typeName string
	walk     *session.Walk
}

// Configure implements resource.ResourceWithConfigure.
func (t *tracked[M]) Configure(ctx context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	t.Trackable.Configure(ctx, req, resp)
	if s, ok := req.ProviderData.(*session.Session); ok {
		t.walk = s.Walk()
	}
}

// ValidateConfig implements resource.ResourceWithValidateConfig.
func (t *tracked[M]) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	if v, ok := t.Trackable.(resource.ResourceWithValidateConfig); ok {
		v.ValidateConfig(ctx, req, resp)
	}
}

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (t *tracked[M]) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	id, get := attribute(req.State.Raw, "id"), req.State.Get
	var conflict session.Conflict
	switch {
	case req.Plan.Raw.IsNull():
		conflict = t.walk.PlanDestroy(t.typeName, id, t.key(req.State.Raw))
	case !req.State.Raw.IsNull():
		config := fingerprint(req.Config.Raw)
		resp.Diagnostics.Append(firstHalf{ID: id, Config: config}.store(ctx, resp)...)
		conflict = t.walk.PlanUpdate(t.typeName, id, t.key(req.State.Raw), config)
		if conflict == session.Kept {
			addTwice(&resp.Diagnostics, t.label(ctx, get), id)
			conflict = session.NoConflict
		}
	default:
		get = req.Plan.Get
		if first, ok := secondHalfOf(ctx, req); ok {
			id = first.ID
			conflict = t.walk.PlanReplacement(t.typeName, id, first.Config)
		} else {
			conflict = t.walk.PlanCreate(t.typeName, t.key(req.Plan.Raw))
		}
	}
	if conflict != session.NoConflict {
		AddShared(&resp.Diagnostics, t.label(ctx, get), id, conflict)
		return
	}
	t.Trackable.ModifyPlan(ctx, req, resp)
}

// Create implements resource.Resource.
func (t *tracked[M]) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	key := t.key(req.Plan.Raw)
	if conflict := t.walk.Create(t.typeName, key); conflict != session.NoConflict {
		addManaged(&resp.Diagnostics, t.label(ctx, req.Plan.Get), "")
		return
	}
	t.Trackable.Create(ctx, req, resp)
	id := attribute(resp.State.Raw, "id")
	if id == "" {
		t.walk.Abandon(t.typeName, key)
		return
	}
	if t.walk.Acquire(t.typeName, id, key) != session.NoConflict {
		// Nothing was created, and an object in the state after an error would be
		// tainted: the next apply would delete it for the other resource.
		resp.State.RemoveResource(ctx)
		resp.Diagnostics = nil
		addManaged(&resp.Diagnostics, t.label(ctx, req.Plan.Get), id)
	}
}

// Read implements resource.Resource.
func (t *tracked[M]) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	t.Trackable.Read(ctx, req, resp)
	id := attribute(req.State.Raw, "id")
	switch {
	case resp.Diagnostics.HasError():
	case resp.State.Raw.IsNull():
		t.walk.Gone(t.typeName, id, t.key(req.State.Raw))
	default:
		t.walk.Refreshed(t.typeName, id)
	}
}

// Update implements resource.Resource.
func (t *tracked[M]) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	t.Trackable.Update(ctx, req, resp)
	if resp.Private != nil {
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, firstHalfKey, nil)...)
	}
	t.walk.Updated(t.typeName, attribute(req.State.Raw, "id"))
}

// Delete implements resource.Resource.
func (t *tracked[M]) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	id := attribute(req.State.Raw, "id")
	if t.walk.Delete(t.typeName, id) != session.NoConflict {
		addNotDeleted(&resp.Diagnostics, t.label(ctx, req.State.Get), id)
		return
	}
	t.Trackable.Delete(ctx, req, resp)
	if !resp.Diagnostics.HasError() {
		t.walk.Deleted(t.typeName, id, t.key(req.State.Raw), attribute(req.State.Raw, "status"))
	}
}

type getter func(ctx context.Context, target any) diag.Diagnostics

// label names the object; a value that can't be decoded is reported elsewhere.
func (t *tracked[M]) label(ctx context.Context, get getter) string {
	var m M
	get(ctx, &m)
	return t.kind.Label(m)
}

// key returns the natural key of an object in the API's spelling, or "" where
// there is none or it is not known.
func (t *tracked[M]) key(object tftypes.Value) string {
	if t.kind.Key == "" {
		return ""
	}
	if key := attribute(object, t.kind.Key); key != "" {
		return t.kind.Canonical(key)
	}
	return ""
}

// attribute returns a string attribute of an object, or "".
func attribute(object tftypes.Value, name string) string {
	var fields map[string]tftypes.Value
	if object.IsNull() || object.As(&fields) != nil || !fields[name].IsKnown() {
		return ""
	}
	var s *string
	if fields[name].As(&s) != nil || s == nil {
		return ""
	}
	return *s
}

var seed = maphash.MakeSeed()

// fingerprint distinguishes configurations within this process.
func fingerprint(config tftypes.Value) uint64 { return maphash.String(seed, config.String()) }

// firstHalfKey is the key in a plan's private data.
const firstHalfKey = "replaces"

// firstHalf is what the plan of an existing object leaves for the plan of its
// replacement, which core requests with no prior state and with the private data
// of the first plan. Nothing else connects the two.
type firstHalf struct {
	ID     string `json:"id"`
	Config uint64 `json:"config,string"`
}

func (h firstHalf) store(ctx context.Context, resp *resource.ModifyPlanResponse) diag.Diagnostics {
	if resp.Private == nil {
		return nil
	}
	data, _ := json.Marshal(h)
	return resp.Private.SetKey(ctx, firstHalfKey, data)
}

func secondHalfOf(ctx context.Context, req resource.ModifyPlanRequest) (h firstHalf, ok bool) {
	if !req.State.Raw.IsNull() || req.Private == nil {
		return h, false
	}
	data, _ := req.Private.GetKey(ctx, firstHalfKey)
	return h, data != nil && json.Unmarshal(data, &h) == nil && h.ID != ""
}

// Replaces returns the id of the object that a planned create replaces, because an
// attribute changed, or because of -replace or replace_triggered_by. It does not
// see the replacement of a tainted object, which is planned like a new one.
//
// Core shows the diagnostics of this second plan only if there is an error among
// them: a warning about a replacement has to come from the first plan, which does
// not know of -replace.
func Replaces(ctx context.Context, req resource.ModifyPlanRequest) (id string, ok bool) {
	h, ok := secondHalfOf(ctx, req)
	return h.ID, ok
}

// howToShare says what to do where two resources have one object.
const howToShare = "- If a resource was renamed or moved, add a moved block with its old and its new address.\n" +
	"- If two blocks, or two keys of for_each, describe the object, remove one of them, and forget its address with a removed block with lifecycle { destroy = false }, or with terraform state rm.\n" +
	"- If the object is in the state twice at one address (the plan calls one of them deposed), run terraform state rm with the address, and import the object again."

// AddShared adds the error of a plan in which another resource has the same
// object; id is "" where it is not known.
func AddShared(diags *diag.Diagnostics, label, id string, conflict session.Conflict) {
	other := map[session.Conflict]string{
		session.Kept:      "another resource of the configuration keeps it, while this one gives it up",
		session.Replaced:  "another resource of the configuration has it and is replaced, which deletes it",
		session.Destroyed: "the same plan destroys it at another address, or as a deposed object",
		session.Adopted:   "the same plan adopts it for another resource",
		session.Created:   "another resource of the same plan creates or replaces it",
		session.Acquired:  "another resource of this run has just created or adopted it",
		session.InState:   "it is in the state already, at another address",
	}[conflict]
	named := label
	if id != "" {
		named += ", id " + id
	}
	diags.AddError("Two resources have the "+label,
		join(fmt.Sprintf("This resource has the %s, but %s. Applied like this, one of the two would delete the object for both, or it would be created twice. Nothing was changed.", named, other), howToShare))
}

// addTwice warns of an object that two resources keep.
func addTwice(diags *diag.Diagnostics, label, id string) {
	diags.AddWarning("Two resources manage the "+label,
		join("The state has it at two addresses, with different configurations: each apply changes it to one of them, and a destroy of either deletes it for both. Its id is "+id+".", howToShare))
}

// addManaged adds the error of a create of what another resource has.
func addManaged(diags *diag.Diagnostics, label, id string) {
	if id != "" {
		id = " Its id is " + id + "."
	}
	diags.AddError(fmt.Sprintf("Another resource of this configuration manages the %s", label),
		join("This run has it in the state, or has just created it, for another resource. Nothing was created or changed for this one."+id, howToShare))
}

// addNotDeleted adds the error of a delete of what this run acquired.
func addNotDeleted(diags *diag.Diagnostics, label, id string) {
	diags.AddError(fmt.Sprintf("The %s was not deleted", label),
		join(fmt.Sprintf("This run has just created or adopted it for a resource that stays, and a delete would take it away from that resource. Nothing was deleted. Its id is %s.", id),
			"It is in the state twice now: a resource with create_before_destroy adopted the object that it replaces, or two resources have the same object.\n"+howToShare))
}
