package account

import (
	"errors"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/idempotency"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// VerificationPeriod is how long a recipient has to open the link.
const VerificationPeriod = 72 * time.Hour

// CreateForwarding implements api.CreateForwarding.
func CreateForwarding(c *Call, in *api.CreateForwardingRequest) (*api.Forwarding, error) {
	id, link := c.rules.random.ID(), c.rules.newToken()
	var written *mail.Message
	out, err := transact(c, func(tx store.Tx) (*api.Forwarding, error) {
		written = nil
		scope, err := c.scopeInBody(tx, in.Body.Domain, in.Body.WorkspaceID)
		if err != nil {
			return nil, err
		}
		existing := func(id string) (*api.Forwarding, error) {
			rule, err := tx.Forwarding(c.caller.AccountID, id)
			if err == nil && (rule.Scope != scope || rule.TargetEmail != in.Body.TargetEmail) {
				err = store.ErrNotFound
			}
			return new(c.forwarding(rule)), err
		}
		create := func() (*api.Forwarding, error) {
			rule := store.Forwarding{
				ID: id, AccountID: c.caller.AccountID, Scope: scope, TargetEmail: in.Body.TargetEmail, Enabled: true, CreatedAt: c.at,
			}
			if err := c.beginVerification(tx, &rule, link); err != nil {
				return nil, err
			}
			if err := tx.CreateForwarding(&rule); err != nil {
				return nil, c.forwardingConflict(tx, err, rule)
			}
			written, err = c.requestMessage(tx, rule, link)
			return new(c.forwarding(rule)), err
		}
		return idempotency.Create[api.Forwarding]{
			Body: &in.Body, Existing: existing, New: create,
			ID: func(f *api.Forwarding) string { return f.ID },
		}.Run(c.idempotency, tx, c.at)
	})
	if err == nil && !c.idempotency.Replayed {
		c.messageRequested(written)
	}
	return out, err
}

// beginVerification starts a rule's verification over. If a message is queued for
// it, its link is created when it is sent; otherwise the given link is the rule's.
func (c *Call) beginVerification(r store.Reader, rule *store.Forwarding, link mail.Token) error {
	target, err := emailaddr.Parse(rule.TargetEmail)
	if err != nil {
		return err
	}
	rule.LinkHash, rule.SentAt, rule.ExpiresAt, rule.VerifiedAt = nil, time.Time{}, time.Time{}, time.Time{}
	m, err := r.MailboxByAddress(rule.AccountID, target.Local, target.Domain)
	if err == nil && !sees(c.caller.Within(c.spec.Capability), m.WorkspaceID, m.DomainID) {
		err = store.ErrNotFound // the state must not reveal the mailbox
	}
	if rule.Internal = err == nil; rule.Internal {
		return nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	rule.SentAt, rule.ExpiresAt = c.at, c.at.Add(VerificationPeriod)
	if c.rules.mail == nil {
		rule.LinkHash = link.Hash()
	}
	return nil
}

// requestMessage queues the message of a rule whose verification was started, if it needs
// one and the limits allow it. Without a mail queue it returns the message.
func (c *Call) requestMessage(tx store.Tx, rule store.Forwarding, link mail.Token) (*mail.Message, error) {
	if rule.Internal {
		return nil, nil
	}
	if err := c.takeMessage(tx, rule); err != nil {
		return nil, err
	}
	if c.rules.mail == nil {
		return new(mail.Verification(c.rules.publicURL, rule, link, c.at)), nil
	}
	return nil, tx.QueueMessage(store.QueuedMessage{
		AccountID: rule.AccountID, ForwardingID: rule.ID, RequestID: c.requestID, DueAt: time.Now(),
	})
}

// messageRequested is called after a transaction with requestMessage.
func (c *Call) messageRequested(written *mail.Message) {
	if written != nil {
		c.rules.outbox.Add(*written)
	}
	c.rules.mail.Notify()
}

func (c *Call) forwardingConflict(r store.Reader, err error, rule store.Forwarding) error {
	if exists, ok := errors.AsType[*store.ExistsError](err); ok {
		return api.Conflict("mail of this %s is forwarded to %s already%s", rule.Scope.Type, rule.TargetEmail,
			c.naming(r, vocab.CapForwardingView, rule.Scope, " by the rule ", exists.ID))
	}
	return statusOf(err, "forwarding_id", "forwarding rule")
}

// ListForwarding implements api.ListForwarding.
func ListForwarding(c *Call, in *api.ListForwardingRequest) (*api.Page[api.Forwarding], error) {
	return listPage(c, in.Paged, func(r store.Reader, s store.Slice) ([]store.Forwarding, int, error) {
		filter, ok, err := c.scopedFilter(r, in.Domain, in.WorkspaceID, in.ScopeType, in.Search)
		if err != nil || !ok {
			return nil, 0, err
		}
		return r.ForwardingRules(c.caller.AccountID, store.ForwardingFilter{ScopedFilter: filter, VerificationState: in.VerificationState, Now: c.at}, s)
	}, c.forwarding)
}

// scopedFilter builds the filter that master passwords and forwarding rules
// share; ok is false where nothing can match.
func (c *Call) scopedFilter(r store.Reader, domain, workspaceID, scopeType, search string) (f store.ScopedFilter, ok bool, err error) {
	domainID, ok, err := c.domainFilter(r, domain)
	return store.ScopedFilter{
		DomainID: domainID, WorkspaceID: workspaceID, ScopeType: scopeType, Search: search, Within: c.caller.Within(c.spec.Capability),
	}, ok, err
}

// GetForwarding implements api.GetForwarding.
func GetForwarding(c *Call, in *api.ForwardingRequest) (*api.Forwarding, error) {
	return view(c, func(r store.Reader) (*api.Forwarding, error) {
		rule, err := c.findForwarding(r, in.ForwardingID)
		return new(c.forwarding(rule)), err
	})
}

// UpdateForwarding implements api.UpdateForwarding.
func UpdateForwarding(c *Call, in *api.UpdateForwardingRequest) (*api.Forwarding, error) {
	link := c.rules.newToken()
	var written *mail.Message
	out, err := transact(c, func(tx store.Tx) (*api.Forwarding, error) {
		written = nil
		verifying := false
		rule, err := tx.UpdateForwarding(c.caller.AccountID, in.ForwardingID, func(rule *store.Forwarding) error {
			if err := c.mustSeeScope(tx, rule.Scope); err != nil {
				return err
			}
			if state := rule.VerificationState(c.at); rule.TargetEmail == in.Body.TargetEmail &&
				(state == vocab.VerificationInternal || state == vocab.VerificationVerified) {
				return nil // nothing to verify again
			}
			verifying = true
			rule.TargetEmail, rule.UpdatedAt = in.Body.TargetEmail, c.at
			return c.beginVerification(tx, rule, link)
		})
		if err != nil {
			return nil, c.forwardingConflict(tx, err, rule)
		}
		if verifying {
			written, err = c.requestMessage(tx, rule, link)
		}
		return new(c.forwarding(rule)), err
	})
	if err == nil {
		c.messageRequested(written)
	}
	return out, err
}

// SetForwardingActive implements api.SetForwardingActive.
func SetForwardingActive(c *Call, in *api.SetForwardingActiveRequest) (*api.Forwarding, error) {
	return transact(c, func(tx store.Tx) (*api.Forwarding, error) {
		rule, err := tx.UpdateForwarding(c.caller.AccountID, in.ForwardingID, func(rule *store.Forwarding) error {
			if err := c.mustSeeScope(tx, rule.Scope); err != nil {
				return err
			}
			state := rule.VerificationState(c.at)
			if in.Body.Active && (state == vocab.VerificationPending || state == vocab.VerificationExpired) {
				if rule.SentAt.IsZero() {
					return api.Conflict("%s is no longer an address of the account; set target_email again to send its recipient a verification message for the rule %s", rule.TargetEmail, rule.ID)
				}
				return api.Conflict("the verification of %s is %s; the rule %s becomes active when the recipient confirms", rule.TargetEmail, state, rule.ID)
			}
			rule.Enabled, rule.UpdatedAt = in.Body.Active, c.at
			return nil
		})
		return new(c.forwarding(rule)), c.forwardingConflict(tx, err, rule)
	})
}

// DeleteForwarding implements api.DeleteForwarding.
func DeleteForwarding(c *Call, in *api.ForwardingRequest) (*api.NoContent, error) {
	return transact(c, func(tx store.Tx) (*api.NoContent, error) {
		rule, err := c.findForwarding(tx, in.ForwardingID)
		if err != nil {
			return nil, err
		}
		return &api.NoContent{}, tx.DeleteForwarding(rule.AccountID, rule.ID)
	})
}

// findForwarding returns a rule that the caller may see.
func (c *Call) findForwarding(r store.Reader, id string) (store.Forwarding, error) {
	rule, err := r.Forwarding(c.caller.AccountID, id)
	if err == nil {
		err = c.mustSeeScope(r, rule.Scope)
	}
	return rule, statusOf(err, "forwarding_id", "forwarding rule")
}

func (c *Call) forwarding(rule store.Forwarding) api.Forwarding {
	state := rule.VerificationState(c.at)
	confirmed := state == vocab.VerificationInternal || state == vocab.VerificationVerified
	return api.Forwarding{
		ID: rule.ID, Active: rule.Enabled && confirmed, ScopeType: rule.Scope.Type, ScopeID: rule.Scope.ID,
		TargetEmail: rule.TargetEmail, VerificationRequired: !rule.Internal, VerificationState: state,
		VerificationSentAt: optionalTimestamp(rule.SentAt), VerificationExpiresAt: optionalTimestamp(rule.ExpiresAt),
		VerificationVerifiedAt: optionalTimestamp(rule.VerifiedAt),
		CreatedAt:              timestamp(rule.CreatedAt), UpdatedAt: timestamp(rule.UpdatedAt),
	}
}
