package simulate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

const setType = "mailhost_mailbox_set"

// localParts are the keys of sets, with a second spelling. Those without a suffix are the
// local parts of single mailboxes too.
var localParts = [][2]string{{"jane", "Jane"}, {"joe", "JOE"}, {"info", "info"}, {"max.muster", "Max.Muster"}, {"ann", "Ann"}, {"zoe", "zoe"}}

func (d *generator) setArguments(c *configuration) map[string]any {
	out := map[string]any{"domain": d.domain(c), "mailboxes": d.setEntries(map[string]any{}, d.rand.IntN(5))}
	if chance(d.rand, 60) {
		out["max_deletions"] = pick(d.rand, []int{0, 1, 2, 10})
	}
	return out
}

// setEntries returns the entries of a set with n random changes.
func (d *generator) setEntries(from map[string]any, n int) map[string]any {
	out := maps.Clone(from)
	for range n {
		spellings := pick(d.rand, localParts)
		key, old := pick(d.rand, spellings[:]), ""
		for _, s := range spellings {
			if _, ok := out[s]; ok {
				old = s
			}
		}
		delete(out, old)
		if old == "" || chance(d.rand, 60) {
			out[key] = map[string]any{"first_name": pick(d.rand, []string{"Jane", "Joe", "Zoë"}), "last_name": pick(d.rand, []string{"Doe", "Roe"})}
		}
	}
	return out
}

// entriesOf returns the map mailboxes of a block.
func (b *block) entriesOf() map[string]any { return b.arguments["mailboxes"].(map[string]any) }

// mailboxKeys identifies the mailboxes of a set's block in naturalKeys.
func (c *configuration) mailboxKeys(b *block) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(b.entriesOf())) {
		keys = append(keys, "mailhost_mailbox "+strings.ToLower(key)+"@"+c.domainOf(b.arguments["domain"]))
	}
	return keys
}

// textsOf returns a map of strings of an object, without the unknown ones.
func textsOf(v value, name string) map[string]string {
	out := map[string]string{}
	for key, e := range attributesOf(attributesOf(v)[name]) {
		if e.IsKnown() && !e.IsNull() {
			out[key] = known[string](e)
		}
	}
	return out
}

// removedMailboxes returns the addresses of the mailboxes, by id, that a planned change of
// a set takes out of it.
func (c *change) removedMailboxes() map[string]string {
	if typeOf(c.addr) != setType || c.before == nil || c.action == noOp || c.action == create || c.action == forget {
		return nil
	}
	kept := map[string]bool{}
	if c.action == update {
		for _, id := range textsOf(c.after, "ids") {
			kept[id] = true
		}
	}
	out, addresses := map[string]string{}, textsOf(c.before.value, "addresses")
	for key, id := range textsOf(c.before.value, "ids") {
		if !kept[id] {
			out[id] = addresses[key]
		}
	}
	return out
}

// deletesMailbox reports whether a plan said that a change of a set deletes a mailbox.
func (c *change) deletesMailbox(id string) bool {
	address, ok := c.removedMailboxes()[id]
	if !ok {
		return false
	}
	// The plan of a replacement that the provider did not cause shows the mailboxes as the
	// old values of the set: the provider can't warn of them.
	return c.forced || slices.ContainsFunc(c.warnings, func(w string) bool {
		return strings.HasPrefix(w, "The plan deletes ") && strings.Contains(w, "\n  - "+address+"\n")
	})
}

// mayDelete returns max_deletions for a change of a set.
func (c *change) mayDelete() int {
	before, after := number(c.before.value, "max_deletions"), 0
	if !c.after.IsNull() {
		after = number(c.after, "max_deletions")
	}
	switch {
	case c.action == update:
		return after
	case c.action.replaces() && !c.before.tainted:
		return min(before, after)
	}
	return before
}

// checkDeletions checks that sets delete no more mailboxes than max_deletions.
func (w *environment) checkDeletions(e effects, outcomes []outcome) {
	for _, o := range outcomes {
		for _, c := range o.plan.changes {
			removed := c.removedMailboxes()
			n := 0
			for _, d := range e.deleted {
				if _, ok := removed[d.ID]; ok {
					n++
				}
			}
			if n > 0 && n > c.mayDelete() {
				w.report.fail("more deletions than max_deletions", "%s deleted %d mailboxes and may delete %d", c.addr, n, c.mayDelete())
			}
		}
	}
}

// checkMailboxes checks that the provider has created and changed only mailboxes that some
// plan has.
func (w *environment) checkMailboxes(e effects, outcomes []outcome) {
	localPart := func(address string) string { return strings.ToLower(address[:strings.LastIndexByte(address, '@')]) }
	has := func(what func(c *change) bool) bool {
		return slices.ContainsFunc(outcomes, func(o outcome) bool { return slices.ContainsFunc(o.plan.effective(), what) })
	}
	for _, m := range e.created {
		if m.Type == "mailbox" && !has(func(c *change) bool { return c.wants(localPart(m.Name)) }) {
			w.report.fail("unplanned creation", "the mailbox %s was created, and no plan has it", m.Name)
		}
	}
	for _, m := range e.updated {
		if m.Type == "mailbox" && !has(func(c *change) bool {
			adopts := text(c.after, "on_existing") == "adopt" && c.wants(localPart(m.Name))
			return adopts || c.before != nil && slices.Contains(managed(c.addr, c.before), "mailbox "+m.ID)
		}) {
			w.report.fail("unplanned change", "the mailbox %s (%s) was changed, and no plan has it", m.Name, m.ID)
		}
	}
}

