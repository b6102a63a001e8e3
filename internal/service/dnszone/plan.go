package dnszone

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var config model
	if !req.Config.Raw.IsNull() {
		resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	}
	switch {
	case resp.Diagnostics.HasError():
		return
	case req.Plan.Raw.IsNull():
		r.planDestroy(ctx, req, resp, state)
		return
	case req.State.Raw.IsNull():
		r.planCreate(ctx, config, &plan, false, &resp.Diagnostics)
	case service.DestroysOrReplaces(resp):
		// Core plans the create of a replacement again, but shows no warnings of that plan.
		r.planDestroy(ctx, req, resp, state)
		r.planCreate(ctx, config, &plan, true, &resp.Diagnostics)
	default:
		r.planUpdate(ctx, req, config, &plan, state, &resp.Diagnostics)
	}
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
		service.DropEmptyUpdate(req, resp)
	}
}

// planCreate completes the plan that takes a domain over.
func (r *Resource) planCreate(ctx context.Context, config model, plan *model, isReplacement bool, diags *diag.Diagnostics) {
	entries, existing := entriesOf(config.Records, ""), map[record]int64(nil)
	defer func() { warnEncoded(diags, *plan, entries, existing) }()
	plan.Records = keepSpelling(config.Records, withUnknownTTLs(entries), types.MapNull(entryType), nil)
	// In the apply, core plans a create again and refuses a different known value. This would
	// stop the apply if others change the domain's records after the plan.
	plan.Purged = types.ListUnknown(types.StringType)
	c := r.ClientIfOpen(ctx)
	if c == nil || plan.Domain.IsUnknown() {
		return
	}
	ref := plan.Domain.ValueString()
	z, err := lookUp(ctx, c, ref)
	if client.IsNotFound(err) { // the apply may create the domain
		r.WarnMissingDomain(ctx, ref, diags)
		z = zone{client: c, name: attribute.DomainName(ref)}
	} else if err != nil {
		report.Error(diags, err, "Can't look up the domain of the "+plan.String(), nil)
		return
	}
	if z.id != "" {
		plan.setDomain(z.id, z.name)
	} else if z.name != "" {
		plan.DomainName = types.StringValue(z.name)
	}
	entries = entriesOf(config.Records, z.name)
	check(entries, config.Ignore, z.name, diags)
	r.checkResources(z, entries, config.Ignore, diags)
	planTTLs := func(existing map[record]int64) {
		plan.Records = keepSpelling(config.Records, withKeptTTLs(entries, existingEntries(existing, z.name)), types.MapNull(entryType), nil)
	}
	planTTLs(nil)
	if z.id == "" || diags.HasError() {
		return
	}
	// The create adopts the domain's zone. Another resource may name the domain by its id instead of its name.
	if !isReplacement {
		o := session.Object{Type: typeName, ID: z.id, Keys: attribute.DomainKeys(func(string) string { return ref }, ""), IsValuable: true}
		if conflict := r.Walk().PlanExisting(o, true); conflict != session.NoConflict {
			service.AddConflict(diags, "DNS zone of "+z.name, z.id, conflict)
			return
		}
	}
	has, err := z.readOnce(ctx, r.Notes())
	existing = has.ttls(nil)
	switch {
	case errors.Is(err, errUnreadable):
		warnUnseen(diags, z.name)
	case err != nil:
		report.Error(diags, err, "Can't read the DNS records of "+z.name, nil)
	default:
		addSystemManaged(diags, entries, has.system)
		planTTLs(has.ttls(nil))
		// If this apply just created or adopted the domain, and the configuration refers to its id, the
		// first plan did not know the domain and named no record.
		if uuid.Validate(ref) == nil && r.Walk().IsAcquired(session.Object{Type: "mailhost_domain", ID: z.id}) {
			plan.Purged = types.ListNull(types.StringType)
		}
	}
}

// checkResources adds an error if the walk contains resources for records that the zone manages
// or removes.
func (r *Resource) checkResources(z zone, entries []entry, ignore types.List, diags *diag.Diagnostics) {
	ignored, isKnown := patternsOf(ignore, z.name) // unknown patterns may match any record
	r.claim(z, func(k recordKey) bool { return slices.ContainsFunc(entries, func(e entry) bool { return e.key == k }) },
		func(k recordKey) bool { return isKnown && !ignored.match(k) }, diags)
}

