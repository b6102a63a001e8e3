// Package control is the control plane for tests of a running service: faults, a journal of
// requests, the outbox of messages, the clock, fixtures, payments, snapshots and a reset.
//
// A Plane controls one service, in process through its methods and over HTTP through its Handler.
// The handler requires no credential: serve it on a listener that only the test can reach, never on
// the public listener. It rejects requests from web pages of another origin, and on a loopback
// listener requests for another host name.
//
// An isolated account is a separate service, in memory and with its own plane, behind the same two
// listeners. Tests in different isolated accounts don't affect each other.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package control

import (
	"context"
	"net/http"
	"sync"
	"time"

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
	// Clock is the clock of a service created with the option Clock.Now.
	Clock  Clock
	Faults fault.Injector
	// Journal stores the newest requests and responses.
	Journal journal.Journal
	// Fixture is loaded by Reset: the fixture of the service's start, or nil. It must not change.
	Fixture *fixture.Fixture
	// Hostile adds fault.Hostile to the faults, also after each reset.
	Hostile bool
	// Seed makes the ids of isolated accounts reproducible, unless nil.
	Seed *uint64
	// Replay responds to the operations of the API in place of the service, unless nil.
	Replay Replayer
	// NewService creates the service of an isolated account, with the clock and the middleware of
	// its plane; nil disables isolated accounts. IsolateByDefault isolates every new account of
	// POST /accounts.
	NewService       func(ctx context.Context, accountID string, p *Plane) (*apiserver.Service, error)
	IsolateByDefault bool

	only     string // the account of an isolated account's plane
	inFlight inFlight

	mu        sync.Mutex
	kept      []Account           // created again by a reset, with the same token
	isolated  map[string]isolated // by account id
	created   int                 // number of isolated accounts so far
	snapshots map[string]snapshot // by name
}

// Replayer responds to requests for an account from a recording.
type Replayer interface {
	AccountID() string
	Middleware(next http.Handler) http.Handler
}

type snapshot struct {
	restore func(context.Context) error
	offset  time.Duration // of the clock
	savedAt time.Time
}

// Middleware is for apiserver.Options.Middleware. Wrap it in the middleware that observes requests.
func (p *Plane) Middleware(next http.Handler) http.Handler {
	if p.Replay != nil {
		next = p.Replay.Middleware(next)
	}
	p.Journal.Faults = &p.Faults
	next = p.inFlight.middleware(p.Journal.Middleware(p.Faults.Middleware(next), p.Clock.Now))
	p.addHostile()
	return next
}

// addHostile adds the permanent faults if Hostile is set.
func (p *Plane) addHostile() {
	if p.Hostile {
		for _, r := range fault.Hostile() {
			_, _ = p.Faults.Add(r) // the rules are valid
		}
	}
}

// Reset restores the state of the service's start: the accounts and messages of the Fixture, no
// faults, an empty journal, and the system's time. See apiserver.Service.Reset. It creates accounts
// with a chosen token again, with the same token.
//
// New requests wait. Faults release the requests in flight, which end first. If they don't end
// within ten seconds, the error lists them, and accounts, journal and clock are unchanged.
func (p *Plane) Reset(ctx context.Context, s *apiserver.Service) error {
	release := func() {
		p.Faults.Clear()
		p.addHostile()
	}
	return p.restore(ctx, release, 0, func(ctx context.Context) error {
		if err := s.Reset(ctx, p.Fixture); err != nil {
			return err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, a := range p.kept {
			if _, err := s.InitAccountWithToken(ctx, a.AccountID, ownerName, a.Token); err != nil {
				return err
			}
		}
		p.Journal.Clear()
		return nil
	})
}

// restore sets the clock's offset and calls change while no request is in flight. release makes
// faults end the requests in flight.
func (p *Plane) restore(ctx context.Context, release func(), offset time.Duration, change func(context.Context) error) error {
	resume, err := p.inFlight.pause(ctx, release)
	if err != nil {
		return err
	}
	defer resume()
	before := p.Clock.offset.Swap(int64(offset))
	if err := change(apiserver.AsControlPlane(ctx)); err != nil {
		p.Clock.offset.Store(before)
		return err
	}
	return nil
}