// wants reports whether a planned object has a mailbox with a local part.
func (c *change) wants(localPart string) bool {
	switch {
	case c.after.IsNull():
		return false
	case typeOf(c.addr) == "mailhost_mailbox":
		return strings.EqualFold(text(c.after, "local_part"), localPart)
	case typeOf(c.addr) == setType:
		for key := range attributesOf(attributesOf(c.after)["mailboxes"]) {
			if strings.EqualFold(key, localPart) {
				return true
			}
		}
	}
	return false
}

// checkSet checks that the service has exactly what a set's block says, and the state what
// the service has.
func (h *history) checkSet(s *stack, b *block, o *object) {
	actual, others := map[string]string{}, []string{}
	entries := attributesOf(newValue(loadSchemas().resources[setType].objectType.AttributeTypes["mailboxes"], b.entriesOf()))
	ids := textsOf(o.value, "ids")
	must(h.db.View(h.context(), func(r store.Reader) error {
		found, _, err := r.Mailboxes(h.accounts[s.account].id, store.MailboxFilter{DomainID: o.id()}, store.Slice{Limit: 1000})
		for _, m := range found {
			mine := false
			for key, e := range entries {
				if strings.EqualFold(key, m.LocalPart) {
					mine = true
					if ids[key] == m.ID && text(e, "first_name") == m.FirstName && text(e, "last_name") == m.LastName {
						actual[key] = m.Address()
					}
				}
			}
			if !mine {
				others = append(others, m.Address())
			}
		}
		return err
	}))
	slices.Sort(others)
	unmanaged := textList(o.value, "unmanaged")
	if len(actual) != len(entries) || !maps.Equal(actual, textsOf(o.value, "addresses")) || len(ids) != len(entries) {
		h.report.fail("not as configured", "%s: the service has %v of %s; the state has %v", b.addr, actual, b, o.value)
	}
	if !slices.Equal(unmanaged, others) {
		h.report.fail("not as configured", "%s: unmanaged is %v, and the domain has %v beside the set", b.addr, unmanaged, others)
	}
}

// raiseMaxDeletions follows the advice of a plan that deletes too many mailboxes: it allows
// them, or ends the management of a set without a block.
func (h *history) raiseMaxDeletions(s *stack, err error) bool {
	imports := len(s.config.imports)
	s.config.imports = slices.DeleteFunc(s.config.imports, func(i importBlock) bool { return typeOf(i.to) == setType && s.state[i.to].current == nil })
	changed := len(s.config.imports) < imports // of another domain than the block's
	for _, b := range s.config.blocks {
		if o := s.state[b.addr].current; typeOf(b.addr) == setType && o != nil && strings.Contains(err.Error(), "apply that first") {
			h.report.logf("advice: the old domain of %s", b.addr)
			b.arguments["domain"], b.replaceTriggeredBy, changed = text(o.value, "domain_name"), nil, true
		}
		if typeOf(b.addr) == setType && b.arguments["max_deletions"] != 100 {
			b.arguments["max_deletions"], changed = 100, true
			h.report.logf("advice: max_deletions = 100 of %s", b.addr)
		}
	}
	for _, addr := range s.state.addresses() {
		if typeOf(addr) == setType && s.config.block(addr) == nil && !slices.Contains(s.config.removed, addr) {
			s.config.removed, changed = append(s.config.removed, addr), true
			s.incomplete = true
			h.report.logf("advice: removed block for %s", addr)
		}
	}
	return changed
}

// adopt follows the advice of a plan whose new objects exist. It leaves some of the blocks as
// they are.
func (h *history) adopt(s *stack) (changed bool) {
	for _, b := range s.config.blocks {
		if slices.Contains(adoptingTypes, typeOf(b.addr)) && b.arguments["on_existing"] != "adopt" && b.arguments["max_deletions"] != 1 {
			b.arguments["on_existing"], changed = "adopt", true
			h.report.logf("advice: on_existing = adopt of %s", b.addr)
		}
	}
	return changed
}

// externalMailbox creates a mailbox outside Terraform.
func (h *history) externalMailbox(r *rand.Rand, a account, domain string) {
	localPart := pick(r, []string{"foreign", "boss", localParts[r.IntN(len(localParts))][0]})
	h.externalRequest(a, "POST", "/mailboxes", fmt.Sprintf(`{"domain":%q,"local_part":%q,"first_name":"Foreign","last_name":"Person"}`, domain, localPart))
}
