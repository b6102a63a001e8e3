// Package account implements the operations of the API on a store: the rules of each
// kind of object are in the file of its name.
//
// An operation is a function of a Call and its request. It reads in a view or changes in
// a transact (transaction.go), where the caller is authorized once more; scope.go and
// references.go resolve the objects that a request names. The package knows nothing of
// HTTP but the status codes of api.Error.
package account

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/idempotency"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/ratelimit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Dependencies are what the rules depend on. Every field is required but Sender and
// PasswordCost.
type Dependencies struct {
	Store    store.Store
	Now      func() time.Time
	Random   *random.Source
	Log      *slog.Logger
	Auth     *auth.Authenticator
	LastUses *auth.LastUses
	Settings *Settings
	// Sender sends verification messages; nil: they go to the Outbox only.
	Sender mail.Sender
	Outbox *mail.Outbox
	// PublicURL is the beginning of the links in messages and responses, without a
	// trailing slash.
	PublicURL    string
	PasswordCost PasswordCost
}

// Rules implements the operations. It is safe for concurrent use.
type Rules struct {
	store     store.Store
	now       func() time.Time
	random    *random.Source
	log       *slog.Logger
	auth      *auth.Authenticator
	lastUses  *auth.LastUses
	settings  *Settings
	outbox    *mail.Outbox
	mail      *mail.Queue // nil: messages are not sent
	publicURL string
	passwords passwordHasher
	feedback  *ratelimit.Limiter
}

// New returns Rules, and starts to send the messages that are queued if there is a
// Sender.
func New(d Dependencies) *Rules {
	rules := &Rules{
		store: d.Store, now: d.Now, random: d.Random, log: d.Log, auth: d.Auth, lastUses: d.LastUses,
		settings: d.Settings, outbox: d.Outbox, publicURL: d.PublicURL,
		passwords: newPasswordHasher(d.Random, cmp.Or(d.PasswordCost, defaultPasswordCost)),
		feedback:  ratelimit.New(feedbackLimit),
	}
	if d.Sender != nil {
		rules.mail = mail.NewQueue(d.Store, d.Sender, rules.composeVerification, d.Outbox, d.Log)
	}
	return rules
}

// Close sends the messages that are due, for at most some seconds.
func (rules *Rules) Close() { rules.mail.Close() }

// Reset forgets how often feedback was submitted.
func (rules *Rules) Reset() { rules.feedback.Reset() }

// Call is one request to one operation.
type Call struct {
	rules *Rules
	ctx   context.Context
	spec  api.Spec
	// caller has the grants of the snapshot or transaction that runs, see authorize.
	caller auth.Caller
	// at is when the request arrived; everything it does happens then.
	at          time.Time
	requestID   string
	idempotency *idempotency.Request
	// unchanged is set by an operation whose response is a success although it
	// changed nothing; such a response is not replayed.
	unchanged bool
}

// Request describes a request that has been authenticated.
type Request struct {
	ID     string
	Spec   api.Spec
	Caller auth.Caller
	// Arrival is when the request arrived.
	Arrival time.Time
	// Idempotency is required for an operation that changes something.
	Idempotency *idempotency.Request
}

// NewCall returns the call of a request.
func (rules *Rules) NewCall(ctx context.Context, r Request) *Call {
	return &Call{rules: rules, ctx: ctx, spec: r.Spec, caller: r.Caller, at: r.Arrival, requestID: r.ID, idempotency: r.Idempotency}
}

// authorize evaluates the caller again in r, the snapshot or transaction that the
// operation runs in. From then on c.caller has the grants of r.
func (c *Call) authorize(r store.Reader) error {
	who, err := c.rules.auth.Authorize(r, c.caller, c.spec)
	if err == nil {
		c.caller = who
	}
	return err
}
