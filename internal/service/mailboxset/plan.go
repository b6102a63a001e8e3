package mailboxset

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/internal/compact"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// keepDomain keeps the prior reference to a domain if the configuration refers to the same
// one in another way.
var keepDomain = service.KeepPrior(func(ctx context.Context, req planmodifier.StringRequest, _, config string) (bool, diag.Diagnostics) {
	var id, name types.String
	diags := req.State.GetAttribute(ctx, path.Root("id"), &id)
	diags.Append(req.State.GetAttribute(ctx, path.Root("domain_name"), &name)...)
	return customtype.RefersTo(config, id.ValueString(), name.ValueString()), diags
})

// importedKey is the key of the private state that is set from an import until the first
// update. Entries of the state that the configuration lacks were never this
// configuration's until then.
const importedKey = "imported"

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state model
	if !req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	}
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	switch {
	case req.Plan.Raw.IsNull():
		r.planDestroy(ctx, state, resp)
		return
	case req.State.Raw.IsNull():
		r.planCreate(ctx, &plan, &resp.Diagnostics)
	case !plan.Domain.Equal(state.Domain):
		r.planReplacement(ctx, plan, state, resp)
		plan.Addresses, plan.IDs, plan.Unmanaged = types.StringUnknown(), types.StringUnknown(), types.StringUnknown()
	default:
		r.planUpdate(ctx, req, &plan, state, resp)
	}
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
		service.DropEmptyUpdate(req, resp)
	}
}

// mostLookedUp is the size of the largest set whose domain a plan looks up. A larger one
// needs so many bulk requests that the two lookups, of the plan and of the apply, would take
// its first apply beyond the 12 requests that make bench allows.
const mostLookedUp = 8 * api.MaxBulkItems

// planCreate plans a new set.
func (r *Resource) planCreate(ctx context.Context, plan *model, diags *diag.Diagnostics) {
	plan.Addresses, plan.IDs, plan.Unmanaged = types.StringUnknown(), types.StringUnknown(), types.StringUnknown()
	if plan.Mailboxes.IsUnknown() {
		return
	}
	c := plan.contents(diags)
	domain := plan.Domain.ValueString()
	if uuid.Validate(domain) != nil && domain != "" {
		if name, err := domainname.Normalize(domain); err == nil {
			plan.DomainName = types.StringValue(name)
		}
	}
	if name := plan.DomainName.ValueString(); name != "" {
		for key := range c.entries {
			c.addresses[key] = address(key, name)
		}
		plan.Addresses = compact.Encode(c.addresses)
	}
	if diags.HasError() || !r.recordCreates(ctx, *plan, plan.objects(c), diags) {
		return
	}
	client := r.ClientForWarning(ctx)
	if domain == "" || client == nil {
		return
	}
	l, err := list(ctx, client, domain)
	if err != nil {
		return // the create lists again, and reports why it can't
	}
	r.Notes().Store(planned{canonicalDomain(domain)}, l)
	if len(l.byID) == 0 && len(c.entries) <= mostLookedUp { // an API may have no error for the list of a domain that does not exist
		r.WarnMissingDomainRef(ctx, domain, diags)
	}
	r.checkExisting(*plan, l.existing(c.keys()), diags)
}

func address(key, domainName string) compact.Text {
	if domainName == "" {
		return compact.Text{Unknown: true}
	}
	return compact.Text{Value: localPart(key) + "@" + domainName}
}

// objects returns the mailboxes of the entries in the walk, by key.
func (m model) objects(c *contents) map[string]service.Object {
	domains := service.DomainKeys(func(name string) string {
		return map[string]string{"domain_name": m.DomainName.ValueString(), "domain_id": m.ID.ValueString(), "domain": m.Domain.ValueString()}[name]
	}, "@")
	all := make(map[string]service.Object, len(c.entries))
	for key := range c.entries {
		o := object(c.ids[key].Value)
		for _, domain := range domains {
			o.Keys = append(o.Keys, localPart(key)+domain)
		}
		all[key] = o
	}
	return all
}

// recordCreates records the creates of mailboxes in the walk. It adds an error and returns
// false if other resources have some, or the set itself that the plan replaces.
func (r *Resource) recordCreates(ctx context.Context, plan model, objects map[string]service.Object, diags *diag.Diagnostics) bool {
	if service.Adopts(plan.OnExisting) {
		r.Walk().AwaitOwners(ctx, slices.Collect(maps.Values(objects))...)
	}
	var inState, created []string
	for _, key := range sortedKeys(objects) {
		switch r.Walk().PlanCreate(objects[key]) {
		case session.NoConflict:
		case session.InState:
			inState = append(inState, key)
		default:
			created = append(created, key)
		}
	}
	if len(inState) > 0 {
		r.addInState(diags, inState)
	}
	if len(created) > 0 {
		addCreatedTwice(diags, created)
	}
	return len(inState)+len(created) == 0
}

