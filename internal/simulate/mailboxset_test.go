package simulate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

const setType = "mailhost_mailbox_set"

// localParts are the keys of sets, with a second spelling. Those without a suffix are the
// local parts of single mailboxes too.
var localParts = [][2]string{{"jane", "Jane"}, {"joe", "JOE"}, {"info", "info"}, {"max.muster", "Max.Muster"}, {"ann", "Ann"}, {"zoe", "zoe"}}

func (d *generator) setArguments(c *core.Configuration) map[string]any {
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
func entriesOf(b *core.Block) map[string]any { return b.Arguments["mailboxes"].(map[string]any) }

// mailboxKeys identifies the mailboxes of a set's block in naturalKeys.
func mailboxKeys(c *core.Configuration, b *core.Block) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(entriesOf(b))) {
		keys = append(keys, "mailhost_mailbox "+strings.ToLower(key)+"@"+domainOf(c, b.Arguments["domain"]))
	}
	return keys
}

// removedMailboxes returns the addresses of the mailboxes, by id, that a planned change of
// a set takes out of it.
func removedMailboxes(c *core.Change) map[string]string {
	if core.TypeOf(c.Addr) != setType || c.Before == nil || c.Action == core.NoOp || c.Action == core.Create || c.Action == core.Forget {
		return nil
	}
	kept := map[string]bool{}
	if c.Action == core.Update {
		for _, id := range core.Texts(core.Attributes(c.After.State)["ids"]) {
			kept[id] = true
		}
	}
	out, addresses := map[string]string{}, core.Texts(core.Attributes(c.Before.State)["addresses"])
	for key, id := range core.Texts(core.Attributes(c.Before.State)["ids"]) {
		if !kept[id] {
			out[id] = addresses[key]
		}
	}
	return out
}

// deletesMailbox reports whether a plan said that a change of a set deletes a mailbox.
func deletesMailbox(c *core.Change, id string) bool {
	address, ok := removedMailboxes(c)[id]
	if !ok {
		return false
	}
	// The plan of a replacement that the provider did not cause shows the mailboxes as the
	// old values of the set: the provider can't warn of them.
	return c.Forced || slices.ContainsFunc(c.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "The plan deletes ") && strings.Contains(w, "\n  - "+address+"\n")
	})
}

// mayDelete returns max_deletions for a change of a set.
func mayDelete(c *core.Change) int {
	before, after := number(c.Before.State, "max_deletions"), 0
	if !c.After.Gone() {
		after = number(c.After.State, "max_deletions")
	}
	switch {
	case c.Action == core.Update:
		return after
	case c.Action.Replaces() && !c.Before.Tainted:
		return min(before, after)
	}
	return before
}

// checkDeletions checks that sets delete no more mailboxes than max_deletions.
func (w *environment) checkDeletions(e effects, outcomes []outcome) {
	for _, o := range outcomes {
		for _, c := range o.plan.Changes {
			removed := removedMailboxes(c)
			n := 0
			for _, d := range e.deleted {
				if _, ok := removed[d.ID]; ok {
					n++
				}
			}
			if n > 0 && n > mayDelete(c) {
				w.report.fail("more deletions than max_deletions", "%s deleted %d mailboxes and may delete %d", c.Addr, n, mayDelete(c))
			}
		}
	}
}

// checkMailboxes checks that the provider created and changed only mailboxes of some plan.
func (w *environment) checkMailboxes(e effects, outcomes []outcome) {
	localPart := func(address string) string { return strings.ToLower(address[:strings.LastIndexByte(address, '@')]) }
	has := func(what func(c *core.Change) bool) bool {
		return slices.ContainsFunc(outcomes, func(o outcome) bool { return slices.ContainsFunc(o.plan.Effective(), what) })
	}
	for _, m := range e.created {
		if m.Type == "mailbox" && !has(func(c *core.Change) bool { return wants(c, localPart(m.Name)) }) {
			w.report.fail("unplanned creation", "the mailbox %s was created, and no plan has it", m.Name)
		}
	}
	for _, m := range e.updated {
		if m.Type == "mailbox" && !has(func(c *core.Change) bool {
			adopts := core.Text(c.After.State, "on_existing") == "adopt" && wants(c, localPart(m.Name))
			return adopts || c.Before != nil && slices.Contains(managed(c.Addr, c.Before), "mailbox "+m.ID)
		}) {
			w.report.fail("unplanned change", "the mailbox %s (%s) was changed, and no plan has it", m.Name, m.ID)
		}
	}
}

