package dnszone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/dnsrecord"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

type goal struct {
	want    []entry
	ignored patterns
	// isRemovable reports whether the plan announced that it removes a record.
	isRemovable func(record) bool
	// prior contains the records of the state, for an API that can't list records.
	prior map[record]int64
}

type run struct {
	zone
	at map[record]path.Path

	mu     sync.Mutex
	diags  diag.Diagnostics
	actual map[record]int64
	// isStopped means that an error also concerns the remaining steps. skipped counts the steps not made.
	isStopped bool
	skipped   int
	// adopted are existing records known only from a conflict.
	adopted []record
}

// apply changes the domain's records to the goal. It returns the records of the zone afterwards, and the
// removed records. Each failure is an error at the record's value and stops no other change except the
// deletes, which require that everything else succeeded.
func (z zone) apply(ctx context.Context, g goal, diags *diag.Diagnostics) (actual map[record]int64, removed []record) {
	has, err := z.read(ctx)
	isUnreadable := errors.Is(err, errUnreadable)
	switch {
	case isUnreadable: // the API can only create records: trust the state
		has.records = make(map[record]served, len(g.prior))
		for r, ttl := range g.prior {
			has.records[r] = served{ttl: ttl}
		}
		g.isRemovable = func(record) bool { return false }
	case err != nil:
		report.Error(diags, err, "Can't read the DNS records of "+z.name, nil)
		return g.prior, nil
	}
	if addSystemManaged(diags, g.want, has.system); diags.HasError() {
		return has.ttls(g.ignored), nil
	}
	run := &run{zone: z, at: map[record]path.Path{}, actual: has.ttls(g.ignored)}
	for _, e := range g.want {
		for i, v := range e.values {
			if v.isValid() {
				run.at[v.record] = e.at(i)
			}
		}
	}
	want := contents(g.want)
	run.all(ctx, changesOf(has.records, want, func(r record) bool { return !g.ignored.match(r.recordKey) && g.isRemovable(r) }))
	diags.Append(run.diags...)

	var left []record
	for _, found := range sorted(has.ttls(g.ignored)) {
		if _, stays := run.actual[found]; !stays {
			removed = append(removed, found)
		} else if _, ok := want[found]; !ok && !g.isRemovable(found) {
			left = append(left, found)
			delete(run.actual, found)
		}
	}
	if isUnreadable {
		warnBlindlyAdopted(diags, z.name, run.adopted)
		warnRemaining(diags, z, left)
	} else {
		warnAppeared(diags, z.name, left)
	}
	return run.actual, removed
}

func (r *run) all(ctx context.Context, c changes) {
	client.Parallel(r.client, c.byName, func(steps []step) {
		isServed := false
		var deleted []step
		for _, s := range steps {
			done := r.do(ctx, s)
			if s.isDelete && !done {
				break // the next records can't be created beside it
			}
			if s.isDelete {
				deleted = append(deleted, s)
			} else if done {
				isServed = true
			}
		}
		if !isServed {
			r.putBack(ctx, deleted)
		}
	})
	if r.diags.HasError() {
		if len(c.deletes) > 0 {
			r.diags.AddWarning("Nothing else was removed from "+r.name,
				fmt.Sprintf("The plan also removes these records. They stay until everything else has succeeded, so that no record is missing in between:%s", report.FirstBullets(lines(c.deletes))))
		}
	} else {
		client.Parallel(r.client, c.deletes, func(s step) { r.do(ctx, s) })
	}
	if r.skipped > 0 {
		r.diags.AddError("The changes of the DNS records of "+r.name+" were stopped",
			fmt.Sprintf("%d more changes were not attempted, because they would have failed for the same reason. Run apply again: it continues from here.", r.skipped))
	}
}

// putBackTimeout limits the repair of a name, which an interrupt of the run does not stop.
const putBackTimeout = 30 * time.Second

