package mailboxset

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/internal/compact"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// importedKey is the key of the private state that is set from an import until the first
// update. Entries of the state that the configuration lacks may never have been this
// configuration's until then.
const importedKey = "imported"

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case req.Plan.Raw.IsNull():
		r.planDestroy(ctx, state, state, destroyRefused, &resp.Diagnostics)
		return
	case req.State.Raw.IsNull():
		r.planCreate(ctx, &plan, &resp.Diagnostics)
	case service.DestroysOrReplaces(resp):
		r.WarnMissingDomain(ctx, plan.Domain.ValueString(), &resp.Diagnostics)
		// With create_before_destroy, core plans the delete once more in the apply, without this plan.
		limits := state
		limits.MaxDeletions = types.Int64Value(min(plan.MaxDeletions.ValueInt64(), state.MaxDeletions.ValueInt64()))
		r.planDestroy(ctx, state, limits, replacementRefused, &resp.Diagnostics)
		plan.forget()
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

// forget makes the computed values unknown.
func (m *model) forget() {
	m.Addresses, m.IDs, m.Unmanaged = types.StringUnknown(), types.StringUnknown(), types.StringUnknown()
}

func (r *Resource) planCreate(ctx context.Context, plan *model, diags *diag.Diagnostics) {
	if plan.Mailboxes.IsUnknown() {
		return
	}
	c := plan.contents(diags)
	domain := plan.Domain.ValueString()
	if uuid.Validate(domain) != nil {
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
	if r.recordCreates(ctx, *plan, plan.objects(c), diags); diags.HasError() {
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
		r.WarnMissingDomain(ctx, domain, diags)
	}
	r.checkExisting(*plan, l.existing(sortedKeys(c.entries)), true, diags)
}

func address(key, domainName string) compact.Text {
	if domainName == "" {
		return compact.Text{Unknown: true}
	}
	return compact.Text{Value: localPart(key) + "@" + domainName}
}

// objects returns the mailboxes of the entries in the walk, by key.
func (m model) objects(c *contents) map[string]session.Object {
	domains := service.DomainKeys(func(name string) string {
		return map[string]string{"domain_name": m.DomainName.ValueString(), "domain_id": m.ID.ValueString(), "domain": m.Domain.ValueString()}[name]
	}, "@")
	all := make(map[string]session.Object, len(c.entries))
	for key := range c.entries {
		o := object(c.ids[key].Value)
		for _, domain := range domains {
			o.Keys = append(o.Keys, localPart(key)+domain)
		}
		all[key] = o
	}
	return all
}

// recordCreates records the creates of mailboxes in the walk. It adds an error if other resources
// have some, or the set itself that the plan replaces.
func (r *Resource) recordCreates(ctx context.Context, plan model, objects map[string]session.Object, diags *diag.Diagnostics) {
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
		addInState(diags, inState)
	}
	if len(created) > 0 {
		addCreatedTwice(diags, created)
	}
}

// checkExisting adds an error to a plan whose new keys have mailboxes already, or a
// warning if the set adopts them, and they are in no other resource.
func (r *Resource) checkExisting(plan model, existing map[string]*api.Mailbox, isNew bool, diags *diag.Diagnostics) {
	if len(existing) == 0 {
		return
	}
	if !service.Adopts(plan.OnExisting) {
		addExisting(diags, existing, isNew)
		return
	}
	var managed []string
	for _, key := range sortedKeys(existing) {
		if r.Walk().PlanAdoption(object(existing[key].ID)) != session.NoConflict {
			managed = append(managed, key)
		}
	}
	if len(managed) > 0 {
		addInState(diags, managed)
		return
	}
	warnAdoption(diags, plan, existing)
}

