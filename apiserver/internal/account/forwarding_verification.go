package account

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/ratelimit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// VerificationPeriod is how long a verification link is valid.
const VerificationPeriod = 72 * time.Hour

func (rules *Rules) newLink() mail.Token { return mail.NewToken(rules.Random) }

// beginVerification restarts the verification of a rule with a link. Sending a queued message
// replaces the link.
func (c *Call) beginVerification(r store.Reader, rule *store.Forwarding, link mail.Token) error {
	target, _ := emailaddr.Parse(rule.TargetEmail) // the target is valid
	rule.LinkHash, rule.SentAt, rule.ExpiresAt, rule.VerifiedAt = nil, time.Time{}, time.Time{}, time.Time{}
	m, err := r.MailboxByAddress(rule.AccountID, target.Local, target.Domain)
	err = c.ifVisible(err, m.WorkspaceID, m.DomainID) // the state must not reveal the mailbox
	if rule.Internal = err == nil; rule.Internal || !errors.Is(err, store.ErrNotFound) {
		return err
	}
	rule.SentAt, rule.ExpiresAt = c.Arrival, c.Arrival.Add(VerificationPeriod)
	rule.LinkHash = link.Hash() // a queued message gets its own link
	return nil
}

// requestMessage queues the message of a rule unless the target is internal, or returns a 429.
// Without a mail queue it writes the message to the outbox. An operator's process runs one command,
// so its message is always queued for a server on the database.
func (c *Call) requestMessage(tx store.Tx, rule store.Forwarding, link mail.Token) error {
	if rule.Internal {
		return nil
	}
	if err := c.takeMessage(tx, rule.AccountID); err != nil {
		return err
	}
	if c.Rules.mail == nil && !c.Caller.IsOperator() {
		c.committed = func() { c.Rules.Outbox.Add(mail.Verification(c.Rules.PublicURL, rule, link, c.Arrival)) }
		return nil
	}
	c.committed = c.Rules.mail.Notify
	return tx.QueueMessage(store.QueuedMessage{AccountID: rule.AccountID, ForwardingID: rule.ID, RequestID: c.RequestID, DueAt: time.Now()})
}

// messageLimit keeps an account from flooding recipients with verification messages. Its bucket is
// in the store, so that neither a restart, another replica nor deleting the rule refills it.
// Recipients have no limit: one account could use up another's.
var messageLimit = ratelimit.Limit{Requests: 20, Per: 20 * time.Minute}

// takeMessage takes a token for a message of an account, or returns a 429.
func (c *Call) takeMessage(tx store.Tx, accountID string) error {
	u, err := messageLimit.TakeStored(tx, "account "+accountID, c.Arrival)
	if err == nil && !u.Allowed {
		err = api.NewError(http.StatusTooManyRequests, api.TypeRateLimited,
			"too many verification messages for the account: %d at once are allowed, and one in %.0f s after that; nothing was changed, try again in %d s",
			messageLimit.Requests, messageLimit.Per.Seconds()/float64(messageLimit.Requests), u.Wait).
			At("body", "target_email").RetryAfter(u.Wait)
	}
	return err
}

// composeVerification writes the verification message of a queued rule, with a new link. It returns
// nil if the rule needs no link or its account is cancelled.
func (rules *Rules) composeVerification(tx store.Tx, queued store.QueuedMessage) (*email.Message, error) {
	rule, err := store.Get[store.Forwarding](tx, queued.AccountID, queued.ForwardingID)
	if err != nil {
		return nil, err
	}
	link, err := rules.link(tx, rule)
	if err != nil || !link.isOpen() || rule.SentAt.IsZero() {
		return nil, err
	}
	token := rules.newLink()
	if err := tx.SetForwardingLink(rule.AccountID, rule.ID, token.Hash()); err != nil {
		return nil, err
	}
	return new(mail.Verification(rules.PublicURL, rule, token, rules.Now())), nil
}

// Link is the rule of a verification link, and its state.
type Link struct {
	Rule store.Forwarding
	// State is the rule's verification state.
	State string
	// Confirmed reports that the current request confirmed the link.
	Confirmed bool
	// Cancelled reports that the rule can't be changed because its account is cancelled.
	Cancelled bool
}

func (l Link) isOpen() bool { return l.State == vocab.VerificationPending && !l.Cancelled }

func (rules *Rules) link(r store.Reader, rule store.Forwarding) (Link, error) {
	now := rules.Now()
	a, err := r.Account(rule.AccountID)
	return Link{Rule: rule, State: rule.VerificationState(now), Cancelled: a.StatusAt(now) == vocab.AccountCancelled}, err
}

// OpenLink returns the link with a token, or store.ErrNotFound.
func (rules *Rules) OpenLink(ctx context.Context, token mail.Token) (Link, error) {
	return store.Read(ctx, rules.Store, func(r store.Reader) (Link, error) {
		rule, err := r.ForwardingByLink(token.Hash())
		if err != nil {
			return Link{}, err
		}
		return rules.link(r, rule)
	})
}

// ConfirmLink is OpenLink, and also verifies the rule if the link is open.
func (rules *Rules) ConfirmLink(ctx context.Context, token mail.Token) (link Link, err error) {
	err = rules.Store.Update(ctx, func(tx store.Tx) error {
		rule, err := tx.ForwardingByLink(token.Hash())
		if err != nil {
			return err
		}
		if link, err = rules.link(tx, rule); err != nil || !link.isOpen() {
			return err
		}
		audit.Attribute(tx, audit.Recipient(rule.TargetEmail), audit.ConfirmForwarding, "verification_state")
		link.Confirmed = true
		link.Rule, err = store.Update(tx, rule.AccountID, rule.ID, func(f *store.Forwarding) error {
			f.VerifiedAt = rules.Now()
			f.UpdatedAt = f.VerifiedAt
			return nil
		})
		return err
	})
	return link, err
}