// putBack recreates records that were deleted for others, if none of the others could be created, so
// that their name does not stay without a record.
func (r *run) putBack(ctx context.Context, deleted []step) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), putBackTimeout)
	defer cancel()
	for _, s := range deleted {
		err := r.create(ctx, s)
		r.mu.Lock()
		if err != nil {
			report.ErrorWithAdvice(&r.diags, err, fmt.Sprintf("%s of %s has lost its record", s.recordKey, r.name), nil,
				fmt.Sprintf("The record %s was deleted for one that could not be created, and can't be put back. The name can't be resolved until an apply succeeds.", shortened(s.String())))
		} else {
			r.actual[s.record] = s.ttl
			r.diags.AddWarning(fmt.Sprintf("The record %s of %s was put back", shortened(s.String()), r.name),
				"It was deleted for a record that could not be created. Nothing else has changed at this name.")
		}
		r.mu.Unlock()
	}
}

// do makes one change, and reports whether it succeeded.
func (r *run) do(ctx context.Context, s step) bool {
	if r.skip() {
		return false
	}
	var err error
	summary := fmt.Sprintf("Can't create the record %s of %s", shortened(s.String()), r.name)
	switch {
	case s.isDelete:
		summary = fmt.Sprintf("Can't delete the record %s of %s", shortened(s.String()), r.name)
		if err = r.client.DNSRecords.Delete(ctx, s.id); client.IsNotFound(err) {
			err = nil
		}
	case s.before != nil && s.id == "":
		summary = fmt.Sprintf("Can't change the ttl of the record %s of %s", shortened(s.String()), r.name)
		err = errCantChange
	case s.before != nil:
		summary = fmt.Sprintf("Can't change the record %s of %s to %s", shortened(s.before.String()), r.name, shortened(s.value()))
		_, err = r.client.UpdateDNSRecord(ctx, s.id, s.update())
		if client.IsNotFound(err) { // deleted since the list was read
			err = r.create(ctx, s)
		}
	default:
		err = r.create(ctx, s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.fail(ctx, err, summary, s)
		return false
	}
	if s.before != nil {
		delete(r.actual, *s.before)
	}
	if r.actual[s.record] = s.ttl; s.isDelete {
		delete(r.actual, s.record)
	}
	return true
}

func (r *run) skip() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isStopped {
		r.skipped++
	}
	return r.isStopped
}

// fail adds the error of a step; r.mu must be held.
func (r *run) fail(ctx context.Context, err error, summary string, s step) {
	r.isStopped = r.isStopped || ctx.Err() != nil || client.IncidentOf(err) != nil
	at, ok := r.at[s.record]
	if !ok || client.IncidentOf(err) != nil { // an error of the connection is reported once for all objects
		report.Error(&r.diags, err, summary, nil)
		return
	}
	var found diag.Diagnostics
	report.Error(&found, err, summary, nil)
	for _, d := range found {
		r.diags.Append(diag.WithPath(at, d))
	}
}

// update returns the changes of the step.
func (s step) update() (body api.UpdateDNSRecordBody) {
	if s.rdata != s.before.rdata {
		body.Value = &s.rdata
	}
	if s.priority != s.before.priority {
		body.Prio = s.prio()
	}
	body.TTL = &s.ttl // null would mean the default
	return body
}

// create creates the record of a step, or adopts an identical record that others created.
func (r *run) create(ctx context.Context, s step) error {
	_, err := dnsrecord.Create(ctx, r.client, api.CreateDNSRecordBody{Domain: r.id, Name: s.name, Type: s.recordType, Value: s.rdata, TTL: &s.ttl, Prio: s.prio()})
	if !client.IsConflict(err) {
		return err
	}
	found, lookup := r.client.FindDNSRecords(ctx, r.id, s.recordType, s.name, s.rdata)
	if errors.Is(lookup, client.ErrReadUnsupported) && dnsrecord.ExistingID(err) != 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.adopted = append(r.adopted, s.record)
		return nil
	}
	for _, other := range found {
		if other.IsSystemManaged || recordOf(&other, r.name) != s.record {
			continue
		}
		if other.TTL != s.ttl {
			_, err = r.client.UpdateDNSRecord(ctx, strconv.FormatInt(other.ID, 10), api.UpdateDNSRecordBody{TTL: &s.ttl})
			return err
		}
		return nil
	}
	return err
}

