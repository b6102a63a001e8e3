package mailboxset

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/compact"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// importedKey is the key of the private state that is set from an import until the first
// update. Entries of the state that the configuration lacks may never have been this
// configuration's until then.
const importedKey = "imported"

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case req.Plan.Raw.IsNull():
		r.planDestroy(ctx, state, state.MaxDeletions.ValueInt64(), destroyRefused, &resp.Diagnostics)
		return
	case req.State.Raw.IsNull():
		r.planCreate(ctx, &plan, &resp.Diagnostics)
	case service.DestroysOrReplaces(resp):
		r.WarnMissingDomain(ctx, plan.Domain.ValueString(), &resp.Diagnostics)
		// With create_before_destroy, core plans the delete once more in the apply, without this plan.
		r.planDestroy(ctx, state, min(plan.MaxDeletions.ValueInt64(), state.MaxDeletions.ValueInt64()), replacementRefused, &resp.Diagnostics)
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
	items := plan.contents(diags).sorted()
	domain := plan.Domain.ValueString()
	if name := attribute.DomainName(domain); name != "" {
		known := make(map[string]compact.Text, len(items))
		for n, i := range items {
			items[n].address = address(i.key, name)
			known[i.key] = items[n].address
		}
		plan.DomainName, plan.Addresses = types.StringValue(name), compact.Encode(known)
	}
	if r.recordCreates(ctx, *plan, items, diags); diags.HasError() {
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
	r.Notes().Store(planned{domain}, l)
	if len(l) == 0 && len(items) <= mostLookedUp { // an API may have no error for the list of a domain that does not exist
		r.WarnMissingDomain(ctx, domain, diags)
	}
	existing, _ := l.existing(items)
	r.checkExisting(*plan, existing, true, diags)
}

func address(key, domainName string) compact.Text {
	if domainName == "" {
		return compact.Text{Unknown: true}
	}
	return compact.Text{Value: localPart(key) + "@" + domainName}
}

// objects returns the mailboxes of items in the walk.
func (m model) objects(items []item) []session.Object {
	domains := attribute.DomainKeys(func(name string) string {
		return map[string]string{"domain_name": m.DomainName.ValueString(), "domain_id": m.ID.ValueString(), "domain": m.Domain.ValueString()}[name]
	}, "@")
	all := make([]session.Object, len(items))
	for n, i := range items {
		all[n] = object(i.id.Value)
		for _, domain := range domains {
			all[n].Keys = append(all[n].Keys, i.localPart()+domain)
		}
	}
	return all
}