// claim registers in the walk the records that a plan keeps and removes, and adds an error if other
// resources contradict it.
func (r *Resource) claim(z zone, keeps, removes func(recordKey) bool, diags *diag.Diagnostics) {
	named := func(match func(recordKey) bool) func(name, recordType string) bool {
		return func(name, recordType string) bool { // as configured, in full or relative to the domain
			name, err := dnsdata.NormalizeName(name, z.name)
			return err == nil && match(recordKey{name, recordType})
		}
	}
	in := session.Domain{ID: z.id, Name: z.name}
	addContradicting(diags, z.name, r.Walk().PlanZone(session.PlannedZone{Domain: in, Keeps: named(keeps), Removes: named(removes)}))
}

// purgedList returns the attribute purged, which is null without records.
func purgedList(removed []record) types.List {
	if len(removed) == 0 {
		return types.ListNull(types.StringType)
	}
	values := make([]attr.Value, len(removed))
	for i, r := range removed {
		values[i] = types.StringValue(r.String())
	}
	return types.ListValueMust(types.StringType, values)
}

// planUpdate completes the plan of an existing zone.
func (r *Resource) planUpdate(ctx context.Context, req resource.ModifyPlanRequest, config model, plan *model, state model, diags *diag.Diagnostics) {
	name := state.DomainName.ValueString()
	z := state.zone(r.ClientIfOpen(ctx))
	entries, prior := entriesOf(config.Records, name), state.entries()
	check(entries, config.Ignore, name, diags)
	r.checkResources(z, entries, config.Ignore, diags)
	plan.Records, plan.Purged = keepSpelling(config.Records, withKeptTTLs(entries, prior), state.Records, prior), state.Purged
	if diags.HasError() {
		return
	}
	before, o := contents(prior), originOf(ctx, req.Private)
	warnEncoded(diags, state, entries, before)
	ignored, isKnown := patternsOf(config.Ignore, name)
	if config.Records.IsUnknown() || !isKnown {
		plan.Purged = types.ListUnknown(types.StringType)
		return
	}
	if !config.Ignore.Equal(state.Ignore) {
		purged, _ := removedFrom(o.ignored(name), entries, ignored)
		plan.Purged = purgedList(purged)
	}
	removed, released := removedFrom(before, entries, ignored)
	warnReleased(diags, name, released)
	if z.canOnlyCreate(ctx, r.Notes(), removed) {
		warnRemaining(diags, z, removed)
	}
}

// removedFrom returns the records of the state that the configuration does not contain: the records
// that an apply removes (or may remove, if values of their key are unknown), and the records that it
// leaves to others.
func removedFrom(before map[record]int64, entries []entry, ignored patterns) (removed, released []record) {
	want := contents(entries)
	for _, r := range sorted(before) {
		switch _, isWanted := want[r]; {
		case isWanted:
		case ignored.match(r.recordKey):
			released = append(released, r)
		default:
			removed = append(removed, r)
		}
	}
	return removed, released
}

// planDestroy warns about the records that a destroy deletes or leaves.
func (r *Resource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, state model) {
	deleted, staying := destroyed(state, originOf(ctx, req.Private))
	z := state.zone(r.ClientIfOpen(ctx))
	r.claim(z, func(recordKey) bool { return false }, func(k recordKey) bool {
		return slices.ContainsFunc(deleted, func(d record) bool { return d.recordKey == k })
	}, &resp.Diagnostics)
	switch {
	case resp.Diagnostics.HasError():
	case z.canOnlyCreate(ctx, r.Notes(), deleted):
		warnRemaining(&resp.Diagnostics, z, deleted)
	default:
		warnStaying(&resp.Diagnostics, z.name, staying)
	}
}

// destroyed returns the records of the state that a destroy deletes, and the records of others
// that stay.
func destroyed(state model, o origin) (deleted, staying []record) {
	isForeign := o.isForeign()
	for _, r := range sorted(contents(state.entries())) {
		if isForeign(r) {
			staying = append(staying, r)
		} else {
			deleted = append(deleted, r)
		}
	}
	return deleted, staying
}

// canOnlyCreate reports whether there are records that this API can't delete. An API that can't
// list DNS records supports no other lifecycle operation on them.
func (z zone) canOnlyCreate(ctx context.Context, notes *sync.Map, records []record) bool {
	if len(records) == 0 {
		return false
	}
	_, err := z.readOnce(ctx, notes)
	return errors.Is(err, errUnreadable)
}
