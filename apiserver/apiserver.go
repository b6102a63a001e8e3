// Package apiserver is the account management API as a service: it implements
// every operation of package api on a store.
//
// New builds a Service from Options. Handler serves it over HTTP, Client calls
// it in process without a socket, Close ends it. This package only connects others, which
// ARCHITECTURE.md lists; none of them links a database or an exporter.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package apiserver

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/ratelimit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/registrar"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

type (
	// Registrar decides which domains can be bought and at what price.
	Registrar = registrar.Registrar
	// Duration is a time.Duration that JSON writes as "90s".
	Duration = registrar.Duration
	// Request describes a request before it is handled: its ID, Operation (an api.Spec), Route, and
	// Subject (a store.AuditSubject). Its Name() is for metrics.
	Request = httpapi.Request
	// RateLimit is a token bucket: up to Requests (an int) at once, and as many again in each Per (a
	// time.Duration). The zero value is no limit.
	RateLimit = ratelimit.Limit
	// PasswordCost is the cost of argon2id (RFC 9106): MemoryKiB and Passes, both uint32. The zero
	// value is OWASP's recommendation.
	PasswordCost = account.PasswordCost
)

// ErrNoPurchase is returned for a purchase that has no domains or was not paid for within 7
// days.
var ErrNoPurchase = account.ErrNoPurchase

// HealthPath is where the health checks are.
const HealthPath = httpapi.HealthPath

// RequestOf returns the request of a context, for an Options.Middleware.
func RequestOf(ctx context.Context) Request { return httpapi.RequestOf(ctx) }

// RedactPath returns the path of a request without the token of a verification link, for logs.
func RedactPath(path string) string { return httpapi.RedactPath(path) }

// AsControlPlane returns a context in which the audit log attributes changes to the control
// plane instead of the operator.
func AsControlPlane(ctx context.Context) context.Context { return httpapi.AsControlPlane(ctx) }

// Options configures a Service. Only Store is required.
type Options struct {
	// Store holds all data. The service owns it: Close closes it.
	Store store.Store
	// Clock returns the time; nil: the system's.
	Clock func() time.Time
	// Random is the source of ids and secrets; nil: crypto/rand.
	Random io.Reader
	// Logger gets one line for each request, and internal errors, but never a secret;
	// nil: nothing is logged.
	Logger *slog.Logger
	// ExposeFaults puts the cause of a 500 into the response, for an embedded service.
	ExposeFaults bool
	// PublishedOnly switches the operations beyond the 22 published ones off.
	PublishedOnly bool
	// Registrar decides which domains can be bought, unless a fixture has another; the zero
	// value sells every free name at once.
	Registrar Registrar
	// MaxMailboxes bounds the mailboxes of an account, unless a fixture has another
	// bound; 0: no bound.
	MaxMailboxes int
	// MaxDedicatedIPs bounds the dedicated IPs of an account, which all share; 0: 4, negative:
	// no bound.
	MaxDedicatedIPs int
	// PasswordCost is the cost of hashing a master password; the zero value is OWASP's (about 20
	// ms). Less is for tests only.
	PasswordCost PasswordCost
	// RateLimit bounds how often each credential calls this process; the zero value does not.
	RateLimit RateLimit
	// BodyMemory bounds the memory of all request bodies in bytes; others get a 503. 0: 64 MiB.
	BodyMemory int
	// Sender sends verification messages out of a queue in the store; nil: they go to the Outbox
	// only, but those of an OperatorClient wait for another process.
	Sender email.Sender
	// PublicURL begins the links in messages; empty: http://localhost:8080.
	PublicURL string
	// Tokens validates bearer tokens that are not a service account's; nil: they are
	// refused.
	Tokens identity.TokenVerifier
	// Strict refuses unknown members of bodies and query parameters, for tests of clients.
	Strict bool
	// Middleware wraps the handling of every request, health checks and pages included;
	// RequestOf returns the request's operation. It may panic with http.ErrAbortHandler. May be
	// nil.
	Middleware func(http.Handler) http.Handler
}

// Service is the API's implementation. It is safe for concurrent use.
type Service struct {
	http     *httpapi.Handler
	rules    *account.Rules
	fixtures *fixture.Loader
	close    func() error
}