func (r *Resource) planUpdate(ctx context.Context, req resource.ModifyPlanRequest, plan *model, state model, resp *resource.ModifyPlanResponse) {
	diags := &resp.Diagnostics
	prior := state.contents(diags)
	imported := service.GetPrivate[bool](ctx, req.Private, importedKey)
	if plan.Mailboxes.IsUnknown() {
		plan.forget()
		if len(prior.entries) > 0 && (plan.hasUnknownRetired() || !imported && (plan.MaxDeletions.IsUnknown() || plan.MaxDeletions.ValueInt64() > 0)) {
			addUnknownMap(diags)
		}
		return
	}
	c := plan.contents(diags)
	ch := changesOf(prior, c)
	for key, before := range ch.kept {
		c.addresses[key], c.ids[key] = prior.addresses[before], prior.ids[before]
	}
	for _, key := range ch.added {
		c.addresses[key], c.ids[key] = address(key, state.DomainName.ValueString()), compact.Text{Unknown: true}
	}
	plan.Addresses, plan.IDs = compact.Encode(c.addresses), compact.Encode(c.ids)
	deleted, kept := plan.retirement(ch.removed, imported)
	plan.setUnmanaged(plannedUnmanaged(prior, c, ch, kept))
	if len(ch.removed) > 0 && plan.hasUnknownRetired() {
		plan.Unmanaged = types.StringUnknown()
	}
	r.record(state, prior, slices.Collect(maps.Values(ch.kept)), deleted, kept, diags)
	added := plan.objects(c)
	maps.DeleteFunc(added, func(key string, _ session.Object) bool { return ch.kept[key] != "" })
	if r.recordCreates(ctx, *plan, added, diags); diags.HasError() {
		return
	}
	if l, ok := r.Notes().Load(refreshed{state.ID.ValueString()}); ok && len(ch.added) > 0 {
		r.checkExisting(*plan, l.(*listing).existing(ch.added), false, diags)
	}
	warnReleased(diags, state, prior.addressList(kept), imported, false)
	keep, next := keepEntry, updateRefused
	if len(ch.added) > 0 {
		keep, next = changedKeys+"\n\n"+keep, changedKeys+"\n\n"+next
	}
	r.checkDeletions(ctx, *plan, state, prior, deleted, keep, next, diags)
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

// record records in the walk what a plan does with the mailboxes of the state. It adds an error if
// other resources create some, or lose them.
func (r *Resource) record(state model, prior *contents, staying, deleted, released []string, diags *diag.Diagnostics) {
	var conflicts []string
	objects := state.objects(prior)
	for _, key := range staying {
		if r.Walk().PlanKeep(objects[key]) != session.NoConflict {
			conflicts = append(conflicts, key)
		}
	}
	for _, key := range deleted {
		if r.Walk().PlanDestroy(objects[key]) != session.NoConflict {
			conflicts = append(conflicts, key)
		}
	}
	for _, key := range released {
		r.Walk().PlanRelease(objects[key])
	}
	if len(conflicts) > 0 {
		slices.Sort(conflicts)
		addConflicts(diags, prior.addressList(conflicts))
	}
}

// checkDeletions adds an error to a plan that deletes more mailboxes than limits allows, with what
// to do next, and otherwise a warning that names them and says how to keep one.
func (r *Resource) checkDeletions(ctx context.Context, limits, state model, prior *contents, deleted []string, keep, next string, diags *diag.Diagnostics) {
	unnamed, allowed := limits.unnamed(deleted), limits.MaxDeletions.ValueInt64()
	switch {
	case len(deleted) == 0:
	case !r.deletes(ctx, prior, deleted):
		warnRemaining(diags, state, prior.addressList(deleted))
	case int64(len(unnamed)) > allowed:
		addTooMany(diags, state, prior.addressList(unnamed), allowed, next)
	default:
		warnDeletions(diags, state, prior.addressList(deleted), keep)
	}
}

// deletes reports whether the API can delete mailboxes, as far as is known.
func (r *Resource) deletes(ctx context.Context, c *contents, keys []string) bool {
	client := r.ClientForWarning(ctx)
	return client == nil || len(keys) == 0 || client.Supports(ctx, api.DeleteMailbox.Spec, c.ids[keys[0]].Value)
}

// planDestroy plans the destruction of the set, within limits. next is what to do if it is refused.
func (r *Resource) planDestroy(ctx context.Context, state, limits model, next string, diags *diag.Diagnostics) {
	c := state.contents(diags)
	deleted, kept := state.retirement(sortedKeys(c.entries), false)
	if r.record(state, c, nil, deleted, kept, diags); diags.HasError() {
		return
	}
	warnReleased(diags, state, c.addressList(kept), false, true)
	r.checkDeletions(ctx, limits, state, c, deleted, keepBefore, next, diags)
}
