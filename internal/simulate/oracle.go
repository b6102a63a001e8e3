package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// auditTypes are the audit log's names of what a resource type manages.
var auditTypes = map[string]string{
	"mailhost_domain": "domain", "mailhost_mailbox": "mailbox", "mailhost_dns_record": "dns_record", "mailhost_forwarding": "forwarding",
	"mailhost_master_password": "master_password", "mailhost_service_account": "service_account", "mailhost_dedicated_ip": "dedicated_ip",
}

// outcome is one apply as the oracle sees it.
type outcome struct {
	plan   *plan
	state  state // after the apply
	err    error
	killed bool
}

// effects are what the provider has done in the service, by the audit log.
type effects struct {
	created []store.AuditChange
	deleted []store.AuditChange
	// cascaded are what was deleted with its domain.
	cascaded []store.AuditChange
}

// effectsSince reads the audit log.
func (w *world) effectsSince() (e effects) {
	for _, entry := range w.auditEntries() {
		if entry.Subject.Name != providerSubject {
			continue
		}
		first := true
		for _, c := range entry.Changes {
			switch c.Action {
			case store.AuditCreated:
				e.created = append(e.created, c)
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

// judge checks what applies have done against what their plans named. It returns
// what was deleted along with a domain.
func (w *world) judge(outcomes ...outcome) (cascaded []store.AuditChange) {
	e := w.effectsSince()
	for _, d := range e.deleted {
		if !slices.ContainsFunc(outcomes, func(o outcome) bool { return o.plan.namesDestruction(d) }) {
			w.report.find("unplanned deletion", "%s %s (%s) was deleted, and no plan named it", d.Type, d.Name, d.ID)
		}
	}
	for i, o := range outcomes {
		own := e
		own.deleted = slices.DeleteFunc(slices.Clone(e.deleted), func(d store.AuditChange) bool {
			for j, other := range outcomes { // another configuration may delete what this one shares with it
				if j != i && other.plan.namesDestruction(d) {
					return true
				}
			}
			return false
		})
		w.judgeState(o, own)
	}
	w.judgePurchases(e, outcomes)
	return e.cascaded
}

// namesDestruction reports whether a plan destroys or replaces an object.
func (p *plan) namesDestruction(d store.AuditChange) bool {
	return slices.ContainsFunc(p.changes, func(c *change) bool {
		return (c.action == destroy || c.action.replaces()) && c.before.id() == d.ID && auditTypes[typeOf(c.addr)] == d.Type
	})
}

// judgeState checks that what the state has after an apply is there, and there
// once.
func (w *world) judgeState(o outcome, e effects) {
	holders := map[string]string{}
	for _, addr := range o.state.addresses() {
		current := o.state[addr].current
		if current == nil {
			continue
		}
		object := auditTypes[typeOf(addr)] + " " + current.id()
		if other, ok := holders[object]; ok && o.err == nil && !o.plan.prior.shared(object) {
			w.report.find("one object at two addresses", "%s is at %s and %s after a successful apply", object, addr, other)
		}
		holders[object] = addr
		for _, d := range e.deleted {
			if d.ID != current.id() || d.Type != auditTypes[typeOf(addr)] {
				continue
			}
			// A destroy whose outcome nobody learned leaves its object in the state.
			if c := o.plan.change(addr); o.err != nil && c != nil && (c.action == destroy || c.action == destroyAndCreate) {
				continue
			}
			w.report.find("an object of the configuration is gone", "%s has %s (%s), which this apply deleted", addr, d.Name, d.ID)
		}
	}
}

// shared reports whether a state has an object at two addresses already: the user
// has imported it twice.
func (s state) shared(object string) bool {
	n := 0
	for _, addr := range s.addresses() {
		if o := s[addr].current; o != nil && auditTypes[typeOf(addr)]+" "+o.id() == object {
			n++
		}
	}
	return n > 1
}

// judgePurchases checks that nothing was bought that no plan named.
func (w *world) judgePurchases(e effects, outcomes []outcome) {
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
			w.report.find("bought too often", "%s was bought %d times, planned were %d", what, n, wanted[what])
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
