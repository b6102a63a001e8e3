package simulate

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

// converge applies each stack without faults until its plan is empty. It returns the
// acceptable reason for which one does not converge, or "".
func (h *history) converge() (unconverged string) {
	for _, s := range h.stacks {
		h.report.logf("converge %s\n%s", s.name, s.config)
		advices := 0
		for applies := 0; ; {
			h.settlePayments()
			p, err := runPlan(h.environment, h.runWithoutFaults(s), s.config.Clone(), s.state, core.PlanOptions{})
			h.checkPlanIsReadOnly()
			if err != nil && advices < 5 && h.followAdvice(rand.New(rand.NewPCG(h.Seed, uint64(advices))), s, err) { //nolint:gosec // must be reproducible
				advices++
				continue
			}
			if err != nil {
				unconverged = h.acceptable(s, err)
				break
			}
			h.report.logf("plan: %s", p)
			if len(p.Effective()) == 0 {
				if !contradicts(s.config) && len(h.stacks) == 1 {
					h.checkExact(s, p)
				}
				break
			}
			if applies == 5 {
				// Two addresses of one object change it to and fro; each plan warns.
				if !contradicts(s.config) && len(h.stacks) == 1 && !changesDuplicate(p) {
					h.report.fail("does not converge", "after %d applies: %s", applies, p)
				}
				unconverged = "contradiction"
				break
			}
			after, err := runApply(h.environment, h.runWithoutFaults(s), p)
			h.recordApply(s, outcome{p, after, err, false})
			applies++
			if err != nil && applies > 3 {
				unconverged = h.acceptable(s, err)
				break
			}
		}
	}
	return unconverged
}

// settlePayments pays for all pending purchases.
func (h *history) settlePayments() {
	batches := map[string]bool{}
	must(h.db.View(h.context(), func(r store.Reader) error {
		for _, a := range h.accounts {
			domains, _, err := r.Domains(a.id, store.DomainFilter{}, store.Slice{Limit: 1000})
			if err != nil {
				return err
			}
			for _, d := range domains {
				if d.State.At(h.clock) == vocab.DomainPendingPayment {
					batches[d.PurchaseBatchID] = true
				}
			}
		}
		return nil
	}))
	for _, batch := range slices.Sorted(maps.Keys(batches)) {
		if _, err := h.service.SettlePayment(apiserver.AsControlPlane(h.context()), batch); !errors.Is(err, apiserver.ErrNoPurchase) {
			must(err) // an unpaid purchase expires
		}
	}
}

// acceptableErrors are the errors with which a configuration may fail permanently, each
// with its reason. Any other error that prevents convergence is a finding.
var acceptableErrors = []struct{ text, reason string }{
	{"contact_info is missing to buy", "a domain without contact_info can only be adopted"},
	{"still has mailboxes", "an unmanaged mailbox prevents the deletion of its domain"},
	{"The account has no domain", "the configuration names a domain that it does not manage"},
	{"If this configuration has the domain, refer to its resource", "the same"},
	{"Two resources have the", "the user has to choose one resource with moved or removed"},
	{inState, "the user has to choose one resource with moved or removed"},
	{"another resource of the configuration creates or adopts it", "the same"},
	{"the same plan destroys it at another address", "the same"},
	{"Another resource creates", "the same"},
	{"cannot import non-existent remote object", "the object of an import block was deleted"},
	{"Check the spelling, and that account_id is the account that has the object", "the same"},
	{"No such DNS record in this account", "the same"},
	{"so no record can be imported", "DNS records can't be imported from the published operations"},
	{"so none can be imported", "service accounts can't be imported from the published operations"},
	{"This API has no operation that changes a DNS record", "the published operations can't change a record"},
	{"Another secret needs another name", "the published operations can't delete a master password, which keeps its name"},
	{"is the secret in use or a new one", "the secret of an imported master password can't be compared"},
	{"The state belongs to another account", "the state is another account's"},
	{"Invalid target", "the configuration changed a record's type, and its value does not fit"},
	{core.ErrCycle.Error(), "changing create_before_destroy and references in one step can cause a cycle"},
	{"or delete one of the two rules", "two forwarding rules exchange their targets"},
	{"of the set", "the plan takes a mailbox from another resource, which has to be applied first"},
	{"the account has reached its limit of", "the account's quota"},
	{"The account has reached its limit of", "the same"},
	{"To keep it, run terraform untaint", "the user has to decide whether to keep a tainted dedicated IP"},
	{"excludes other records at its name", "the configuration wants a CNAME beside other records"},
}

