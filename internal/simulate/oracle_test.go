package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// auditType returns the audit log's name of a resource's objects.
func auditType(addr string) string { return strings.TrimPrefix(typeOf(addr), "mailhost_") }

// outcome is the result of one apply.
type outcome struct {
	plan   *plan
	state  state // after the apply
	err    error
	killed bool
}

// effects are the changes by the provider in the audit log.
type effects struct {
	created []store.AuditChange
	updated []store.AuditChange
	deleted []store.AuditChange
	// cascaded are the objects that were deleted with their domain.
	cascaded []store.AuditChange
}

// effectsSince returns the effects since the last call.
func (w *environment) effectsSince() (e effects) {
	for _, entry := range w.auditEntries() {
		if entry.Subject.Name != providerSubject {
			continue
		}
		first := true
		for _, c := range entry.Changes {
			switch c.Action {
			case store.AuditCreated:
				e.created = append(e.created, c)
			case store.AuditUpdated:
				e.updated = append(e.updated, c)
			case store.AuditDeleted, store.AuditRevoked:
				if first {
					e.deleted = append(e.deleted, c)
				} else {
					e.cascaded = append(e.cascaded, c)
				}
				first = false
			}
		}
	}
	return e
}

// checkApplies compares the effects of applies with their plans. It returns the objects
// that were deleted with their domain.
func (w *environment) checkApplies(outcomes ...outcome) (cascaded []store.AuditChange) {
	e := w.effectsSince()
	for _, d := range e.deleted {
		if !slices.ContainsFunc(outcomes, func(o outcome) bool { return o.plan.plansDestruction(d) }) {
			w.report.fail("unplanned deletion", "%s %s (%s) was deleted, but no plan said so", d.Type, d.Name, d.ID)
		}
	}
	for i, o := range outcomes {
		own := e
		own.deleted = slices.DeleteFunc(slices.Clone(e.deleted), func(d store.AuditChange) bool {
			for j, other := range outcomes { // another configuration may delete a shared object
				if j != i && other.plan.plansDestruction(d) {
					return true
				}
			}
			return false
		})
		w.checkState(o, own)
	}
	w.checkPurchases(e, outcomes)
	w.checkDeletions(e, outcomes)
	w.checkMailboxes(e, outcomes)
	w.checkRecords(outcomes)
	return e.cascaded
}

// managed returns the objects of the service that an object of the state manages. A zone
// manages what its records say, whatever their ids.
func managed(addr string, o *object) (objects []string) {
	switch typeOf(addr) {
	case setType:
		for _, id := range textsOf(o.value, "ids") {
			objects = append(objects, "mailbox "+id)
		}
		slices.Sort(objects)
		return objects
	case zoneType:
		return nil
	}
	return []string{auditType(addr) + " " + o.id()}
}

// plansDestruction reports whether a plan destroys or replaces an object.
func (p *plan) plansDestruction(d store.AuditChange) bool {
	return slices.ContainsFunc(p.changes, func(c *change) bool {
		switch {
		case typeOf(c.addr) == setType:
			return d.Type == "mailbox" && c.deletesMailbox(d.ID)
		case typeOf(c.addr) == zoneType:
			return d.Type == "dns_record" && c.action != noOp // checkRecords knows more
		}
		return (c.action == destroy || c.action.replaces()) && c.before.id() == d.ID && auditType(c.addr) == d.Type
	})
}

// replacesTainted reports whether a plan replaces an object because it is tainted.
func (p *plan) replacesTainted(d store.AuditChange) bool {
	return slices.ContainsFunc(p.changes, func(c *change) bool {
		return c.action.replaces() && c.before.id() == d.ID && c.before.tainted && auditType(c.addr) == d.Type
	})
}