// New returns a Service on an open store.
func New(o Options) (*Service, error) {
	if o.Store == nil {
		return nil, errors.New("apiserver: Options.Store is required")
	}
	if l := o.RateLimit; l != (RateLimit{}) && (l.Requests < 1 || l.Per/time.Duration(l.Requests) <= 0) {
		return nil, errors.New("apiserver: Options.RateLimit: Requests must be positive, and Per at least a nanosecond for each")
	}
	clock := o.Clock
	if clock == nil {
		clock = time.Now
	}
	// The API and the store keep times to the microsecond.
	now := func() time.Time { return clock().UTC().Truncate(time.Microsecond) }
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	publicURL := strings.TrimSuffix(cmp.Or(o.PublicURL, "http://localhost:8080"), "/")
	audited := audit.NewStore(&outageLog{Store: o.Store, log: log}, now, httpapi.Origin)
	s := new(Service)
	s.rules = account.New(account.Dependencies{
		Store: audited, Now: now, Random: random.New(o.Random), Log: log, Auth: auth.NewAuthenticator(audited, now, o.Tokens, log),
		Settings: account.NewSettings(account.Limits{Registrar: o.Registrar, MaxMailboxes: o.MaxMailboxes}),
		Sender:   o.Sender, Outbox: new(mail.Outbox), PublicURL: publicURL, PasswordCost: o.PasswordCost,
		MaxDedicatedIPs: cmp.Or(o.MaxDedicatedIPs, 4),
	})
	served := httpapi.Options{
		Rules: s.rules, Clock: clock, BodyMemory: o.BodyMemory,
		ExposeFaults: o.ExposeFaults, PublishedOnly: o.PublishedOnly, Strict: o.Strict, Middleware: o.Middleware,
	}
	if o.RateLimit != (RateLimit{}) {
		served.Limiter = ratelimit.New(o.RateLimit)
	}
	s.http = httpapi.New(served)
	s.fixtures = &fixture.Loader{Dependencies: s.rules.Dependencies}
	s.close = sync.OnceValue(func() error {
		s.Drain()
		s.rules.Close()
		s.rules.Auth.LastUses.Close()
		return s.rules.Store.Close()
	})
	return s, nil
}

// Handler serves the API, the pages that its links lead to and the health endpoints.
func (s *Service) Handler() http.Handler { return s.http }

// Client returns an HTTP client that calls the service in process. Requests need a credential;
// their host is ignored.
func (s *Service) Client() *http.Client { return s.http.Client(nil) }

// OwnerClient is a Client whose requests come from the account's owner and need no credential.
func (s *Service) OwnerClient(accountID string) *http.Client {
	return s.http.Client(new(auth.Owner(accountID)))
}

// OperatorClient is an OwnerClient for a person who holds the database (break-glass): their
// requests succeed even if the account's grants are revoked, its tokens lost or the account
// cancelled. The name is for the audit log.
func (s *Service) OperatorClient(accountID, name string) *http.Client {
	return s.http.Client(new(auth.Operator(accountID, name)))
}

// QueuedMessages returns how many verification messages wait to be sent, by any process.
func (s *Service) QueuedMessages(ctx context.Context) (int, error) {
	return store.Read(ctx, s.rules.Store, store.Reader.QueuedMessages)
}

// GivenUpMessages returns how many messages this process could not send and has given up.
func (s *Service) GivenUpMessages() int64 { return s.rules.GivenUpMessages() }

// SignIn returns a sealed session of at most a lifetime for a service account's token. A failed
// attempt counts against the rate limit of the remote address. An error is an *api.Error.
func (s *Service) SignIn(ctx context.Context, token, remoteAddr string, lifetime time.Duration) (sealed string, err error) {
	sealed, err = s.rules.Auth.SealSession(ctx, token, lifetime)
	return sealed, s.http.SignInError(ctx, err, remoteAddr)
}

// SignInUser is SignIn with an access token, in one of the accounts that AccessOf returns. The
// session ends with the access token.
func (s *Service) SignInUser(ctx context.Context, accessToken, accountID, remoteAddr string, lifetime time.Duration) (sealed string, err error) {
	sealed, err = s.rules.Auth.SealUserSession(ctx, accessToken, accountID, lifetime)
	return sealed, s.http.SignInError(ctx, err, remoteAddr)
}

// LimitSignIn counts an attempt to sign in against the rate limit of the remote address. An
// error is a 429.
func (s *Service) LimitSignIn(remoteAddr string) error { return s.http.LimitSignIn(remoteAddr) }