// conflictErrors are the errors for an existing object outside every state. The user must
// import it.
var conflictErrors = []string{"exists already", existAlready, "already, with the id", "already by the rule"}

// errorText returns the text of an error. A set's conflict about one mailbox is written as the
// one about several.
func errorText(err error) string {
	return strings.ReplaceAll(err.Error(), "to be created exists already", existAlready)
}

// existAlready is in the conflict of a set, and existsAlready in the conflict of one object.
const existAlready, existsAlready = "to be created exist already", "exists already"

// inState is in the conflict about an object that the state contains.
const inState = "Terraform's state has it, in"

// acceptable returns the reason why an error may prevent a stack from converging. Any
// other error is a finding.
func (h *history) acceptable(s *stack, err error) string {
	for _, r := range acceptableErrors {
		if strings.Contains(err.Error(), r.text) {
			return r.reason
		}
	}
	if contradicts(s.config) {
		return "one object written twice"
	}
	for _, text := range conflictErrors {
		if strings.Contains(errorText(err), text) && h.mayHaveUnmanagedObjects(s) {
			return "the user has to import an unmanaged object"
		}
	}
	h.report.fail("does not converge", "%v", err)
	return ""
}

// mayHaveUnmanagedObjects reports whether objects outside the stack's state may exist, or
// whether the stack creates a second object before it deletes the first.
func (h *history) mayHaveUnmanagedObjects(s *stack) bool {
	if s.incomplete || h.foreign || h.faulted > 0 || h.publishedOnly || len(h.stacks) > 1 {
		return true
	}
	for _, b := range s.config.Blocks {
		if b.CreateBeforeDestroy {
			return true
		}
	}
	return false
}

func (h *history) context() context.Context { return context.Background() }

// conflictAdvices are in the errors about two resources with one object.
var conflictAdvices = []string{
	"Two resources have the", "of the set", existAlready, existsAlready, "Resources of their own manage DNS records", "The zone of",
}

// forgetSingles ends the management of single objects without a block, which may belong to
// a resource with many objects now.
func (h *history) forgetSingles(s *stack) (changed bool) {
	for _, addr := range s.state.Addresses() {
		if b, o := s.config.Block(addr), s.state[addr].Current; core.TypeOf(addr) == "mailhost_dns_record" && b != nil && o != nil &&
			domainOf(s.config, b.Arguments["domain"]) != core.Text(o.State, "domain_name") {
			h.report.logf("advice: state rm %s, which leaves the zone's domain", addr)
			s.state = s.state.Clone()
			delete(s.state, addr)
			s.incomplete, changed = true, true
		}
		if t := core.TypeOf(addr); (t == "mailhost_mailbox" || t == "mailhost_dns_record") && s.config.Block(addr) == nil && !slices.Contains(s.config.Removed, addr) {
			h.report.logf("advice: removed block for %s", addr)
			s.config.Removed, changed = append(s.config.Removed, addr), true
			s.incomplete = true
		}
	}
	return changed
}

// untaint untaints objects with mail or money, which are not replaced by themselves.
func (h *history) untaint(s *stack) bool {
	for _, addr := range s.state.Addresses() {
		if o := s.state[addr].Current; o != nil && o.Tainted && slices.Contains(valuableTypes, core.TypeOf(addr)) {
			h.report.logf("advice: untaint %s", addr)
			untainted := *o
			untainted.Tainted = false
			s.state.Set(addr, "", &untainted)
			return true
		}
	}
	return false
}