// recordCreates records the creates of mailboxes in the walk. It adds an error if other resources
// have some, or the set itself that the plan replaces.
func (r *Resource) recordCreates(ctx context.Context, plan model, added []item, diags *diag.Diagnostics) {
	objects := plan.objects(added)
	if service.Adopts(plan.OnExisting) {
		r.Walk().AwaitOwners(ctx, objects...)
	}
	var inState, created []item
	for n, o := range objects {
		switch r.Walk().PlanCreate(o) {
		case session.NoConflict:
		case session.InState:
			inState = append(inState, added[n])
		default:
			created = append(created, added[n])
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
func (r *Resource) checkExisting(plan model, existing []match, isNew bool, diags *diag.Diagnostics) {
	if len(existing) == 0 {
		return
	}
	if !service.Adopts(plan.OnExisting) {
		addExisting(diags, existing, isNew)
		return
	}
	var managed []item
	for _, e := range existing {
		if r.Walk().PlanAdoption(object(e.mailbox.ID)) != session.NoConflict {
			managed = append(managed, e.item)
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
		if len(prior.items) > 0 && (plan.hasUnknownRetired() || !imported && (plan.MaxDeletions.IsUnknown() || plan.MaxDeletions.ValueInt64() > 0)) {
			addUnknownMap(diags)
		}
		return
	}
	c := plan.contents(diags)
	added, removed, kept := changesOf(prior, c)
	deleted, unnamed, released := plan.retirement(removed, imported)
	c.unmanaged = slices.Concat(prior.unmanaged, addresses(released))
	for _, i := range kept {
		c.put(i)
	}
	for n, i := range added {
		added[n].address, added[n].id = address(i.key, state.DomainName.ValueString()), compact.Text{Unknown: true}
		c.put(added[n])
	}
	// The set has what it adds. What somebody else creates, the next refresh finds.
	c.unmanaged = slices.DeleteFunc(slices.Sorted(slices.Values(c.unmanaged)), func(address string) bool {
		part, _, _ := strings.Cut(address, "@")
		_, isAdded := c.items[localPart(part)]
		return isAdded
	})
	configured := plan.Mailboxes
	plan.set(c)
	plan.Mailboxes = configured
	if len(removed) > 0 && plan.hasUnknownRetired() {
		plan.Unmanaged = types.StringUnknown()
	}
	r.record(state, kept, deleted, released, diags)
	if r.recordCreates(ctx, *plan, added, diags); diags.HasError() {
		return
	}
	if l, ok := r.Notes().Load(refreshed{state.ID.ValueString()}); ok {
		existing, _ := l.(listing).existing(added)
		r.checkExisting(*plan, existing, false, diags)
	}
	warnReleased(diags, state, released, imported, false)
	keep, next := keepEntry, updateRefused
	if len(added) > 0 {
		keep, next = changedKeys+"\n\n"+keep, changedKeys+"\n\n"+next
	}
	r.checkDeletions(ctx, state, deleted, unnamed, plan.MaxDeletions.ValueInt64(), keep, next, diags)
}

// record records in the walk what a plan does with the mailboxes of the state. It adds an error if
// other resources create some, or lose them.
func (r *Resource) record(state model, staying, deleted, released []item, diags *diag.Diagnostics) {
	var conflicts []item
	for n, o := range state.objects(staying) {
		if r.Walk().PlanKeep(o) != session.NoConflict {
			conflicts = append(conflicts, staying[n])
		}
	}
	for n, o := range state.objects(deleted) {
		if r.Walk().PlanDestroy(o) != session.NoConflict {
			conflicts = append(conflicts, deleted[n])
		}
	}
	for _, o := range state.objects(released) {
		r.Walk().PlanRelease(o)
	}
	if len(conflicts) > 0 {
		addConflicts(diags, conflicts)
	}
}

// checkDeletions adds an error to a plan that deletes more unnamed mailboxes than allowed, with what
// to do next, and otherwise a warning that names all of them and says how to keep one.
func (r *Resource) checkDeletions(ctx context.Context, state model, deleted, unnamed []item, allowed int64, keep, next string, diags *diag.Diagnostics) {
	switch {
	case len(deleted) == 0:
	case !r.deletes(ctx, deleted):
		warnRemaining(diags, state, addresses(deleted))
	case int64(len(unnamed)) > allowed:
		addTooMany(diags, state, unnamed, allowed, next)
	default:
		warnDeletions(diags, state, deleted, keep)
	}
}

// deletes reports whether the API can delete mailboxes, as far as is known.
func (r *Resource) deletes(ctx context.Context, items []item) bool {
	client := r.ClientForWarning(ctx)
	return client == nil || len(items) == 0 || client.Supports(ctx, api.DeleteMailbox.Spec, items[0].id.Value)
}

// planDestroy plans the destruction of the set. next is what to do if it is refused.
func (r *Resource) planDestroy(ctx context.Context, state model, allowed int64, next string, diags *diag.Diagnostics) {
	deleted, unnamed, kept := state.retirement(state.contents(diags).sorted(), false)
	if r.record(state, nil, deleted, kept, diags); diags.HasError() {
		return
	}
	warnReleased(diags, state, kept, false, true)
	r.checkDeletions(ctx, state, deleted, unnamed, allowed, keepBefore, next, diags)
}
