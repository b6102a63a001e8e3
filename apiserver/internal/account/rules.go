// Package account implements the operations of the API on a store. The rules of each kind of object
// are functions in a file of that name, in the order create, list, read, update, delete.
//
// A table at the top of the file, such as mailboxOperations, binds operations to their rules with
// read, change or remove (call.go). They run a rule in one snapshot or transaction:
//
//   - The caller is authorized again in it, so that nothing happens after a revocation.
//   - A request with a recorded Idempotency-Key gets the replayed response.
//   - store.ErrNotFound becomes the 404 of the object in the operation's path.
//
// scope.go decides which objects a caller may see, and resolves references to objects. Package
// audit observes the changes: no rule writes to the audit log. This package uses nothing of HTTP
// but the status codes of api.Error.
//
// Package api lists each operation's number in the specification and its limits. The table
// "Decisions" of ARCHITECTURE.md lists the decisions that the specification leaves open.
package account

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/registrar"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Dependencies are the dependencies of the rules. All are required except Sender and PasswordCost.
type Dependencies struct {
	Store    store.Store
	Now      func() time.Time
	Random   *random.Source
	Log      *slog.Logger
	Auth     *auth.Authenticator
	Settings *Settings
	// Sender sends verification messages; nil adds them to the Outbox only.
	Sender email.Sender
	Outbox *mail.Outbox
	// PublicURL begins the links in messages and responses, without a trailing slash.
	PublicURL    string
	PasswordCost PasswordCost
	// MaxDedicatedIPs limits the dedicated IPs of an account; negative means no limit.
	MaxDedicatedIPs int
}

// Rules implements the operations. It is safe for concurrent use.
type Rules struct {
	Dependencies
	mail    *mail.Queue // nil: messages are not sent
	readers shares
	hashing shares // by account, and of all together
}

// New returns Rules. With a Sender, it starts to send the queued messages.
func New(d Dependencies) *Rules {
	rules := &Rules{Dependencies: d, readers: shares{slots: readersOfAccount}, hashing: shares{slots: hashesAtOnce}}
	if d.Sender != nil {
		rules.mail = mail.NewQueue(d.Store, d.Sender, rules.composeVerification, d.Outbox, d.Log)
	}
	return rules
}

// Close sends the due messages, for at most some seconds.
func (rules *Rules) Close() { rules.mail.Close() }

// GivenUpMessages implements apiserver.Service.GivenUpMessages.
func (rules *Rules) GivenUpMessages() int64 {
	if rules.mail == nil {
		return 0
	}
	return rules.mail.GivenUp.Load()
}

// Limits are the settings that a fixture may change while the service runs.
type Limits struct {
	Registrar registrar.Registrar
	// MaxMailboxes limits the mailboxes of an account; 0 means no limit.
	MaxMailboxes int
}

// Settings holds the current Limits. It is safe for concurrent use.
type Settings struct {
	initial Limits
	current atomic.Pointer[Limits]
}

// NewSettings returns Settings with the initial limits.
func NewSettings(initial Limits) *Settings {
	s := &Settings{initial: initial}
	s.Reset()
	return s
}

// Get returns the current limits.
func (s *Settings) Get() Limits { return *s.current.Load() }

// Set replaces the limits.
func (s *Settings) Set(l Limits) { s.current.Store(&l) }

// Reset restores the initial limits.
func (s *Settings) Reset() { s.Set(s.initial) }
