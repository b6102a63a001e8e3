package control

import (
	"context"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

// Plane steers one service. The zero value is ready for use; it must not be
// copied. It gets to the service by its options, and needs no listener:
//
//	var plane control.Plane
//	service, err := apiserver.New(apiserver.Options{
//		Store: db, Clock: plane.Clock.Now, Middleware: plane.Middleware,
//	})
//	…
//	id, err := plane.Faults.Add(fault.Rule{Operation: "create-mailbox", Times: 1, Drop: fault.After})
//
// All of it is safe for concurrent use.
type Plane struct {
	// Clock is the service's, where its options say so.
	Clock Clock
	// Faults make requests misbehave.
	Faults fault.Injector
	// Journal has the newest requests, with what they were answered.
	Journal journal.Journal
	// Fixture is what Reset loads: that which the service was started with. It may
	// be nil, and must not change.
	Fixture *apiserver.Fixture

	gate gate
}

// Middleware is for apiserver.Options.Middleware, inside of others there.
func (p *Plane) Middleware(next http.Handler) http.Handler {
	return p.gate.middleware(p.Journal.Middleware(p.Faults.Middleware(next), p.Clock.Now))
}

// Reset makes everything what it was when the service started: its accounts are
// those of the Fixture, with all that is in them; there are no faults, no
// entries in the journal, no other messages than the fixture's, and the clock is
// right. See apiserver.Service.Reset.
//
// Requests that arrive meanwhile wait. Those under way are let go by their faults
// and end first; the error is a *BusyError where they do not before ctx is done.
// Then accounts, journal and clock are as they were.
func (p *Plane) Reset(ctx context.Context, s *apiserver.Service) error {
	open, err := p.gate.shut(ctx, p.Faults.Clear)
	if err != nil {
		return err
	}
	defer open()
	moved := p.Clock.reset()
	if err := s.Reset(apiserver.AsControlPlane(ctx), p.Fixture); err != nil {
		p.Clock.Advance(moved)
		return err
	}
	p.Journal.Clear()
	return nil
}
