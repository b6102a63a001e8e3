// Package apiserver is the account management API as a service: it implements every operation of
// package api on a store.
//
// New builds a Service from Options. Handler serves it over HTTP, Client calls it in process
// without a socket, Close ends it. This package only connects the packages that ARCHITECTURE.md
// lists; none of them links a database or an exporter.
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
	// Registrar decides which domains can be bought, and their prices.
	Registrar = registrar.Registrar
	// Duration is a time.Duration written in JSON like "90s".
	Duration = registrar.Duration
	// Request describes a request before it is handled: its ID, Operation (an api.Spec), Route, and
	// Subject (a store.AuditSubject). Name() returns its name for metrics.
	Request = httpapi.Request
	// RateLimit is a token bucket: up to Requests (an int) at once, and again as many in each Per
	// (a time.Duration). The zero value is no limit.
	RateLimit = ratelimit.Limit
	// PasswordCost is the cost of argon2id (RFC 9106): MemoryKiB and Passes, both uint32. The zero
	// value is OWASP's recommendation.
	PasswordCost = account.PasswordCost
)

// ErrNoPurchase is returned for a purchase without domains or not paid within 7 days.
var ErrNoPurchase = account.ErrNoPurchase

// HealthPath is the path prefix of the health checks.
const HealthPath = httpapi.HealthPath

// RequestOf returns the request in a context, for an Options.Middleware.
func RequestOf(ctx context.Context) Request { return httpapi.RequestOf(ctx) }

// RedactPath returns a request's path without the token of a verification link, for logs.
func RedactPath(path string) string { return httpapi.RedactPath(path) }

// AsControlPlane returns a context that attributes changes in the audit log to the control plane
// instead of the operator.
func AsControlPlane(ctx context.Context) context.Context { return httpapi.AsControlPlane(ctx) }

// Options configures a Service. Only Store is required.
type Options struct {
	// Store holds all data. The service owns it: Close closes it.
	Store store.Store
	// Clock returns the time; nil uses the system's.
	Clock func() time.Time
	// Random is the source of ids and secrets; nil uses crypto/rand.
	Random io.Reader
	// Logger logs one line for each request, and internal errors, but never a secret; nil logs
	// nothing.
	Logger *slog.Logger
	// ExposeFaults puts the cause of a 500 into the response, for an embedded service.
	ExposeFaults bool
	// PublishedOnly disables the operations beyond the 22 published ones.
	PublishedOnly bool
	// Registrar decides which domains can be bought, unless a fixture contains a registrar. The
	// zero value sells every free name immediately.
	Registrar Registrar
	// MaxMailboxes limits the mailboxes of an account, unless a fixture contains a limit; 0 means
	// no limit.
	MaxMailboxes int
	// MaxDedicatedIPs limits the dedicated IPs of an account, because all accounts share them; 0
	// means 4, negative no limit.
	MaxDedicatedIPs int
	// PasswordCost is the cost of hashing a master password; the zero value is OWASP's
	// recommendation (about 20 ms). A lower cost is for tests only.
	PasswordCost PasswordCost
	// RateLimit limits how often each credential calls this process; the zero value is no limit.
	RateLimit RateLimit
	// BodyMemory limits the memory of all bodies of requests and lists in bytes; 0 means 192 MiB. An
	// account gets at most as much as it leaves free. Beyond the limit, requests get a 503.
	BodyMemory int
	// Sender sends verification messages from a queue in the store. If nil, they go to the Outbox
	// only, but messages of an OperatorClient wait for another process.
	Sender email.Sender
	// PublicURL begins the links in messages; empty means http://localhost:8080.
	PublicURL string
	// Tokens validates bearer tokens other than service accounts' tokens; nil refuses them.
	Tokens identity.TokenVerifier
	// Strict refuses unknown members of bodies and query parameters, for tests of clients.
	Strict bool
	// Middleware wraps the handling of every request, including health checks and pages. RequestOf
	// returns the request's operation. Middleware may be nil, and may panic with
	// http.ErrAbortHandler.
	Middleware func(http.Handler) http.Handler
}