// checkExisting adds an error to a plan whose new keys have mailboxes already, or a
// warning if the set adopts them.
func (r *Resource) checkExisting(plan model, existing map[string]*api.Mailbox, diags *diag.Diagnostics) {
	if len(existing) == 0 {
		return
	}
	if !service.Adopts(plan.OnExisting) {
		addExisting(diags, existing)
		return
	}
	if r.planAdoption(existing, diags) {
		warnAdoption(diags, plan, existing)
	}
}

// planAdoption records the adoption of mailboxes in the walk. It adds an error and returns
// false if other resources have some.
func (r *Resource) planAdoption(existing map[string]*api.Mailbox, diags *diag.Diagnostics) bool {
	var managed []string
	for _, key := range sortedKeys(existing) {
		if r.Walk().PlanAdoption(object(existing[key].ID)) != session.NoConflict {
			managed = append(managed, key)
		}
	}
	if len(managed) > 0 {
		r.addInState(diags, managed)
	}
	return len(managed) == 0
}

// planUpdate plans changes of the set.
func (r *Resource) planUpdate(ctx context.Context, req resource.ModifyPlanRequest, plan *model, state model, resp *resource.ModifyPlanResponse) {
	diags := &resp.Diagnostics
	prior := state.contents(diags)
	imported := isImported(ctx, req.Private)
	if plan.Mailboxes.IsUnknown() {
		plan.Addresses, plan.IDs, plan.Unmanaged = types.StringUnknown(), types.StringUnknown(), types.StringUnknown()
		if len(prior.entries) > 0 && plan.MaxDeletions.ValueInt64() > 0 && !imported {
			addUnknownMap(diags)
		}
		return
	}
	c := plan.contents(diags)
	c.addresses, c.ids = map[string]compact.Text{}, map[string]compact.Text{}
	ch := changesOf(prior, c)
	for key, before := range ch.kept {
		c.addresses[key], c.ids[key] = prior.addresses[before], prior.ids[before]
	}
	for _, key := range ch.added {
		c.addresses[key], c.ids[key] = address(key, state.DomainName.ValueString()), compact.Text{Unknown: true}
	}
	plan.Addresses, plan.IDs = compact.Encode(c.addresses), compact.Encode(c.ids)
	deleted, kept := plan.retirement(ch.removed)
	if imported {
		deleted, kept = nil, ch.removed
	}
	plan.setUnmanaged(plannedUnmanaged(prior, c, ch, kept))
	if len(ch.removed) > 0 && plan.hasUnknownRetired() {
		plan.Unmanaged = types.StringUnknown()
	}
	if diags.HasError() || !r.recordUpdate(ctx, state, prior, *plan, c, ch, deleted, kept, diags) {
		return
	}
	if l, ok := r.Notes().Load(refreshed{state.ID.ValueString()}); ok && len(ch.added) > 0 {
		r.checkExisting(*plan, l.(*listing).existing(ch.added), diags)
	}
	warnReleased(diags, state, prior.addressList(kept), imported)
	next := updateRefused
	if len(ch.added) > 0 {
		next = changedKeys + "\n\n" + next
	}
	r.checkDeletions(ctx, *plan, state, prior, deleted, len(ch.added) > 0, next, diags)
}

// plannedUnmanaged returns the mailboxes that the map does not have after an update: the
// next refresh finds those that somebody else creates.
func plannedUnmanaged(prior, plan *contents, ch changes, kept []string) []string {
	added := make(map[string]bool, len(ch.added))
	for _, key := range ch.added {
		added[plan.addresses[key].Value] = true
	}
	all := slices.DeleteFunc(slices.Clone(prior.unmanaged), func(a string) bool { return added[a] })
	all = append(all, prior.addressList(kept)...)
	slices.Sort(all)
	return all
}

