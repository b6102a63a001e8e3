package dnszone

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/dnsrecord"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// mostRemoved and mostRemovedPercent are the number and the share of a domain's names that a plan may
// remove without max_deletions, whichever is more.
const (
	mostRemoved        = 9
	mostRemovedPercent = 30
)

// losses returns the losses of a planned change: the removed records, and a change of the MX, SPF or
// DMARC records in force.
func losses(ctx context.Context, ch service.Change[model]) []service.Loss {
	switch ch.Fate {
	case service.Created:
		return takeOverLosses(ctx, &ch)
	case service.Updated:
		return updateLosses(ctx, &ch)
	case service.Replaced: // core shows no warnings of the create's plan
		return append(destroyLosses(ctx, &ch), takeOverLosses(ctx, &ch)...)
	case service.Destroyed:
		return destroyLosses(ctx, &ch)
	}
	return nil
}

// difference compares the records of a domain before and after an apply.
type difference struct {
	zone

	// before contains the removed records and the records that stay, of this zone and of others.
	before  map[record]int64
	removed map[record]bool
	want    []entry
	ignored patterns
}

// compare returns the difference that a plan makes. It removes the records of managed that want lacks and
// ignored does not match, and leaves others.
func compare(z zone, managed, others map[record]int64, want []entry, ignored patterns) difference {
	d := difference{zone: z, before: maps.Clone(others), removed: map[record]bool{}, want: want, ignored: ignored}
	maps.Copy(d.before, managed)
	removed, _ := removedFrom(managed, want, ignored)
	for _, r := range removed {
		d.removed[r] = true
	}
	return d
}

// takeOverLosses returns the losses of a create, which removes every record of others.
func takeOverLosses(ctx context.Context, ch *service.Change[model]) []service.Loss {
	m, c := ch.After, ch.ClientIfOpen(ctx)
	isReplacement := ch.Fate == service.Replaced
	switch {
	case c == nil, m.Domain.IsUnknown():
		if c == nil || c.Supports(ctx, api.DeleteDNSRecord.Spec, "1") { // an id, whether or not a record has it
			return unnamed("domain")
		}
		return nil
	// The domain does not exist, or the plan can't be applied.
	case m.ID.IsUnknown() || isReplacement && m.ID.Equal(ch.Before.ID), !m.isValid():
		return nil
	case m.Purged.IsNull(): // the create removes nothing
		return nil
	}
	z := m.zone(c)
	content, err := z.readOnce(ctx, ch.Notes())
	if err != nil && !errors.Is(err, errUnreadable) { // reported by the plan
		return nil
	}
	ignored, isKnown := patternsOf(m.Ignore, z.name)
	d := compare(z, content.ttls(nil), map[record]int64{}, entriesOf(m.Records, z.name), ignored)
	l := d.removal(func(record) bool { return false }, false)
	isKnown = isKnown && !m.Records.IsUnknown()
	if !isKnown || slices.ContainsFunc(d.want, func(e entry) bool { return !e.isKnown }) {
		l.Consequence = "Some values of records or ignore are known only after the apply: what records has then, or ignore matches, stays."
	}
	if isKnown { // otherwise the apply refuses
		d.guard(&l, m.MaxDeletions, fmt.Sprintf("To keep all of them, import the zone with an import block with the id %s, and put its records into the configuration: terraform plan -generate-config-out=zone.tf writes them. ", z.name)+keepAdvice)
	}
	if ch.Walk().IsAcquired(session.Object{Type: "mailhost_domain", ID: z.id}) {
		content.system = nil // the same apply bought or adopted the domain: nothing was in force for its plan
	}
	return d.losses(l, isKnown, func() (dnsrecord.Mail, bool) { return mailOf(content.system), err == nil })
}