// Service implements the API. It is safe for concurrent use.
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
	// Times in the API and the store are truncated to microseconds.
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

// Handler serves the API, the pages behind its links and the health endpoints.
func (s *Service) Handler() http.Handler { return s.http }

// Offers reports whether the service serves an operation; PublishedOnly leaves out some.
func (s *Service) Offers(operationID string) bool { return s.http.Offers(operationID) }

// Client returns an HTTP client that calls the service in process. Requests require a credential;
// their host is ignored.
func (s *Service) Client() *http.Client { return s.http.Client(nil) }

// OwnerClient is Client for requests from the account's owner, which require no credential.
func (s *Service) OwnerClient(accountID string) *http.Client {
	return s.http.Client(new(auth.Owner(accountID)))
}

// OperatorClient is OwnerClient for a person with access to the database (break-glass): requests
// succeed even if the account's grants are revoked, its tokens lost or the account cancelled. The
// audit log contains name.
func (s *Service) OperatorClient(accountID, name string) *http.Client {
	return s.http.Client(new(auth.Operator(accountID, name)))
}

// QueuedMessages returns the number of verification messages in the queue of all processes.
func (s *Service) QueuedMessages(ctx context.Context) (int, error) {
	return store.Read(ctx, s.rules.Store, store.Reader.QueuedMessages)
}

// GivenUpMessages returns the number of messages that this process gave up.
func (s *Service) GivenUpMessages() int64 { return s.rules.GivenUpMessages() }

// SignIn returns a sealed session for a service account's token. The session ends after lifetime. A
// failed attempt counts against the rate limit of the remote address. An error is an *api.Error.
func (s *Service) SignIn(ctx context.Context, token, remoteAddr string, lifetime time.Duration) (sealed string, err error) {
	sealed, err = s.rules.Auth.SealSession(ctx, token, lifetime)
	return sealed, s.http.SignInError(ctx, err, remoteAddr)
}

// SignInUser is SignIn with an access token, in an account returned by AccessOf. The session ends
// at the latest with the access token.
func (s *Service) SignInUser(ctx context.Context, accessToken, accountID, remoteAddr string, lifetime time.Duration) (sealed string, err error) {
	sealed, err = s.rules.Auth.SealUserSession(ctx, accessToken, accountID, lifetime)
	return sealed, s.http.SignInError(ctx, err, remoteAddr)
}

// LimitSignIn counts a sign-in attempt against the rate limit of the remote address. An error is a
// 429.
func (s *Service) LimitSignIn(remoteAddr string) error { return s.http.LimitSignIn(remoteAddr) }

// SealAttempt returns the sealed content of a browser's attempt to sign in at the OAuth issuer.
// OpenAttempt opens it in any process, until lifetime ends. An error is an *api.Error.
func (s *Service) SealAttempt(ctx context.Context, content string, lifetime time.Duration) (sealed string, err error) {
	sealed, err = s.rules.Auth.SealAttempt(ctx, content, lifetime)
	return sealed, s.http.SessionError(ctx, err)
}

// OpenAttempt returns the content of a sealed attempt, or "" for a forged or ended one. An error is
// an *api.Error.
func (s *Service) OpenAttempt(ctx context.Context, sealed string) (content string, err error) {
	content, err = s.rules.Auth.OpenAttempt(ctx, sealed)
	return content, s.http.SessionError(ctx, err)
}

// CallIssuer runs a call of the OAuth issuer for a browser that is not signed in. Few calls run at
// once, others wait. A failed call counts against the limit of the remote address: RateLimit, or by
// default 60 a minute. Beyond the limit, the calls of the address run at five a second, and a call that
// would wait for more than ten seconds is a 429. An error is that of call, a 429 or a 503.
func (s *Service) CallIssuer(ctx context.Context, remoteAddr string, call func() error) error {
	return s.http.CallIssuer(ctx, remoteAddr, call)
}