// recordUpdate records in the walk what a plan does with each mailbox. It adds an error and
// returns false if another resource has one.
func (r *Resource) recordUpdate(ctx context.Context, state model, prior *contents, plan model, c *contents, ch changes, deleted, kept []string, diags *diag.Diagnostics) bool {
	walk, had, has := r.Walk(), state.objects(prior), plan.objects(c)
	conflicts := map[string]session.Conflict{}
	note := func(key string, conflict session.Conflict) {
		if conflict != session.NoConflict {
			conflicts[key] = conflict
		}
	}
	for _, before := range ch.kept {
		note(before, walk.PlanKeep(had[before]))
	}
	for _, key := range deleted {
		note(key, walk.PlanDestroy(had[key]))
	}
	for _, key := range kept {
		walk.PlanRelease(had[key])
	}
	r.addConflicts(diags, prior, conflicts)
	added := map[string]service.Object{}
	for _, key := range ch.added {
		added[key] = has[key]
	}
	return r.recordCreates(ctx, plan, added, diags) && len(conflicts) == 0
}

// checkDeletions adds an error to a plan that deletes more mailboxes than limits allows, and
// otherwise a warning that names them. others means that the plan also creates some, next is what
// to do about the error.
func (r *Resource) checkDeletions(ctx context.Context, limits, state model, prior *contents, deleted []string, others bool, next string, diags *diag.Diagnostics) {
	unnamed, allowed := limits.unnamed(deleted), limits.MaxDeletions.ValueInt64()
	switch {
	case len(deleted) == 0:
	case !r.deletes(ctx, prior, deleted):
		warnRemaining(diags, state, prior.addressList(deleted))
	case int64(len(unnamed)) > allowed:
		addTooMany(diags, state, prior.addressList(unnamed), allowed, next)
	default:
		warnDeletions(diags, state, prior.addressList(deleted), others)
	}
}

// deletes reports whether the API can delete mailboxes, as far as is known.
func (r *Resource) deletes(ctx context.Context, c *contents, keys []string) bool {
	api := r.ClientForWarning(ctx)
	return api == nil || len(keys) == 0 || api.Supports(ctx, deleteMailbox, c.ids[keys[0]].Value)
}

// planDestroy plans the destruction of the set.
func (r *Resource) planDestroy(ctx context.Context, state model, resp *resource.ModifyPlanResponse) {
	c := state.contents(&resp.Diagnostics)
	if !r.recordDestroys(state, c, &resp.Diagnostics) {
		return
	}
	deleted, kept := state.retirement(c.keys())
	warnReleased(&resp.Diagnostics, state, c.addressList(kept), false)
	r.checkDeletions(ctx, state, state, c, deleted, false, destroyRefused, &resp.Diagnostics)
}

// recordDestroys records in the walk that a plan destroys the set, with all mailboxes that it does
// not keep. It adds an error and returns false if another resource has one.
func (r *Resource) recordDestroys(state model, c *contents, diags *diag.Diagnostics) bool {
	conflicts := map[string]session.Conflict{}
	objects := state.objects(c)
	deleted, kept := state.retirement(c.keys())
	for _, key := range kept {
		r.Walk().PlanRelease(objects[key])
	}
	for _, key := range deleted {
		if conflict := r.Walk().PlanDestroy(objects[key]); conflict != session.NoConflict {
			conflicts[key] = conflict
		}
	}
	r.addConflicts(diags, c, conflicts)
	return len(conflicts) == 0
}

// planReplacement is the first plan of a replacement that a change of the domain causes. The
// value in the state counts too: with create_before_destroy, core plans the delete once more
// in the apply, without this plan.
func (r *Resource) planReplacement(ctx context.Context, plan, state model, resp *resource.ModifyPlanResponse) {
	c := state.contents(&resp.Diagnostics)
	if !r.recordDestroys(state, c, &resp.Diagnostics) {
		return
	}
	r.WarnMissingDomainRef(ctx, plan.Domain.ValueString(), &resp.Diagnostics)
	reason, limits := replacementRefused, state
	if plan.Domain.IsUnknown() {
		reason = unknownDomainRefused
	}
	limits.MaxDeletions = types.Int64Value(min(plan.MaxDeletions.ValueInt64(), state.MaxDeletions.ValueInt64()))
	deleted, kept := state.retirement(c.keys())
	warnReleased(&resp.Diagnostics, state, c.addressList(kept), false)
	r.checkDeletions(ctx, limits, state, c, deleted, true, reason, &resp.Diagnostics)
}

func isImported(ctx context.Context, private service.PrivateState) bool {
	data, _ := private.GetKey(ctx, importedKey)
	return len(data) > 0
}

var deleteMailbox = api.DeleteMailbox.Spec