// updateLosses returns the losses of an update, which removes records of the state and, if ignore
// changes, records that ignore matched before.
func updateLosses(ctx context.Context, ch *service.Change[model]) []service.Loss {
	m, o := ch.After, originOf(ctx, ch.Private)
	m.DomainName = ch.Before.DomainName
	z := ch.Before.zone(ch.ClientIfOpen(ctx))
	prior, others := contents(ch.Before.entries()), o.ignored(z.name)
	ignored, isKnown := patternsOf(m.Ignore, z.name)
	unknown := "ignore"
	if m.Records.IsUnknown() {
		unknown = "records"
	}
	switch {
	case !m.isValid():
		return nil
	case unknown == "records" || !isKnown:
		if z.canOnlyCreate(ctx, ch.Notes(), sorted(prior)) {
			return nil
		}
		return unnamed(unknown)
	}
	managed := maps.Clone(prior)
	if !m.Ignore.Equal(ch.Before.Ignore) {
		maps.Copy(managed, others)
	}
	d := compare(z, managed, others, entriesOf(m.Records, z.name), ignored)
	if z.canOnlyCreate(ctx, ch.Notes(), sorted(d.removed)) {
		d.removed = nil
	}
	isForeign := o.isForeign()
	l := d.removal(func(r record) bool { _, isPrior := prior[r]; return isPrior && !isForeign(r) }, o.IsImported)
	d.guard(&l, m.MaxDeletions, keepAdvice)
	return d.losses(l, true, func() (dnsrecord.Mail, bool) {
		content, err := z.readOnce(ctx, ch.Notes())
		return mailOf(content.system), err == nil
	})
}

// destroyLosses returns the losses of a destroy, which leaves the records of others.
func destroyLosses(ctx context.Context, ch *service.Change[model]) []service.Loss {
	o := originOf(ctx, ch.Private)
	z := ch.Before.zone(ch.ClientIfOpen(ctx))
	deleted, _ := destroyed(ch.Before, o)
	if z.canOnlyCreate(ctx, ch.Notes(), deleted) {
		return nil
	}
	l := ch.Ending("deletes", "", service.DNS)
	l.Does = fmt.Sprintf("deletes %s of %s", count(len(deleted)), z.name)
	l.Lists, l.Items = "Names that have no other record can't be resolved any more:", lines(deleted)
	d := difference{zone: z, before: contents(ch.Before.entries()), removed: map[record]bool{}}
	maps.Copy(d.before, o.ignored(z.name))
	for _, r := range deleted {
		d.removed[r] = true
	}
	return d.losses(l, true, func() (dnsrecord.Mail, bool) { return nil, true })
}

// isValid reports whether the known entries and patterns are valid: others are errors of the plan.
func (m model) isValid() bool {
	var diags diag.Diagnostics
	domain := m.DomainName.ValueString()
	check(entriesOf(m.Records, domain), m.Ignore, domain, &diags)
	return !diags.HasError()
}

// losses returns the loss of the removed records, if there are any, and the changes of the MX, SPF and
// DMARC records in force, if the plan knows them.
func (d difference) losses(removal service.Loss, isKnown bool, builtIn func() (dnsrecord.Mail, bool)) (losses []service.Loss) {
	if len(removal.Items) > 0 {
		losses = append(losses, removal)
	}
	if isKnown {
		losses = append(losses, dnsrecord.ReachLosses(d.name, mailOf(d.before), d.mailAfter(), builtIn)...)
	}
	return losses
}

// mailOf returns the MX, SPF and DMARC records among records.
func mailOf[V any](records map[record]V) dnsrecord.Mail {
	all := dnsrecord.Mail{}
	for r := range records {
		all.Add(r.name, r.recordType, r.rdata, r.prio())
	}
	return all
}

// mailAfter returns the MX, SPF and DMARC records after the apply.
func (d difference) mailAfter() dnsrecord.Mail {
	after := maps.Clone(d.before)
	for r := range d.removed {
		delete(after, r)
	}
	maps.Copy(after, contents(d.want))
	all := mailOf(after)
	for _, e := range d.want {
		if e.keyErr == nil && !e.isKnown {
			all.AddUnknown(e.key.name, e.key.recordType, mailOf(d.before))
		}
	}
	return all
}