// AccessOf returns where the user of an access token may sign in. An error is an
// *api.Error.
func (s *Service) AccessOf(ctx context.Context, accessToken, remoteAddr string) (identity.UserAccess, error) {
	access, err := s.rules.Auth.AccessOf(ctx, accessToken)
	return access, s.http.SignInError(ctx, err, remoteAddr)
}

// Session opens what SignIn or SignInUser has sealed, in any process, as long as its token
// works. An error is an *api.Error: a 403 if the account grants the user nothing any more.
func (s *Service) Session(ctx context.Context, sealed string) (identity.Session, error) {
	session, err := s.rules.Auth.OpenSession(ctx, sealed)
	return session, s.http.SessionError(ctx, err)
}

// SignOut ends a session for everybody who has a copy of it. An error is an *api.Error.
func (s *Service) SignOut(ctx context.Context, sealed string) error {
	return s.http.SessionError(ctx, s.rules.Auth.EndSession(ctx, sealed))
}

// Ready returns why requests should go to another server, in words for the public, or nil.
func (s *Service) Ready(ctx context.Context) error { return s.http.Ready(ctx) }

// Retire makes Ready report an error while requests are still served: load balancers need time.
func (s *Service) Retire() { s.http.Retire() }

// Drain refuses new requests with a 503, and makes Ready report an error.
func (s *Service) Drain() { s.http.Drain() }

// Draining returns a channel that Drain closes.
func (s *Service) Draining() <-chan struct{} { return s.http.Draining() }

// Close sends the messages that are due, for at most some seconds, and closes the store.
// Requests in flight must have ended. A second call returns the error of the first.
func (s *Service) Close() error { return s.close() }

// Outbox returns the newest messages that this process wrote, one for each attempt to send one,
// the oldest first.
func (s *Service) Outbox() []email.Message { return s.rules.Outbox.Messages() }

// ClearOutbox empties the Outbox.
func (s *Service) ClearOutbox() { s.rules.Outbox.Clear() }

// SettlePayment marks a purchase as paid: its domains become pending or active. It returns all
// of them, or ErrNoPurchase; paying again changes nothing.
func (s *Service) SettlePayment(ctx context.Context, purchaseBatchID string) ([]registrar.PurchasedDomain, error) {
	return s.rules.SettlePayment(ctx, purchaseBatchID)
}

// LoadFixture creates the accounts of a fixture, all or none, except those that exist. The
// settings of the fixture hold from then on, in this process. Verification messages go to the
// Outbox only.
func (s *Service) LoadFixture(ctx context.Context, f *fixture.Fixture) error {
	return s.fixtures.Load(ctx, f)
}

// ApplyFixture is LoadFixture, and returns what became of each object.
func (s *Service) ApplyFixture(ctx context.Context, f *fixture.Fixture) ([]fixture.Outcome, error) {
	return s.fixtures.Apply(ctx, f)
}

// DumpFixture returns the fixture from which LoadFixture creates the same accounts, see
// fixture.Loader.Dump.
func (s *Service) DumpFixture(ctx context.Context) (*fixture.Fixture, error) {
	return s.fixtures.Dump(ctx)
}

// Reset returns the service to its state after a start on an empty store with a fixture, which
// may be nil. The store changes in one transaction; after an error nothing has changed. No
// request may be in flight.
func (s *Service) Reset(ctx context.Context, f *fixture.Fixture) error {
	if err := s.fixtures.Replace(ctx, cmp.Or(f, new(fixture.Fixture))); err != nil {
		return err
	}
	s.forget()
	return nil
}

// forget drops what is in memory about requests.
func (s *Service) forget() {
	s.rules.Auth.LastUses.Reset()
	s.http.Limiter.Reset()
	s.http.Idempotency.Reset()
}

// Snapshot returns a function that restores what the service has now: all data, the Outbox and
// the settings of fixtures. No request may be in flight for that.
func (s *Service) Snapshot(ctx context.Context) (restore func(context.Context) error, err error) {
	messages, limits := s.rules.Outbox.Messages(), s.rules.Settings.Get()
	rows, err := s.rules.Store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if err := rows(ctx); err != nil {
			return err
		}
		s.rules.Outbox.Clear()
		s.rules.Outbox.Add(messages...)
		s.rules.Settings.Set(limits)
		s.forget()
		return nil
	}, nil
}
