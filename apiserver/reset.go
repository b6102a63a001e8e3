package apiserver

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Reset makes the service what it is after its start on an empty store with a
// fixture, which may be nil: it deletes every account with all that is in it,
// the kept answers of Idempotency-Keys and the audit log, forgets the Outbox,
// and lets the rules of its Options hold again before those of the fixture. The
// store changes in one transaction; after an error all is as it was.
//
// No request may be under way: one that was let in before could still write.
// control.Plane sees to that.
func (s *Service) Reset(ctx context.Context, f *Fixture) error {
	if f == nil {
		f = &Fixture{}
	}
	p, err := planFixture(f)
	if err != nil {
		return err
	}
	loaders := s.newFixtureLoaders(ctx, p.plans)
	if err := s.store.Update(ctx, func(tx store.Tx) error {
		audit.Attribute(tx, audit.Operator, audit.Reset)
		if err := tx.Clear(); err != nil {
			return err
		}
		return loadAll(tx, loaders)
	}); err != nil {
		return err
	}
	s.outbox.Clear()
	s.lastUses.Reset()
	s.limiter.Reset()
	s.feedback.Reset()
	s.idempotency.Reset()
	s.rules.reset()
	s.loaded(p, loaders)
	return nil
}
