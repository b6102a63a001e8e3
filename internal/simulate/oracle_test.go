package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

// auditType returns the audit log's name of a resource's objects.
func auditType(addr string) string { return strings.TrimPrefix(core.TypeOf(addr), "mailhost_") }

// outcome is the result of one apply.
type outcome struct {
	plan   *core.Plan
	state  core.State // after the apply
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
		if !slices.ContainsFunc(outcomes, func(o outcome) bool { return plansDestruction(o.plan, d) }) {
			w.report.fail("unplanned deletion", "%s %s (%s) was deleted, but no plan said so", d.Type, d.Name, d.ID)
		}
	}
	for i, o := range outcomes {
		own := e
		own.deleted = slices.DeleteFunc(slices.Clone(e.deleted), func(d store.AuditChange) bool {
			for j, other := range outcomes { // another configuration may delete a shared object
				if j != i && plansDestruction(other.plan, d) {
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
// manages records by their content, whatever their ids.
func managed(addr string, o *core.Object) (objects []string) {
	switch core.TypeOf(addr) {
	case setType:
		for _, id := range core.Texts(core.Attributes(o.State)["ids"]) {
			objects = append(objects, "mailbox "+id)
		}
		slices.Sort(objects)
		return objects
	case zoneType:
		return nil
	}
	return []string{auditType(addr) + " " + o.ID()}
}

// plansDestruction reports whether a plan destroys or replaces an object.
func plansDestruction(p *core.Plan, d store.AuditChange) bool {
	return slices.ContainsFunc(p.Changes, func(c *core.Change) bool {
		switch {
		case core.TypeOf(c.Addr) == setType:
			return d.Type == "mailbox" && deletesMailbox(c, d.ID)
		case core.TypeOf(c.Addr) == zoneType:
			return d.Type == "dns_record" && c.Action != core.NoOp // checkRecords knows more
		}
		return (c.Action == core.Destroy || c.Action.Replaces()) && c.Before.ID() == d.ID && auditType(c.Addr) == d.Type
	})
}

// replacesTainted reports whether a plan replaces an object because it is tainted.
func replacesTainted(p *core.Plan, d store.AuditChange) bool {
	return slices.ContainsFunc(p.Changes, func(c *core.Change) bool {
		return c.Action.Replaces() && c.Before.ID() == d.ID && c.Before.Tainted && auditType(c.Addr) == d.Type
	})
}

// checkState checks that an apply did not delete an object that the state still contains,
// and that the state contains no object twice.
func (w *environment) checkState(o outcome, e effects) {
	holders := map[string]string{}
	for _, addr := range o.state.Addresses() {
		current := o.state[addr].Current
		if current == nil {
			continue
		}
		for _, object := range managed(addr, current) {
			if other, ok := holders[object]; ok && o.err == nil && !hasDuplicate(o.plan.Prior, object) {
				w.report.fail("one object at two addresses", "%s is at %s and %s after a successful apply%s", object, addr, other, unseenAdoption(o.plan, addr, other))
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

// unseenAdoption returns why a set may have adopted a mailbox of another resource, or "".
func unseenAdoption(p *core.Plan, addrs ...string) string {
	for _, c := range p.Changes {
		if !slices.Contains(addrs, c.Addr) || core.TypeOf(c.Addr) != setType || c.After.Gone() || core.Text(c.After.State, "on_existing") != "adopt" {
			continue
		}
		switch {
		case len(p.Targets) > 0:
			return ", by an adoption with -target"
		case !core.Attributes(c.After.State)["domain"].IsKnown():
			return ", by an adoption in a domain that the plan did not know"
		}
	}
	return ""
}

// checkGone fails because an apply deleted an object that the state still contains, unless the
// outcome of the delete may be unknown.
func (w *environment) checkGone(o outcome, addr, object string, d store.AuditChange) {
	c := o.plan.Change(addr)
	if o.err != nil && c != nil && (c.Action == core.Destroy || c.Action == core.DestroyAndCreate || c.Action == core.Update && deletesMailbox(c, d.ID)) {
		return
	}
	detail := fmt.Sprintf("%s has %s (%s), which this apply deleted", addr, d.Name, d.ID)
	if len(o.plan.Targets) > 0 && c == nil {
		detail += ", and which -target left out"
	}
	if replacesTainted(o.plan, d) && hasDuplicate(o.plan.Prior, object) {
		detail += ", and which the state had as a tainted object too"
	}
	w.report.fail("an object of the configuration is gone", "%s", detail)
}

// hasDuplicate reports whether a state contains an object at two addresses, because the user
// imported it twice.
func hasDuplicate(s core.State, object string) bool {
	n := 0
	for _, addr := range s.Addresses() {
		if o := s[addr].Current; o != nil && slices.Contains(managed(addr, o), object) {
			n++
		}
	}
	return n > 1
}

// changesDuplicate reports whether a plan changes an object that the state contains at two
// addresses.
func changesDuplicate(p *core.Plan) bool {
	return slices.ContainsFunc(p.Effective(), func(c *core.Change) bool {
		return c.Before != nil && slices.ContainsFunc(managed(c.Addr, c.Before), func(object string) bool { return hasDuplicate(p.Prior, object) })
	})
}

// checkPurchases checks that every purchase was planned.
func (w *environment) checkPurchases(e effects, outcomes []outcome) {
	wanted, bought := map[string]int{}, map[string]int{}
	for _, o := range outcomes {
		for _, c := range o.plan.Changes {
			if c.Action != core.Create && !c.Action.Replaces() {
				continue
			}
			switch core.TypeOf(c.Addr) {
			case "mailhost_domain":
				wanted["domain "+normalized(core.Text(c.After.State, "name"))]++
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
