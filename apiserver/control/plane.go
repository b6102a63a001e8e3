// Package control is the control plane for tests of a running service: faults, a
// journal of requests, the outbox of messages, the clock, fixtures, payments and a
// reset.
//
// A Plane controls one service, in process through its methods and over HTTP
// through its Handler. The handler requires no credential: serve it on a listener
// that only the test can reach, never on the public one. It rejects requests of web
// pages of another origin, and on a loopback listener requests for another host name.
//
// Package fault has the fault injector, and package journal the journal. The package
// imports those two, internal/monitor, apiserver, the contract (api), fixture, route and
// strictjson.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package control

import (
	"context"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

// Plane controls one service, which is created with its Clock and Middleware:
//
//	var plane control.Plane
//	service, err := apiserver.New(apiserver.Options{
//		Store: db, Clock: plane.Clock.Now, Middleware: plane.Middleware,
//	})
//	…
//	id, err := plane.Faults.Add(fault.Rule{Operation: "create-mailbox", Times: 1, Drop: fault.After})
//
// The zero value is ready for use. It is safe for concurrent use and must not be
// copied.
type Plane struct {
	// Clock is the clock of a service that has its Now as an option.
	Clock Clock
	// Faults has the fault rules.
	Faults fault.Injector
	// Journal has the newest requests and responses.
	Journal journal.Journal
	// Fixture is loaded by Reset: the one that the service was started with, or nil.
	// It must not change.
	Fixture *fixture.Fixture

	inFlight inFlight
}

// Middleware is for apiserver.Options.Middleware, inside middleware that observes
// requests.
func (p *Plane) Middleware(next http.Handler) http.Handler {
	return p.inFlight.middleware(p.Journal.Middleware(p.Faults.Middleware(next), p.Clock.Now))
}

// Reset restores the state in which the service started: the accounts and messages
// of the Fixture, no faults, an empty journal, and the system's time. See
// apiserver.Service.Reset.
//
// Requests that arrive meanwhile wait. Those in flight are released by their faults
// and end first. If they don't end before ctx, the error is a *BusyError, and
// accounts, journal and clock are unchanged.
func (p *Plane) Reset(ctx context.Context, s *apiserver.Service) error {
	resume, err := p.inFlight.pause(ctx, p.Faults.Clear)
	if err != nil {
		return err
	}
	defer resume()
	offset := p.Clock.reset()
	if err := s.Reset(apiserver.AsControlPlane(ctx), p.Fixture); err != nil {
		p.Clock.offset.Store(int64(offset))
		return err
	}
	p.Journal.Clear()
	return nil
}