// removal returns the loss of the removed records. A value that an apply wrote, and that becomes another
// value of its entry, is a change that the plan shows, and no loss, unless isImported.
func (d difference) removal(isOwn func(record) bool, isImported bool) service.Loss {
	has := make(map[record]served, len(d.before))
	for r, ttl := range d.before {
		has[r] = served{ttl: ttl}
	}
	isDeleted := map[record]bool{}
	changes := changesOf(has, contents(d.want), func(r record) bool { return d.removed[r] })
	for _, s := range slices.Concat(append(changes.byName, changes.deletes)...) {
		isDeleted[s.record] = s.isDelete
	}
	// A record may become an unknown value of its entry.
	isUnknown := map[recordKey]bool{}
	for _, e := range d.want {
		isUnknown[e.key] = !e.isKnown
	}
	var own, others []record
	for _, r := range sorted(d.removed) {
		switch {
		case !isOwn(r):
			others = append(others, r)
		case isImported, isDeleted[r] && !isUnknown[r.recordKey]:
			own = append(own, r)
		}
	}
	const managed, unmanaged = "Managed by this zone so far:", "Not managed by this zone so far:"
	l := service.Loss{
		Of:      []service.Asset{service.DNS},
		Does:    fmt.Sprintf("removes %s of %s", count(len(own)+len(others)), d.name),
		At:      recordsPath,
		Because: "The domain contains records that the attribute records does not list.",
		Lists:   unmanaged,
		Items:   lines(others),
		Keep:    "To keep one, add it to records. To leave it to others, add its name and type to ignore.",
	}
	switch {
	case len(others) == 0:
		l.Lists, l.Items = managed, lines(own)
	case len(own) > 0:
		l.Lists = report.Paragraphs(managed+report.Bullets(lines(own)), unmanaged)
	}
	return l
}

// keepAdvice is the advice for a plan that removes too many names.
const keepAdvice = "If the file or the list that records comes from was cut off, restore it. To keep a record, add it to records; to leave it to others, add its name and type to ignore. " +
	"To stop managing the domain's records without removing any, use a removed block with destroy = false."

// guard makes the plan an error if it removes too many of the domain's names.
func (d difference) guard(l *service.Loss, most types.Int64, next string) {
	stays, all := map[string]bool{}, map[string]bool{}
	for r := range d.before {
		stays[r.name] = stays[r.name] || !d.removed[r]
		if !d.ignored.match(r.recordKey) {
			all[r.name] = true
		}
	}
	for _, e := range d.want {
		stays[e.key.name] = true
	}
	lost := map[string][]string{}
	for _, r := range sorted(d.removed) {
		if !stays[r.name] && !slices.Contains(lost[r.name], r.recordType) {
			lost[r.name] = append(lost[r.name], r.recordType)
		}
	}
	l.Guard = &service.Guard{Max: most}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		l.Guard.Counted = append(l.Guard.Counted, name+" "+strings.Join(lost[name], ", "))
	}
	n := len(l.Guard.Counted)
	l.Guard.Default = max(mostRemoved, len(all)*mostRemovedPercent/100)
	l.Guard.Does = fmt.Sprintf("remove %d of the %d names of %s", n, len(all), d.name)
	l.Guard.Lists = "These names would lose all their records:"
	l.Guard.Next = fmt.Sprintf("%s\n\nTo remove all of them, set max_deletions = %d, and remove it after the apply.", next, n)
}

// unnamed returns the loss of a plan with an unknown attribute on which the removals depend.
func unnamed(name string) []service.Loss {
	return []service.Loss{{
		Of:      []service.Asset{service.DNS},
		Does:    "can't name the DNS records that the zone removes",
		At:      path.Root(name),
		Because: fmt.Sprintf("Only the apply will know %s. It removes every record of the domain that neither records nor ignore lists.", name),
		Keep:    fmt.Sprintf("To see them before, set %s to a value that the plan knows.", name),
	}}
}