// wants reports whether a planned object contains a mailbox with a local part.
func wants(c *core.Change, localPart string) bool {
	switch {
	case c.After.Gone():
		return false
	case core.TypeOf(c.Addr) == "mailhost_mailbox":
		return strings.EqualFold(core.Text(c.After.State, "local_part"), localPart)
	case core.TypeOf(c.Addr) == setType:
		for key := range core.Attributes(core.Attributes(c.After.State)["mailboxes"]) {
			if strings.EqualFold(key, localPart) {
				return true
			}
		}
	}
	return false
}

// checkSet checks that the service contains exactly the mailboxes of a set's block, and the state
// exactly the service's.
func (h *history) checkSet(s *stack, b *core.Block, o *core.Object) {
	actual, others := map[string]string{}, []string{}
	entries := core.Attributes(core.NewValue(loadSchemas().Resources[setType].Type.AttributeTypes["mailboxes"], entriesOf(b)))
	ids := core.Texts(core.Attributes(o.State)["ids"])
	must(h.db.View(h.context(), func(r store.Reader) error {
		found, _, err := r.Mailboxes(h.accounts[s.account].id, store.MailboxFilter{DomainID: o.ID()}, store.Slice{Limit: 1000})
		for _, m := range found {
			mine := false
			for key, e := range entries {
				if strings.EqualFold(key, m.LocalPart) {
					mine = true
					if ids[key] == m.ID && core.Text(e, "first_name") == m.FirstName && core.Text(e, "last_name") == m.LastName {
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
	unmanaged := textList(o.State, "unmanaged")
	if len(actual) != len(entries) || !maps.Equal(actual, core.Texts(core.Attributes(o.State)["addresses"])) || len(ids) != len(entries) {
		h.report.fail("not as configured", "%s: the service has %v of %s; the state has %v", b.Addr, actual, b, o.State)
	}
	if !slices.Equal(unmanaged, others) {
		h.report.fail("not as configured", "%s: unmanaged is %v, and the domain has %v beside the set", b.Addr, unmanaged, others)
	}
}

// raiseMaxDeletions follows the advice of a plan that deletes too many mailboxes or names: it allows
// them, or ends the management of a set without a block.
func (h *history) raiseMaxDeletions(s *stack, err error) bool {
	imports := len(s.config.Imports)
	s.config.Imports = slices.DeleteFunc(s.config.Imports, func(i core.ImportBlock) bool { return core.TypeOf(i.To) == setType && s.state[i.To].Current == nil })
	changed := len(s.config.Imports) < imports // of another domain than the block's
	for _, b := range s.config.Blocks {
		if o := s.state[b.Addr].Current; core.TypeOf(b.Addr) == setType && o != nil && strings.Contains(err.Error(), "apply that first") {
			h.report.logf("advice: the old domain of %s", b.Addr)
			b.Arguments["domain"], b.ReplaceTriggeredBy, changed = core.Text(o.State, "domain_name"), nil, true
		}
		if slices.Contains(collectionTypes, core.TypeOf(b.Addr)) && b.Arguments["max_deletions"] != 100 {
			b.Arguments["max_deletions"], changed = 100, true
			h.report.logf("advice: max_deletions = 100 of %s", b.Addr)
		}
	}
	for _, addr := range s.state.Addresses() {
		if core.TypeOf(addr) == setType && s.config.Block(addr) == nil && !slices.Contains(s.config.Removed, addr) {
			s.config.Removed, changed = append(s.config.Removed, addr), true
			s.incomplete = true
			h.report.logf("advice: removed block for %s", addr)
		}
	}
	return changed
}

// adopt follows the advice of a plan with existing objects. It leaves some of the blocks
// unchanged.
func (h *history) adopt(s *stack) (changed bool) {
	for _, b := range s.config.Blocks {
		advice := "adopt"
		if core.TypeOf(b.Addr) == "mailhost_dedicated_ip" { // the state may have the address
			advice = "create"
		}
		if slices.Contains(adoptingTypes, core.TypeOf(b.Addr)) && b.Arguments["on_existing"] != advice && b.Arguments["max_deletions"] != 1 {
			b.Arguments["on_existing"], changed = advice, true
			h.report.logf("advice: on_existing = %s of %s", advice, b.Addr)
		}
	}
	return changed
}

// externalMailbox creates a mailbox outside Terraform.
func (h *history) externalMailbox(r *rand.Rand, a account, domain string) {
	localPart := pick(r, []string{"foreign", "boss", localParts[r.IntN(len(localParts))][0]})
	h.externalRequest(a, "POST", "/mailboxes", fmt.Sprintf(`{"domain":%q,"local_part":%q,"first_name":"Foreign","last_name":"Person"}`, domain, localPart))
}
