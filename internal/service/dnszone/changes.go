package dnszone

import (
	"maps"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// step is a request that changes one record.
type step struct {
	// record is the record that the step creates, changes another one to, or deletes.
	record

	ttl int64
	// id is the record that is changed or deleted; 0 for a create.
	id int64
	// before is the content of the record that is changed.
	before *record
	// isDelete distinguishes a delete from a change.
	isDelete bool
}

// changes lead from the records that a domain has to the wanted ones.
//
// A surplus record is changed to a missing one of the same name, type and purpose where
// there are both, so that the name is never without a record. The other missing records
// are created first, and the other surplus ones deleted at the end. Only a record that
// excludes a wanted one, such as a CNAME, is deleted before.
type changes struct {
	// byName are sequences, one for each name. They are independent of each other.
	byName [][]step
	// deletes follow when all of them have succeeded.
	deletes []step
}

// bucket groups records that can be changed to each other.
type bucket struct {
	recordKey
	purpose dnsdata.Purpose
}

func bucketOf(r record) bucket { return bucket{r.recordKey, r.purpose()} }

// changesOf returns the changes from what a domain has to the wanted records with their
// TTLs. It deletes only what isRemovable reports.
func changesOf(has map[record]served, want map[record]int64, isRemovable func(record) bool) changes {
	surplus := map[bucket][]record{}
	for _, r := range sorted(has) {
		if _, ok := want[r]; !ok && isRemovable(r) {
			surplus[bucketOf(r)] = append(surplus[bucketOf(r)], r)
		}
	}
	updates, creates := map[string][]step{}, map[string][]step{}
	for _, r := range sorted(want) {
		ttl := want[r]
		if s, ok := has[r]; ok {
			if s.ttl != ttl {
				updates[r.name] = append(updates[r.name], step{record: r, ttl: ttl, id: s.id, before: &r})
			}
			continue
		}
		b := bucketOf(r)
		if len(surplus[b]) == 0 {
			creates[r.name] = append(creates[r.name], step{record: r, ttl: ttl})
			continue
		}
		// A change of the priority alone keeps the value.
		i := max(0, slices.IndexFunc(surplus[b], func(other record) bool { return other.rdata == r.rdata }))
		before := surplus[b][i]
		surplus[b] = slices.Delete(surplus[b], i, i+1)
		updates[r.name] = append(updates[r.name], step{record: r, ttl: ttl, id: has[before].id, before: &before})
	}
	return order(has, surplus, updates, creates)
}

func order(has map[record]served, surplus map[bucket][]record, updates, creates map[string][]step) (c changes) {
	first := map[string][]step{}
	for _, left := range surplus {
		for _, r := range left {
			s := step{record: r, ttl: has[r].ttl, id: has[r].id, isDelete: true}
			if excludes(r, updates[r.name]) || excludes(r, creates[r.name]) {
				first[r.name] = append(first[r.name], s)
			} else {
				c.deletes = append(c.deletes, s)
			}
		}
	}
	slices.SortFunc(c.deletes, byRecord)
	names := map[string]bool{}
	for _, steps := range []map[string][]step{first, updates, creates} {
		for name := range steps {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		slices.SortFunc(first[name], byRecord)
		c.byName = append(c.byName, slices.Concat(first[name], updates[name], creates[name]))
	}
	return c
}

func byRecord(a, b step) int { return a.compare(b.record) }

// excludes reports whether a surplus record must be deleted before steps at its name.
func excludes(r record, steps []step) bool {
	return slices.ContainsFunc(steps, func(s step) bool {
		isCNAME := r.recordType == dnsdata.TypeCNAME || s.recordType == dnsdata.TypeCNAME
		return isCNAME || r.recordType == s.recordType && (r.isNullMX() || s.isNullMX())
	})
}