// followAdvice follows the advice of an error about two resources with one object, as a
// user would, so that the history can continue. It moves an object without a block to
// the block for it, removes the second of two equal blocks, or removes
// create_before_destroy. It reports whether it changed anything.
func (h *history) followAdvice(r *rand.Rand, s *stack, err error) bool {
	says := func(text string) bool { return strings.Contains(errorText(err), text) }
	if says("max_deletions is") && h.raiseMaxDeletions(s, err) {
		return true
	}
	if (says("of the set") || says(inState) || says("Resources of their own manage DNS records")) && h.forgetSingles(s) {
		return true
	}
	if (says(existAlready) || says(existsAlready)) && !says(inState) && h.adopt(s) {
		return true
	}
	if !slices.ContainsFunc(conflictAdvices, says) {
		return false
	}
	s.state = s.state.Clone()
	if h.untaint(s) {
		return true
	}
	if says(inState) && withoutTriggers(s.config) {
		h.report.logf("advice: no replace_triggered_by")
		return true
	}
	for _, addr := range s.state.Addresses() {
		if s.config.Block(addr) != nil {
			continue
		}
		for _, b := range s.config.Blocks {
			if core.TypeOf(b.Addr) == core.TypeOf(addr) && s.state[b.Addr].Current == nil && names(s.config, b, s.state[addr].Current) {
				h.report.logf("advice: state mv %s %s", addr, b.Addr)
				s.state[b.Addr] = s.state[addr]
				delete(s.state, addr)
				return true
			}
		}
	}
	for _, addr := range s.state.Addresses() {
		if len(s.state[addr].Deposed) > 0 {
			h.report.logf("advice: state rm %s, which has a deposed object", addr)
			delete(s.state, addr)
			s.incomplete = true
			return true
		}
	}
	if contradicts(s.config) {
		return h.removeDuplicate(r, s)
	}
	for _, b := range s.config.Blocks {
		if b.CreateBeforeDestroy {
			h.report.logf("advice: no create_before_destroy")
			for _, b := range s.config.Blocks {
				b.CreateBeforeDestroy = false
			}
			return true
		}
	}
	return false
}

// withoutTriggers removes replace_triggered_by from objects that are not replaced by themselves.
func withoutTriggers(c *core.Configuration) (changed bool) {
	for _, b := range c.Blocks {
		if len(b.ReplaceTriggeredBy) > 0 && slices.Contains(valuableTypes, core.TypeOf(b.Addr)) {
			b.ReplaceTriggeredBy, changed = nil, true
		}
	}
	return changed
}

// names reports whether a block names an object of the state that holds mail or money.
func names(c *core.Configuration, b *core.Block, o *core.Object) bool {
	if o == nil {
		return false
	}
	if slices.Contains(collectionTypes, core.TypeOf(b.Addr)) {
		return domainOf(c, b.Arguments["domain"]) == core.Text(o.State, "domain_name")
	}
	if core.TypeOf(b.Addr) == "mailhost_mailbox" {
		part, _ := b.Arguments["local_part"].(string)
		return domainOf(c, b.Arguments["domain"]) == core.Text(o.State, "domain_name") && strings.EqualFold(part, core.Text(o.State, "local_part"))
	}
	if core.TypeOf(b.Addr) != "mailhost_domain" {
		return false
	}
	name, _ := b.Arguments["name"].(string)
	return normalized(name) == normalized(core.Text(o.State, "name"))
}

// removeDuplicate removes the second of two equal blocks, and its object from the state.
func (h *history) removeDuplicate(r *rand.Rand, s *stack) bool {
	b := duplicate(s.config)
	if b == nil {
		return false
	}
	h.report.logf("advice: remove %s, and state rm it", b.Addr)
	h.generator(r, s.account).remove(s.config, b, false)
	delete(s.state, b.Addr)
	s.incomplete = true
	return true
}