// AccessOf returns the accounts that the user of an access token may sign in to. An error is an
// *api.Error.
func (s *Service) AccessOf(ctx context.Context, accessToken, remoteAddr string) (identity.UserAccess, error) {
	access, err := s.rules.Auth.AccessOf(ctx, accessToken)
	return access, s.http.SignInError(ctx, err, remoteAddr)
}

// Session opens a session sealed by SignIn or SignInUser, in any process, as long as its token
// works. An error is an *api.Error: a 403 if the account no longer grants the user anything.
func (s *Service) Session(ctx context.Context, sealed string) (identity.Session, error) {
	session, err := s.rules.Auth.OpenSession(ctx, sealed)
	return session, s.http.SessionError(ctx, err)
}

// SignOut ends all copies of a session. An error is an *api.Error.
func (s *Service) SignOut(ctx context.Context, sealed string) error {
	return s.http.SessionError(ctx, s.rules.Auth.EndSession(ctx, sealed))
}

// Ready returns the reason, in words for the public, why requests should go to another server, or
// nil.
func (s *Service) Ready(ctx context.Context) error { return s.http.Ready(ctx) }

// Retire makes Ready report an error while requests are still served, because load balancers need
// time.
func (s *Service) Retire() { s.http.Retire() }

// Drain refuses new requests with a 503, and makes Ready report an error.
func (s *Service) Drain() { s.http.Drain() }

// Draining returns the channel that Drain closes.
func (s *Service) Draining() <-chan struct{} { return s.http.Draining() }

// Close sends the due messages, for at most some seconds, and closes the store. Requests in flight
// must have ended. A second call returns the error of the first.
func (s *Service) Close() error { return s.close() }

// Outbox returns the newest messages that this process wrote, one for each attempt to send, the
// oldest first.
func (s *Service) Outbox() []email.Message { return s.rules.Outbox.Messages() }

// ClearOutbox empties the Outbox.
func (s *Service) ClearOutbox() { s.rules.Outbox.Clear() }

// SettlePayment marks a purchase as paid, so that its domains become pending or active. It returns
// all its domains, or ErrNoPurchase. Paying again changes nothing.
func (s *Service) SettlePayment(ctx context.Context, purchaseBatchID string) ([]registrar.PurchasedDomain, error) {
	return s.rules.SettlePayment(ctx, purchaseBatchID)
}

// LoadFixture creates all accounts of a fixture or none, except existing accounts. The settings of
// the fixture apply to this process from then on. Verification messages go to the Outbox only.
func (s *Service) LoadFixture(ctx context.Context, f *fixture.Fixture) error {
	return s.fixtures.Load(ctx, f)
}

// ApplyFixture is LoadFixture, and returns the outcome of each object.
func (s *Service) ApplyFixture(ctx context.Context, f *fixture.Fixture) ([]fixture.Outcome, error) {
	return s.fixtures.Apply(ctx, f)
}

// DumpFixture returns a fixture from which LoadFixture creates the same accounts, see
// fixture.Loader.Dump.
func (s *Service) DumpFixture(ctx context.Context) (*fixture.Fixture, error) {
	return s.fixtures.Dump(ctx)
}

// Reset returns the service to its state after a start on an empty store with f, which may be nil.
// The store changes in one transaction; an error changes nothing. No request may be in flight.
func (s *Service) Reset(ctx context.Context, f *fixture.Fixture) error {
	if err := s.fixtures.Replace(ctx, cmp.Or(f, new(fixture.Fixture))); err != nil {
		return err
	}
	s.forget()
	return nil
}

// forget clears the service's memory of requests.
func (s *Service) forget() {
	s.rules.Auth.LastUses.Reset()
	s.http.ResetLimits()
	s.http.Idempotency.Reset()
}

// Snapshot returns a function that restores the current state: all data, the Outbox and the
// settings of fixtures. No request may be in flight when it is called.
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
