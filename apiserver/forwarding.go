package apiserver

import (
	"errors"
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// verificationLasts is how long a recipient has to open the link.
const verificationLasts = 72 * time.Hour

// resendLimit is how often one recipient gets another message for rules that
// exist: whoever may change one must not be able to flood an address. New rules
// are not limited, as an apply may make many with one target.
var resendLimit = RateLimit{Requests: 20, Per: 20 * time.Minute}

func createForwarding(c *call, in *api.CreateForwardingRequest) (*api.Forwarding, error) {
	id, link := c.newID(), c.newLink()
	var letter *Message
	out, err := transact(c, func(tx store.Tx) (*api.Forwarding, error) {
		scope, err := c.scopeInBody(tx, in.Body.Domain, in.Body.WorkspaceID)
		if err != nil {
			return nil, err
		}
		rule := store.Forwarding{
			ID: id, AccountID: c.caller.accountID, Scope: scope, TargetEmail: in.Body.TargetEmail, Enabled: true, CreatedAt: c.at,
		}
		if letter, err = c.beginVerification(tx, &rule, link); err != nil {
			return nil, err
		}
		if err := tx.CreateForwarding(&rule); err != nil {
			return nil, c.forwardingConflict(tx, err, rule)
		}
		return new(c.forwarding(rule)), nil
	})
	if err == nil && !c.replayed {
		c.deliver(letter)
	}
	return out, err
}

// beginVerification starts a rule's verification over, and returns the message
// to send once that is durable; nil for a target that needs none.
func (c *call) beginVerification(r store.Reader, rule *store.Forwarding, link verificationLink) (*Message, error) {
	target, err := emailaddr.Parse(rule.TargetEmail)
	if err != nil {
		return nil, err
	}
	rule.LinkHash, rule.SentAt, rule.ExpiresAt, rule.VerifiedAt = nil, time.Time{}, time.Time{}, time.Time{}
	m, err := r.MailboxByAddress(rule.AccountID, target.Local, target.Domain)
	if err == nil && !sees(c.caller.within(c.spec.Capability), m.WorkspaceID, m.DomainID) {
		err = store.ErrNotFound // the state must not tell of it
	}
	if rule.Internal = err == nil; rule.Internal {
		return nil, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	rule.LinkHash, rule.SentAt, rule.ExpiresAt = link.hash(), c.at, c.at.Add(verificationLasts)
	return c.verificationMessage(*rule, link), nil
}

func (c *call) forwardingConflict(r store.Reader, err error, rule store.Forwarding) error {
	if exists, ok := errors.AsType[*store.ExistsError](err); ok {
		return api.Conflict("mail of this %s is forwarded to %s already%s", rule.Scope.Type, rule.TargetEmail,
			c.naming(r, api.CapForwardingView, rule.Scope, " by the rule ", exists.ID))
	}
	return statusOf(err, "forwarding_id", "forwarding rule")
}

func listForwarding(c *call, in *api.ListForwardingRequest) (*api.Page[api.Forwarding], error) {
	return listPage(c, in.Paged, func(r store.Reader, s store.Slice) ([]store.Forwarding, int, error) {
		filter, ok, err := c.scopedFilter(r, in.Domain, in.WorkspaceID, in.ScopeType, in.Search)
		if err != nil || !ok {
			return nil, 0, err
		}
		return r.ForwardingRules(c.caller.accountID, store.ForwardingFilter{ScopedFilter: filter, VerificationState: in.VerificationState, Now: c.at}, s)
	}, c.forwarding)
}

// scopedFilter builds the filter that master passwords and forwarding rules
// share; ok is false where nothing can match.
func (c *call) scopedFilter(r store.Reader, domain, workspaceID, scopeType, search string) (f store.ScopedFilter, ok bool, err error) {
	domainID, ok, err := c.domainFilter(r, domain)
	return store.ScopedFilter{
		DomainID: domainID, WorkspaceID: workspaceID, ScopeType: scopeType, Search: search, Within: c.caller.within(c.spec.Capability),
	}, ok, err
}

func getForwarding(c *call, in *api.ForwardingRequest) (*api.Forwarding, error) {
	return view(c, func(r store.Reader) (*api.Forwarding, error) {
		rule, err := c.findForwarding(r, in.ForwardingID)
		return new(c.forwarding(rule)), err
	})
}

func updateForwarding(c *call, in *api.UpdateForwardingRequest) (*api.Forwarding, error) {
	link := c.newLink()
	var letter *Message
	out, err := transact(c, func(tx store.Tx) (*api.Forwarding, error) {
		letter = nil
		rule, err := c.findForwarding(tx, in.ForwardingID)
		if err != nil {
			return nil, err
		}
		if state := rule.VerificationState(c.at); rule.TargetEmail == in.Body.TargetEmail &&
			(state == api.VerificationInternal || state == api.VerificationVerified) {
			return new(c.forwarding(rule)), nil // nothing to verify again
		}
		rule.TargetEmail, rule.UpdatedAt = in.Body.TargetEmail, c.at
		if letter, err = c.beginVerification(tx, &rule, link); err != nil {
			return nil, err
		}
		if err := tx.UpdateForwarding(rule); err != nil {
			return nil, c.forwardingConflict(tx, err, rule)
		}
		if letter == nil {
			return new(c.forwarding(rule)), nil
		}
		if wait := c.resends.spend(rule.AccountID+" "+rule.TargetEmail, c.at); wait > 0 {
			return nil, api.NewError(http.StatusTooManyRequests, api.TypeRateLimited,
				"%s has been sent many messages already, and nothing was changed; try again in %d s", rule.TargetEmail, wait).At("body", "target_email").RetryAfter(wait)
		}
		return new(c.forwarding(rule)), nil
	})
	if err == nil {
		c.deliver(letter)
	}
	return out, err
}

func setForwardingActive(c *call, in *api.SetForwardingActiveRequest) (*api.Forwarding, error) {
	return transact(c, func(tx store.Tx) (*api.Forwarding, error) {
		rule, err := c.findForwarding(tx, in.ForwardingID)
		if err != nil {
			return nil, err
		}
		state := rule.VerificationState(c.at)
		if in.Body.Active && (state == api.VerificationPending || state == api.VerificationExpired) {
			return nil, api.Conflict("the verification of %s is %s; the rule %s becomes active when the recipient confirms", rule.TargetEmail, state, rule.ID)
		}
		rule.Enabled, rule.UpdatedAt = in.Body.Active, c.at
		if err := tx.UpdateForwarding(rule); err != nil {
			return nil, c.forwardingConflict(tx, err, rule)
		}
		return new(c.forwarding(rule)), nil
	})
}

func deleteForwarding(c *call, in *api.ForwardingRequest) (*api.NoContent, error) {
	return transact(c, func(tx store.Tx) (*api.NoContent, error) {
		rule, err := c.findForwarding(tx, in.ForwardingID)
		if err != nil {
			return nil, err
		}
		return &api.NoContent{}, tx.DeleteForwarding(rule.AccountID, rule.ID)
	})
}

// findForwarding returns a rule that the caller may see.
func (c *call) findForwarding(r store.Reader, id string) (store.Forwarding, error) {
	rule, err := r.Forwarding(c.caller.accountID, id)
	if err == nil {
		var ok bool
		if ok, err = c.seesScope(r, c.spec.Capability, rule.Scope); err == nil && !ok {
			err = store.ErrNotFound
		}
	}
	return rule, statusOf(err, "forwarding_id", "forwarding rule")
}

func (c *call) forwarding(rule store.Forwarding) api.Forwarding {
	state := rule.VerificationState(c.at)
	confirmed := state == api.VerificationInternal || state == api.VerificationVerified
	return api.Forwarding{
		ID: rule.ID, Active: rule.Enabled && confirmed, ScopeType: rule.Scope.Type, ScopeID: rule.Scope.ID,
		TargetEmail: rule.TargetEmail, VerificationRequired: !rule.Internal, VerificationState: state,
		VerificationSentAt: optionalTimestamp(rule.SentAt), VerificationExpiresAt: optionalTimestamp(rule.ExpiresAt),
		VerificationVerifiedAt: optionalTimestamp(rule.VerifiedAt),
		CreatedAt:              timestamp(rule.CreatedAt), UpdatedAt: timestamp(rule.UpdatedAt),
	}
}
