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
)

// settle applies each stack without faults until its plan is empty. It returns
// why one does not come to rest, if that is legitimate.
func (h *history) settle() (unsettled string) {
	for _, s := range h.stacks {
		h.report.logf("settle %s\n%s", s.name, s.config)
		for round := 0; ; round++ {
			h.payAll()
			p, err := h.planRun(h.calmRun(s), s.config.clone(), s.state, planOptions{})
			h.judgePlan()
			if err != nil && round < 5 && h.followAdvice(rand.New(rand.NewPCG(h.Seed, uint64(round))), s, err) { //nolint:gosec // it has to be reproducible
				continue
			}
			if err != nil {
				unsettled = h.legitimate(s, err)
				break
			}
			h.report.logf("plan: %s", p.describe())
			if len(p.effective()) == 0 {
				break
			}
			if round == 5 {
				if s.config.contradicts() == "" && len(h.stacks) == 1 {
					h.report.find("does not come to rest", "after %d rounds: %s", round, p.explain())
				}
				unsettled = "contradiction"
				break
			}
			after, err := h.applyRun(h.calmRun(s), p)
			h.finish(s, outcome{p, after, err, false})
			if err != nil && round > 2 {
				unsettled = h.legitimate(s, err)
				break
			}
		}
	}
	return unsettled
}

// payAll settles the payments of all purchases.
func (h *history) payAll() {
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
			must(err) // a purchase that nobody paid for in time is gone
		}
	}
}

// refusals are the errors with which a configuration may fail for good, each with
// its reason. Whatever else keeps a history from coming to rest is a finding.
var refusals = []struct{ text, reason string }{
	{"contact_info is missing to buy", "a domain without contact_info can only be adopted"},
	{"still has mailboxes", "a mailbox that no state has any more keeps its domain from being deleted"},
	{"The account has no domain", "the configuration names a domain that it does not manage"},
	{"Two resources have the", "the user has to say with moved or removed which resource has the object"},
	{"is in the state already", "a tainted domain that is registered has to be untainted"},
	{"cannot import non-existent remote object", "what an import block names was deleted"},
	{"so that none can be imported", "DNS records can't be imported from the published operations"},
	{"there is nothing to import from", "nor can service accounts"},
	{"This API has no operation that changes a DNS record", "the published operations can't change a record"},
	{errCycle.Error(), "changes of create_before_destroy and of references in one step can be a cycle"},
	{"excludes other records at its name", "the configuration wants a CNAME beside other records"},
}

// existing are the errors for an object that exists and is in no state: the user
// has to import it.
var existing = []string{"exists already", "already, with the id", "already by the rule"}

// legitimate returns the reason for which an error may keep a stack from coming to
// rest.
func (h *history) legitimate(s *stack, err error) string {
	for _, r := range refusals {
		if strings.Contains(err.Error(), r.text) {
			return r.reason
		}
	}
	if reason := s.config.contradicts(); reason != "" {
		return "one object written twice"
	}
	for _, text := range existing {
		if strings.Contains(err.Error(), text) && h.mayHaveStrays(s) {
			return "an object that no state has has to be imported"
		}
	}
	h.report.find("does not come to rest", "%v", err)
	return ""
}

// mayHaveStrays reports whether the service may have objects that the state of a
// stack does not know, or whether the stack wants a second one before the first
// is deleted.
func (h *history) mayHaveStrays(s *stack) bool {
	if s.strayed || h.misbehaved > 0 || h.publishedOnly || len(h.stacks) > 1 {
		return true
	}
	for _, b := range s.config.blocks {
		if b.createBeforeDestroy {
			return true
		}
	}
	return false
}

func (h *history) context() context.Context { return context.Background() }
