package mailboxset

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/compact"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// importedKey is the key of the private state that is set from an import until the first
// update. Until then, the state may contain mailboxes that the configuration never contained.
const importedKey = "imported"

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case req.Plan.Raw.IsNull():
		r.planDestroy(ctx, state, &resp.Diagnostics)
		return
	case req.State.Raw.IsNull():
		r.planCreate(ctx, &plan, resp)
	case service.DestroysOrReplaces(resp):
		r.WarnMissingDomain(ctx, plan.Domain.ValueString(), &resp.Diagnostics)
		r.planDestroy(ctx, state, &resp.Diagnostics)
		plan.forget()
	default:
		r.planUpdate(ctx, req, &plan, state, resp)
	}
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
		service.DropEmptyUpdate(req, resp)
	}
}

// mostLookedUp limits the size of a set for which a plan looks up the domain. For a larger set,
// the lookups of the plan and of the apply would exceed the 12 requests that make bench allows
// for the first apply.
const mostLookedUp = 8 * api.MaxBulkItems

// forget makes the computed values unknown.
func (m *model) forget() {
	m.Addresses, m.IDs, m.Unmanaged = types.StringUnknown(), types.StringUnknown(), types.StringUnknown()
}

func (r *Resource) planCreate(ctx context.Context, plan *model, resp *resource.ModifyPlanResponse) {
	diags := &resp.Diagnostics
	if plan.Mailboxes.IsUnknown() {
		return
	}
	c := plan.contents(diags)
	warnRetired(diags, *plan, c)
	items := c.sorted()
	domain := plan.Domain.ValueString()
	if name := attribute.DomainName(domain); name != "" {
		known := make(map[string]compact.Text, len(items))
		for n, i := range items {
			items[n].address = address(i.key, name)
			known[i.key] = items[n].address
		}
		plan.DomainName, plan.Addresses = types.StringValue(name), compact.Encode(known)
	}
	var l listing
	if client := r.ClientIfOpen(ctx); domain != "" && client != nil {
		var err error
		if l, err = list(ctx, client, domain); err == nil { // otherwise the create lists again, and reports why it can't
			r.Notes().Store(planned{domain}, l)
		}
		if err == nil && len(l) == 0 && len(items) <= mostLookedUp { // an API may return an empty list for a missing domain
			r.WarnMissingDomain(ctx, domain, diags)
		}
	}
	if r.planCreates(*plan, items, l, true, diags) {
		service.StoreAdopted(ctx, resp.Private, l.any().DomainID, diags)
	}
}

func address(key, domainName string) compact.Text {
	if domainName == "" {
		return compact.Text{Unknown: true}
	}
	return compact.Text{Value: localPart(key) + "@" + domainName}
}

// objects returns the items as objects of the walk.
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

// planCreates registers in the walk the mailboxes to create or adopt, and reports whether it adopts any. It
// adds an error if another resource manages one of them, or if one exists and the set does not adopt it.
func (r *Resource) planCreates(plan model, added []item, l listing, isNew bool, diags *diag.Diagnostics) (adopts bool) {
	objects := plan.objects(added)
	var created []item
	for n, o := range objects {
		if r.Walk().PlanCreate(o) != session.NoConflict {
			created = append(created, added[n])
		}
	}
	if len(created) > 0 {
		addCreatedTwice(diags, created)
		return false
	}
	var adopted, refused []match
	for n, o := range objects {
		found := match{item: added[n], mailbox: l[added[n].localPart()]}
		if found.mailbox != nil {
			o.ID = found.mailbox.ID
			found.conflict = r.Walk().PlanExisting(o, service.Adopts(plan.OnExisting))
		} else {
			found.conflict = r.Walk().PlanNew(o)
		}
		switch {
		case found.conflict != session.NoConflict:
			refused = append(refused, found)
		case found.mailbox != nil:
			adopted = append(adopted, found)
		}
	}
	if len(refused) > 0 {
		addExisting(diags, refused, isNew)
	} else if len(adopted) > 0 {
		warnAdoption(diags, plan, adopted)
		return true
	}
	return false
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
	warnRetired(diags, *plan, c)
	added, removed, kept := changesOf(prior, c)
	deleted, _, released := plan.retirement(removed, imported)
	c.unmanaged = slices.Concat(prior.unmanaged, addresses(released))
	for _, i := range kept {
		c.put(i)
	}
	for n, i := range added {
		added[n].address, added[n].id = address(i.key, state.DomainName.ValueString()), compact.Text{Unknown: true}
		c.put(added[n])
	}
	// Added mailboxes are managed. Mailboxes that somebody else creates appear in the next refresh.
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
	var l listing
	if known, ok := r.Notes().Load(refreshed{state.ID.ValueString()}); ok {
		l = known.(listing)
	}
	if r.planCreates(*plan, added, l, false, diags); diags.HasError() {
		return
	}
	warnReleased(diags, state, released, imported, false)
	r.checkRemaining(ctx, state, deleted, diags)
}

