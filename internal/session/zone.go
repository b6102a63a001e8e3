package session

import "strings"

// Domain identifies a domain by its id, its canonical name, or both; "" is unknown.
type Domain struct{ ID, Name string }

// is reports whether both are the same domain, as far as they are known.
func (d Domain) is(other Domain) bool {
	return d.ID != "" && strings.EqualFold(d.ID, other.ID) || d.Name != "" && d.Name == other.Name
}

// PlannedRecord is a DNS record that a plan for a resource of its own concerns.
type PlannedRecord struct {
	Domain
	// Name may be relative to the domain or in full.
	Name, Type string
	// IsDestroyed means that the plan destroys it.
	IsDestroyed bool
}

// PlannedZone is a plan for all DNS records of a domain.
type PlannedZone struct {
	Domain
	// Keeps reports whether the zone keeps the records of a name and type, and Removes
	// whether it removes the ones that it does not have.
	Keeps, Removes func(name, recordType string) bool
}

// contradicts reports whether the plans for a zone and for a record of its own can't both be
// applied: one of them keeps what the other one changes or deletes.
func (z PlannedZone) contradicts(r PlannedRecord) bool {
	return z.is(r.Domain) && (z.Keeps(r.Name, r.Type) || !r.IsDestroyed && z.Removes(r.Name, r.Type))
}

// zones are the plans of a walk for DNS records.
type zones struct {
	zones   []PlannedZone
	records map[PlannedRecord]bool
}

// PlanRecord records the plan for a DNS record, and reports whether the plan for a zone
// contradicts it.
func (w *Walk) PlanRecord(r PlannedRecord) (isContradicted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.disabled {
		return false
	}
	if w.zones.records == nil {
		w.zones.records = map[PlannedRecord]bool{}
	}
	w.zones.records[r] = true
	for _, z := range w.zones.zones {
		if z.contradicts(r) {
			return true
		}
	}
	return false
}

// PlanZone records the plan for a zone, and returns the records whose plans contradict it.
func (w *Walk) PlanZone(z PlannedZone) (contradicting []PlannedRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.disabled {
		return nil
	}
	w.zones.zones = append(w.zones.zones, z)
	for r := range w.zones.records {
		if z.contradicts(r) {
			contradicting = append(contradicting, r)
		}
	}
	return contradicting
}