// checkState checks that an apply did not delete an object that is still in the state,
// and that no object is in it twice.
func (w *environment) checkState(o outcome, e effects) {
	holders := map[string]string{}
	for _, addr := range o.state.addresses() {
		current := o.state[addr].current
		if current == nil {
			continue
		}
		for _, object := range managed(addr, current) {
			if other, ok := holders[object]; ok && o.err == nil && !o.plan.prior.hasDuplicate(object) {
				w.report.fail("one object at two addresses", "%s is at %s and %s after a successful apply%s", object, addr, other, o.plan.unseenAdoption(addr, other))
			}
			holders[object] = addr
			for _, d := range e.deleted {
				if d.Type+" "+d.ID == object {
					w.checkGone(o, addr, object, d)
				}
			}
		}
	}
}

// unseenAdoption describes why a set may have adopted a mailbox of another resource, or
// is "".
func (p *plan) unseenAdoption(addrs ...string) string {
	for _, c := range p.changes {
		if !slices.Contains(addrs, c.addr) || typeOf(c.addr) != setType || c.after.IsNull() || text(c.after, "on_existing") != "adopt" {
			continue
		}
		switch {
		case len(p.targets) > 0:
			return ", by an adoption with -target"
		case !attributesOf(c.after)["domain"].IsKnown():
			return ", by an adoption in a domain that the plan did not know"
		}
	}
	return ""
}

// checkGone fails because an apply has deleted an object that is in the state after it,
// unless the outcome of the delete may be unknown.
func (w *environment) checkGone(o outcome, addr, object string, d store.AuditChange) {
	c := o.plan.change(addr)
	if o.err != nil && c != nil && (c.action == destroy || c.action == destroyAndCreate || c.action == update && c.deletesMailbox(d.ID)) {
		return
	}
	detail := fmt.Sprintf("%s has %s (%s), which this apply deleted", addr, d.Name, d.ID)
	if len(o.plan.targets) > 0 && c == nil {
		detail += ", and which -target left out"
	}
	if o.plan.replacesTainted(d) && o.plan.prior.hasDuplicate(object) {
		detail += ", and which the state had as a tainted object too"
	}
	w.report.fail("an object of the configuration is gone", "%s", detail)
}

// hasDuplicate reports whether a state has an object at two addresses, because the user
// has imported it twice.
func (s state) hasDuplicate(object string) bool {
	n := 0
	for _, addr := range s.addresses() {
		if o := s[addr].current; o != nil && slices.Contains(managed(addr, o), object) {
			n++
		}
	}
	return n > 1
}

// changesDuplicate reports whether a plan changes an object that the state has at two
// addresses.
func (p *plan) changesDuplicate() bool {
	return slices.ContainsFunc(p.effective(), func(c *change) bool {
		return c.before != nil && slices.ContainsFunc(managed(c.addr, c.before), p.prior.hasDuplicate)
	})
}

// checkPurchases checks that every purchase was planned.
func (w *environment) checkPurchases(e effects, outcomes []outcome) {
	wanted, bought := map[string]int{}, map[string]int{}
	for _, o := range outcomes {
		for _, c := range o.plan.changes {
			if c.action != create && !c.action.replaces() {
				continue
			}
			switch typeOf(c.addr) {
			case "mailhost_domain":
				wanted["domain "+normalized(text(c.after, "name"))]++
			case "mailhost_dedicated_ip":
				wanted["dedicated_ip"]++
			}
		}
	}
	for _, c := range e.created {
		switch c.Type {
		case "domain":
			bought["domain "+normalized(c.Name)]++
		case "dedicated_ip":
			bought["dedicated_ip"]++
		}
	}
	for _, what := range slices.Sorted(maps.Keys(bought)) {
		if n := bought[what]; n > wanted[what] {
			w.report.fail("bought too often", "%s was bought %d times, but planned %d times", what, n, wanted[what])
		}
	}
}

// describe lists a plan's changes.
func (p *plan) describe() string {
	var parts []string
	for _, c := range p.effective() {
		parts = append(parts, c.String())
	}
	if len(parts) == 0 {
		return "no changes"
	}
	return fmt.Sprintf("%d changes: %s", len(parts), strings.Join(parts, ", "))
}
