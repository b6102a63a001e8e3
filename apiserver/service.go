package apiserver

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/idempotency"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/ratelimit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/registrar"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

type (
	// Message is an e-mail that the service sends.
	Message = mail.Message
	// Courier sends messages in the background.
	Courier = mail.Sender
	// TokenVerifier validates the access tokens of an OAuth 2.0 issuer.
	TokenVerifier = auth.TokenVerifier
	// User is the person or machine that an access token was issued for.
	User = auth.User
	// InvalidTokenError reports an access token that is not valid, or not for this API.
	InvalidTokenError = auth.InvalidTokenError
	// IssuerUnavailableError reports that a token can't be validated now.
	IssuerUnavailableError = auth.IssuerUnavailableError
	// RateLimit bounds how often one credential calls. The zero value is no limit.
	RateLimit = ratelimit.Limit
	// Registrar decides which domains can be bought and at what price.
	Registrar = registrar.Registrar
	// Duration is a time.Duration that JSON writes as "90s".
	Duration = registrar.Duration
)

// ErrUndeliverable is wrapped by a Courier's error if another attempt to send the
// message would fail too.
var ErrUndeliverable = mail.ErrUndeliverable

// ErrTokenExpired reports an access token that was valid once.
var ErrTokenExpired = auth.ErrTokenExpired

// Options configures a Service. Only Store is required.
type Options struct {
	// Store keeps everything. The service owns it: Close closes it.
	Store store.Store
	// Clock tells the time; nil: the system's.
	Clock func() time.Time
	// Random is where ids and secrets come from; nil: crypto/rand.
	Random io.Reader
	// Logger gets one line for each request and what went wrong inside; nil:
	// nothing is logged. Secrets never reach it.
	Logger *slog.Logger
	// TellFaults puts the cause of a 500 into the answer, for an embedded service
	// whose only caller is also the one who has to mend it.
	TellFaults bool
	// PublishedOnly switches the operations beyond the 22 published ones off.
	PublishedOnly bool
	// Registrar decides which domains can be bought at what price, and how long
	// that takes, unless a fixture says otherwise; the zero value sells every free
	// name at once.
	Registrar Registrar
	// MaxMailboxes bounds the mailboxes of an account, unless a fixture says
	// otherwise; 0: no bound.
	MaxMailboxes int
	// PasswordCost is the cost of hashing a master password; the zero value is
	// what OWASP recommends (19 MiB, 2 passes, about 20 ms). Less is for tests only.
	PasswordCost PasswordCost
	// RateLimit bounds how often each credential calls; the zero value does not.
	RateLimit RateLimit
	// BodyMemory bounds the memory that the bodies of all requests under way take
	// together, in bytes. It is shared fairly by credential; a request beyond it gets
	// a 429 or a 503. 0: 64 MiB.
	BodyMemory int
	// Courier sends verification messages in the background, out of a queue in the
	// store. If it is nil, they are not queued and go to the Outbox only.
	Courier Courier
	// PublicURL is where recipients reach the service, for the links in
	// messages; empty: http://localhost:8080.
	PublicURL string
	// Tokens validates bearer tokens that are no service account's; nil: they are
	// refused.
	Tokens TokenVerifier
	// Middleware is put around the answering of every request, health checks and
	// pages included; RequestOf tells it which operation is asked for. It may
	// answer by itself, or panic with http.ErrAbortHandler. May be nil.
	Middleware func(http.Handler) http.Handler
}

// Service is the API's implementation. It is safe for concurrent use.
type Service struct {
	store         store.Store
	clock         func() time.Time
	random        *random.Source
	log           *slog.Logger
	tellFaults    bool
	publishedOnly bool
	rules         currentRules
	mail          *mail.Queue // nil: messages are not sent
	publicURL     string
	auth          *auth.Authenticator
	outbox        mail.Outbox
	mux           *router
	handler       http.Handler
	limiter       *ratelimit.Limiter // nil: no limit
	feedback      *ratelimit.Limiter
	bodies        *bodyBudget
	argon2        chan struct{}
	passwordCost  PasswordCost
	idempotency   *idempotency.Records
	lastUses      *auth.LastUses
	outage        outage
	retiring      atomic.Bool
	draining      atomic.Bool
	drained       chan struct{} // closed with draining
}

