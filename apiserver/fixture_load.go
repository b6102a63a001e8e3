package apiserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// LoadFixture creates the accounts of a fixture, all of them or none. An account that
// exists already is left as it is and logged, so that a fixture can be loaded at each
// start. The rules that it names hold from then on, in this process.
//
// The verification messages of pending rules go to the Outbox and are not sent.
func (s *Service) LoadFixture(ctx context.Context, f *Fixture) error {
	p, err := planFixture(f)
	if err != nil {
		return err
	}
	// A look that takes no lock comes first: usually all is there.
	missing, err := s.missing(ctx, p.plans)
	if err != nil {
		return err
	}
	for _, plan := range p.plans {
		if !slices.ContainsFunc(missing, func(m accountPlan) bool { return m.account.ID == plan.account.ID }) {
			s.log.Warn("a fixture's account exists already, and nothing of the fixture was loaded for it; remove the database to load it", "account", plan.account.ID)
		}
	}
	loaders := s.newFixtureLoaders(ctx, missing)
	if len(loaders) > 0 {
		if err := s.store.Update(ctx, func(tx store.Tx) error {
			audit.Attribute(tx, audit.Operator, audit.LoadFixture)
			return loadAll(tx, loaders)
		}); err != nil {
			return err
		}
	}
	s.loaded(p, loaders)
	return nil
}

func loadAll(tx store.Tx, loaders []*fixtureLoader) error {
	for _, l := range loaders {
		if err := l.load(tx); err != nil {
			return fmt.Errorf("account %s: %w", l.account.ID, err)
		}
	}
	return nil
}

// loaded does what is left to do when a fixture's accounts are there.
func (s *Service) loaded(p *fixturePlanner, loaders []*fixtureLoader) {
	s.rules.take(p.settings)
	for _, l := range loaders {
		s.outbox.Add(l.messages...)
	}
}

// missing returns the plans whose accounts do not exist.
func (s *Service) missing(ctx context.Context, plans []accountPlan) (missing []accountPlan, err error) {
	err = s.store.View(ctx, func(r store.Reader) error {
		for _, plan := range plans {
			_, err := r.Account(plan.account.ID)
			if errors.Is(err, store.ErrNotFound) {
				missing = append(missing, plan)
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	return missing, err
}

// fixtureLoader makes one account as it is planned.
type fixtureLoader struct {
	accountPlan
	*call
	dkimKeys []string     // one for each domain
	links    []mail.Token // one for each forwarding rule
	messages []Message
}

func (s *Service) newFixtureLoaders(ctx context.Context, plans []accountPlan) []*fixtureLoader {
	loaders := make([]*fixtureLoader, len(plans))
	for i, plan := range plans {
		loaders[i] = s.newFixtureLoader(ctx, plan)
	}
	return loaders
}

func (s *Service) newFixtureLoader(ctx context.Context, plan accountPlan) *fixtureLoader {
	l := &fixtureLoader{accountPlan: plan, call: &call{Service: s, ctx: ctx, at: s.now()}}
	for range plan.domains {
		l.dkimKeys = append(l.dkimKeys, s.newDKIMKey())
	}
	for range plan.rules {
		l.links = append(l.links, s.newToken())
	}
	return l
}

// load makes the account unless another process was faster.
func (l *fixtureLoader) load(tx store.Tx) error {
	l.messages = nil
	_, err := tx.Account(l.account.ID)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	account := l.account
	account.CreatedAt = l.at
	switch account.Status {
	case vocab.AccountPendingCancellation:
		if account.CancelsAt.IsZero() {
			account.CancelsAt = periodEnd(l.at)
		}
	case vocab.AccountCancelled:
		account.CancelsAt = l.at
	}
	if err := createAccount(tx, account, l.options); err != nil {
		return err
	}
	for _, step := range []func(store.Tx) error{
		l.makeWorkspaces, l.makeIPs, l.makeDomains, l.makeRecords, l.makeMailboxes, l.makeRules, l.makeGrants,
	} {
		if err := step(tx); err != nil {
			return err
		}
	}
	return nil
}

func (l *fixtureLoader) makeWorkspaces(tx store.Tx) error {
	return each(l.workspaces, func(_ int, w store.Workspace) error {
		w.CreatedAt = l.at
		return tx.CreateWorkspace(&w)
	})
}

func (l *fixtureLoader) makeIPs(tx store.Tx) error {
	return each(l.ips, func(_ int, d store.DedicatedIP) error {
		d.CreatedAt = l.at
		return tx.CreateDedicatedIP(&d)
	})
}

func (l *fixtureLoader) makeDomains(tx store.Tx) error {
	return each(l.domains, func(i int, d store.Domain) error {
		d.CreatedAt = l.at
		if err := deleteOverdue(tx, "", d.Name, l.at); err != nil {
			return err
		}
		if err := tx.CreateDomain(&d); err != nil {
			return err
		}
		return l.addMailRecords(tx, d, l.dkimKeys[i])
	})
}

func (l *fixtureLoader) makeRecords(tx store.Tx) error {
	return each(l.records, func(_ int, r zonedRecord) error {
		r.CreatedAt = l.at
		switch other, rule, err := excluding(tx, r.DNSRecord); {
		case err != nil:
			return err
		case other != nil:
			return fmt.Errorf("the name %s of %s has the %s record %d; %s", r.Name, r.zone, other.Type, other.ID, rule)
		}
		return l.addRecord(tx, &r.DNSRecord)
	})
}

func (l *fixtureLoader) makeMailboxes(tx store.Tx) error {
	return each(l.mailboxes, func(_ int, m store.Mailbox) error {
		m.CreatedAt = l.at
		return tx.CreateMailbox(&m)
	})
}

func (l *fixtureLoader) makeRules(tx store.Tx) error {
	return each(l.rules, func(i int, p plannedRule) error {
		rule := p.Forwarding
		rule.CreatedAt = l.at
		switch p.state {
		case vocab.VerificationVerified:
			rule.SentAt, rule.ExpiresAt, rule.VerifiedAt = l.at, l.at.Add(verificationLasts), l.at
		case vocab.VerificationExpired:
			rule.SentAt, rule.ExpiresAt = l.at.Add(-verificationLasts), l.at
		case vocab.VerificationPending:
			rule.SentAt, rule.ExpiresAt, rule.LinkHash = l.at, l.at.Add(verificationLasts), l.links[i].Hash()
			l.messages = append(l.messages, mail.Verification(l.publicURL, rule, l.links[i], l.at))
		}
		return tx.CreateForwarding(&rule)
	})
}

// each makes planned objects and says of which one an error is.
func each[T any](objects []planned[T], create func(int, T) error) error {
	for i, p := range objects {
		if err := create(i, p.object); err != nil {
			return fixtureError(p.at, err)
		}
	}
	return nil
}

// fixtureError says of a refusal what a person who wrote a fixture needs.
func fixtureError(at fixturePlace, err error) error {
	var exists *store.ExistsError
	var refusal *api.Error
	switch {
	case errors.As(err, &exists):
		return fmt.Errorf("%s: the same exists already, with the id %s", at, exists.ID)
	case errors.As(err, &refusal):
		msgs := make([]string, len(refusal.Detail))
		for i, problem := range refusal.Detail {
			msgs[i] = problem.Msg
		}
		return fmt.Errorf("%s: %s", at, strings.Join(msgs, "; "))
	}
	return fmt.Errorf("%s: %w", at, err)
}