var (
	errUnreadable = report.WithAdvice(errors.New("this API has no operation that lists DNS records"),
		"Create the zone with Terraform, without an import: a create keeps identical records.")
	errCantChange = report.WithAdvice(errors.New("this API has no operation that changes a DNS record"),
		"Restore the ttl in the configuration. Or remove the key and run apply, remove the record in the service's own control panel, and add the key again.")
)

// step is a request that changes one record.
type step struct {
	// record is the record after a create or a change, or the deleted record.
	record

	ttl int64
	// id identifies the changed or deleted record; it is "" for a create, and on an API that can't list records.
	id string
	// before is the content of the changed record.
	before *record
	// isDelete distinguishes a delete from a change.
	isDelete bool
}

// changes lead from the domain's records to the wanted records.
//
// A surplus record is changed to a missing record of the same name, type and purpose if there is one, so
// that the name is never without a record. Other missing records are created first, and other surplus
// records deleted at the end. Only a record that excludes a wanted one, such as a CNAME, is deleted earlier.
type changes struct {
	// byName contains a sequence for each name. The sequences are independent of each other.
	byName [][]step
	// deletes follow after all sequences succeeded.
	deletes []step
}

// bucket groups records that can be changed to each other.
type bucket struct {
	recordKey
	purpose dnsdata.Purpose
}

func bucketOf(r record) bucket { return bucket{r.recordKey, r.purpose()} }

// changesOf returns the changes from the domain's records to the wanted records with their TTLs, where
// mixedTTL keeps the TTL of an existing record. A new record then gets the TTL of its key: the TTLs of one
// name and type are the same (RFC 2181, section 5.2). It deletes only records for which isRemovable returns true.
func changesOf(has map[record]served, want map[record]int64, isRemovable func(record) bool) (c changes) {
	surplus, ttls := map[bucket][]record{}, map[recordKey]int64{}
	for _, r := range sorted(has) {
		if _, isKnown := ttls[r.recordKey]; !isKnown {
			ttls[r.recordKey] = has[r].ttl
		}
		if _, ok := want[r]; !ok && isRemovable(r) {
			surplus[bucketOf(r)] = append(surplus[bucketOf(r)], r)
		}
	}
	byName := map[string][]step{}
	for _, r := range sorted(want) {
		s, b := step{record: r, ttl: want[r]}, bucketOf(r)
		if known, exists := has[r]; exists {
			if known.ttl == s.ttl || s.ttl == mixedTTL {
				continue
			}
			s.id, s.before = known.id, &r
		} else if len(surplus[b]) > 0 {
			// Prefer a change of only the priority, which keeps the value.
			i := max(0, slices.IndexFunc(surplus[b], func(other record) bool { return other.rdata == r.rdata }))
			before := surplus[b][i]
			surplus[b] = slices.Delete(surplus[b], i, i+1)
			s.id, s.before = has[before].id, &before
			if s.ttl == mixedTTL {
				s.ttl = has[before].ttl
			}
		}
		if s.ttl == mixedTTL {
			s.ttl = cmp.Or(ttls[r.recordKey], api.DefaultDNSTTL)
		}
		byName[r.name] = append(byName[r.name], s)
	}
	for _, left := range surplus {
		for _, r := range left {
			s := step{record: r, ttl: has[r].ttl, id: has[r].id, isDelete: true}
			if excludes(r, byName[r.name]) {
				byName[r.name] = append(byName[r.name], s)
			} else {
				c.deletes = append(c.deletes, s)
			}
		}
	}
	slices.SortFunc(c.deletes, step.compare)
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		slices.SortFunc(byName[name], step.compare)
		c.byName = append(c.byName, byName[name])
	}
	return c
}

// compare orders the steps at a name: deletes, changes, creates.
func (s step) compare(other step) int {
	phase := func(s step) int {
		switch {
		case s.isDelete:
			return 0
		case s.before != nil:
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(phase(s), phase(other)), s.record.compare(other.record))
}

// excludes reports whether a surplus record must be deleted before the steps at its name.
func excludes(r record, steps []step) bool {
	return slices.ContainsFunc(steps, func(s step) bool {
		isCNAME := r.recordType == dnsdata.TypeCNAME || s.recordType == dnsdata.TypeCNAME
		return !s.isDelete && (isCNAME || r.recordType == s.recordType && s.isNullMX())
	})
}