// record registers in the walk the mailboxes of the state that a plan keeps, deletes or releases. It
// adds an error if another resource of the plan contradicts it.
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

// checkRemaining warns in a plan about mailboxes that leave the set and that the API can't delete.
func (r *Resource) checkRemaining(ctx context.Context, state model, deleted []item, diags *diag.Diagnostics) {
	if !canDelete(ctx, r.ClientIfOpen(ctx), deleted) {
		warnRemaining(diags, state, addresses(deleted))
	}
}

// canDelete reports whether the API can delete mailboxes, as far as is known.
func canDelete(ctx context.Context, c *client.Client, items []item) bool {
	return c == nil || len(items) == 0 || c.Supports(ctx, api.DeleteMailbox.Spec, items[0].id.Value)
}

// planDestroy plans the destruction of the set.
func (r *Resource) planDestroy(ctx context.Context, state model, diags *diag.Diagnostics) {
	deleted, _, kept := state.retirement(state.contents(diags).sorted(), false)
	if r.record(state, nil, deleted, kept, diags); diags.HasError() {
		return
	}
	warnReleased(diags, state, kept, false, true)
	r.checkRemaining(ctx, state, deleted, diags)
}

// losses returns the mail that a planned change deletes. ModifyPlan reports an unknown map.
func losses(ctx context.Context, ch service.Change[model]) []service.Loss {
	if ch.Fate == service.Created {
		return nil // its plan adds mailboxes, or adopts them
	}
	var reported diag.Diagnostics // by ModifyPlan
	prior, after := ch.Before.contents(&reported), ch.After.contents(&reported)
	var deleted, unnamed []item
	allowed, keep, next := ch.After.MaxDeletions, keepEntry, updateRefused
	switch {
	case ch.Fate == service.Destroyed:
		deleted, unnamed, _ = ch.Before.retirement(prior.sorted(), false)
		allowed, keep, next = ch.Before.MaxDeletions, keepBefore, destroyRefused
	case ch.Fate == service.Replaced:
		deleted, unnamed, _ = ch.Before.retirement(prior.sorted(), false)
		// With create_before_destroy, core plans the delete again in the apply, without this plan.
		if !allowed.IsUnknown() {
			allowed = types.Int64Value(min(allowed.ValueInt64(), ch.Before.MaxDeletions.ValueInt64()))
		}
		keep, next = keepBefore, replacementRefused
	case ch.Fate == service.Updated && !ch.After.Mailboxes.IsUnknown():
		added, removed, _ := changesOf(prior, after)
		deleted, unnamed, _ = ch.After.retirement(removed, service.GetPrivate[bool](ctx, ch.Private, importedKey))
		if len(added) > 0 {
			keep, next = changedKeys+"\n\n"+keep, changedKeys+"\n\n"+next
		}
	}
	if len(deleted) == 0 || !canDelete(ctx, ch.ClientIfOpen(ctx), deleted) {
		return nil
	}
	l := ch.Before.deletion(deleted, unnamed, allowed, keep, next)
	targets := addresses(deleted)
	if known, ok := ch.Notes().Load(refreshed{ch.Before.ID.ValueString()}); ok {
		targets = append(targets, known.(listing).aliases(deleted)...)
	}
	ch.EndRules(ctx, &l, report.Plural(len(deleted), "it", "one of them"), targets...)
	return []service.Loss{l}
}