// New returns a Service on an open store.
func New(o Options) (*Service, error) {
	if o.Store == nil {
		return nil, errors.New("apiserver: Options.Store is required")
	}
	s := &Service{
		clock:         o.Clock,
		random:        random.New(o.Random),
		log:           o.Logger,
		tellFaults:    o.TellFaults,
		publishedOnly: o.PublishedOnly,
		publicURL:     strings.TrimSuffix(o.PublicURL, "/"),
		argon2:        make(chan struct{}, argon2Concurrency),
		passwordCost:  cmp.Or(o.PasswordCost, defaultPasswordCost),
		drained:       make(chan struct{}),
	}
	s.feedback = ratelimit.New(feedbackLimit)
	s.bodies = newBodyBudget(cmp.Or(o.BodyMemory, defaultBodyMemory))
	if l := o.RateLimit; l != (RateLimit{}) {
		if l.Requests < 1 || l.Per <= 0 {
			return nil, errors.New("apiserver: Options.RateLimit: Requests and Per must be positive")
		}
		s.limiter = ratelimit.New(l)
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.publicURL == "" {
		s.publicURL = "http://localhost:8080"
	}
	s.rules.init(rules{registrar: o.Registrar, maxMailboxes: o.MaxMailboxes})
	s.store = audit.NewStore(o.Store, s.now, originOf)
	s.lastUses = auth.NewLastUses(s.store, s.log)
	s.auth = auth.NewAuthenticator(s.store, s.now, o.Tokens, s.lastUses)
	s.idempotency = idempotency.New(s.store, s.now, s.random, s.log)
	if o.Courier != nil {
		s.mail = mail.NewQueue(s.store, o.Courier, s.composeVerification, &s.outbox, s.log)
	}
	s.handler = s.newHandler(o.Middleware)
	return s, nil
}

// Handler serves the API, the pages that its links lead to and the health
// endpoints.
func (s *Service) Handler() http.Handler { return s.handler }

// Ready returns why requests should go to another server, or nil. The error is for the
// public: it names no path.
func (s *Service) Ready(ctx context.Context) error {
	if s.retiring.Load() || s.draining.Load() {
		return errors.New("draining")
	}
	err := s.store.Ping(ctx)
	if err == nil {
		return nil
	}
	if errors.Is(err, store.ErrUnavailable) {
		s.outage.noticed(s.log, err)
	}
	if lost, ok := errors.AsType[*store.LostError](err); ok {
		return errors.New("the database file " + lost.Reason)
	}
	return errors.New("the database does not answer")
}

// Retire makes the service report that it is not ready, while it still answers
// whatever comes: load balancers need their time to look elsewhere.
func (s *Service) Retire() { s.retiring.Store(true) }

// Drain makes the service refuse new requests with a 503 and report that it is
// not ready, while those under way end.
func (s *Service) Drain() {
	if !s.draining.Swap(true) {
		close(s.drained)
	}
}

// Draining is closed by Drain, for what waits beside a request.
func (s *Service) Draining() <-chan struct{} { return s.drained }

// Outbox returns the newest messages that this process wrote, oldest first. With a
// Courier, a message is written for each attempt to send it.
func (s *Service) Outbox() []Message { return s.outbox.Messages() }

// Close sends the messages that are due, for at most some seconds, and closes the
// store. The next process sends those that are left. Requests in flight must have
// ended.
func (s *Service) Close() error {
	s.Drain()
	s.mail.Close()
	return errors.Join(s.lastUses.Close(), s.store.Close())
}

// now is the time to the microsecond, as the API and the store tell it.
func (s *Service) now() time.Time { return s.clock().UTC().Truncate(time.Microsecond) }

// call is one request to one operation.
type call struct {
	*Service
	ctx  context.Context
	spec api.Spec
	// caller has the grants of the snapshot or transaction that runs, see authorize.
	caller auth.Caller
	// at is when the request arrived; everything it does happens then.
	at          time.Time
	idempotency *idempotency.Request
	// unchanged is set by an operation whose response is a success although it
	// changed nothing; such a response is not replayed.
	unchanged bool
}

// authorize evaluates the caller again in r, the snapshot or transaction that the
// operation runs in. From then on c.caller has the grants of r.
func (c *call) authorize(r store.Reader) error {
	who, err := c.auth.Authorize(r, c.caller, c.spec)
	if err == nil {
		c.caller = who
	}
	return err
}

// view reads one snapshot, in which the caller is authorized.
func view[T any](c *call, fn func(store.Reader) (T, error)) (T, error) {
	var out T
	err := c.store.View(c.ctx, func(r store.Reader) (err error) {
		if err := c.authorize(r); err != nil {
			return err
		}
		r.HideUnpaid(lastUnpaid(c.at))
		out, err = fn(r)
		return err
	})
	return out, err
}
