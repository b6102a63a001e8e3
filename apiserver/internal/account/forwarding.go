package account

import (
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// forwardingOperations binds the operations on forwarding rules to their rules.
// forwarding_verification.go verifies the recipients.
var forwardingOperations = []Operation{
	change(api.CreateForwarding, createForwarding),
	read(api.ListForwarding, listForwarding),
	read(api.GetForwarding, getForwarding),
	change(api.UpdateForwarding, updateForwarding),
	change(api.SetForwardingActive, setForwardingActive),
	remove(api.DeleteForwarding, deleteForwarding),
}

func createForwarding(c *Call, tx store.Tx, in *api.CreateForwardingRequest) (*api.Forwarding, error) {
	scope, err := c.scopeInBody(tx, in.Body.Domain, in.Body.WorkspaceID)
	if err != nil {
		return nil, err
	}
	rule := store.Forwarding{
		ID: c.Rules.Random.ID(), AccountID: c.Caller.AccountID, Scope: scope, TargetEmail: in.Body.TargetEmail, Enabled: true, CreatedAt: c.Arrival,
	}
	link := c.Rules.newLink()
	if err := c.beginVerification(tx, &rule, link); err != nil {
		return nil, err
	}
	if err := tx.Create(&rule); err != nil {
		return nil, c.forwardingConflict(tx, err, rule)
	}
	return new(c.forwarding(rule)), c.requestMessage(tx, rule, link)
}

// forwardingConflict converts the error for a second rule with the scope and target to a conflict.
func (c *Call) forwardingConflict(r store.Reader, err error, rule store.Forwarding) error {
	return c.ifExists(r, err, vocab.CapForwardingView, rule.Scope, " by the rule ",
		"mail of this %s is forwarded to %s already", rule.Scope.Type, rule.TargetEmail)
}

func listForwarding(c *Call, r store.Reader, in *api.ListForwardingRequest) (*api.Page[api.Forwarding], error) {
	filter, err := c.scopedFilter(r, in.Domain, in.WorkspaceID, in.ScopeType, in.Search)
	if err != nil {
		return nil, err
	}
	return page(c, in.Paged, c.forwarding, r.ForwardingRules, store.ForwardingFilter{ScopedFilter: filter, VerificationState: in.VerificationState, Now: c.Arrival})
}

func getForwarding(c *Call, r store.Reader, in *api.ForwardingRequest) (*api.Forwarding, error) {
	rule, err := c.findForwarding(r, in.ForwardingID)
	return new(c.forwarding(rule)), err
}

// updateForwarding sets the target of a rule. A new target restarts the verification; the same
// target of a pending or expired rule gets a new link.
func updateForwarding(c *Call, tx store.Tx, in *api.UpdateForwardingRequest) (*api.Forwarding, error) {
	link, started := c.Rules.newLink(), false
	rule, err := store.Update(tx, c.Caller.AccountID, in.ForwardingID, func(rule *store.Forwarding) error {
		if err := c.ifScopeVisible(tx, nil, rule.Scope); err != nil {
			return err
		}
		if started = rule.TargetEmail != in.Body.TargetEmail || !isConfirmed(rule.VerificationState(c.Arrival)); !started {
			return nil
		}
		rule.TargetEmail, rule.UpdatedAt = in.Body.TargetEmail, c.Arrival
		return c.beginVerification(tx, rule, link)
	})
	if err == nil && started {
		err = c.requestMessage(tx, rule, link)
	}
	return new(c.forwarding(rule)), c.forwardingConflict(tx, err, rule)
}

// setForwardingActive enables or disables a rule. Only a verified rule can be enabled.
func setForwardingActive(c *Call, tx store.Tx, in *api.SetForwardingActiveRequest) (*api.Forwarding, error) {
	rule, err := store.Update(tx, c.Caller.AccountID, in.ForwardingID, func(rule *store.Forwarding) error {
		if err := c.ifScopeVisible(tx, nil, rule.Scope); err != nil {
			return err
		}
		if state := rule.VerificationState(c.Arrival); in.Body.Active && !isConfirmed(state) {
			if rule.SentAt.IsZero() {
				return api.Conflict("%s was deleted, and may belong to somebody else now; set target_email again to send its recipient a verification message for the rule %s", rule.TargetEmail, rule.ID)
			}
			return api.Conflict("the verification of %s is %s; the rule %s becomes active when the recipient confirms", rule.TargetEmail, state, rule.ID)
		}
		rule.Enabled, rule.UpdatedAt = in.Body.Active, c.Arrival
		return nil
	})
	return new(c.forwarding(rule)), err
}

func deleteForwarding(c *Call, tx store.Tx, in *api.ForwardingRequest) error {
	rule, err := c.findForwarding(tx, in.ForwardingID)
	if err != nil {
		return err
	}
	return store.Delete[store.Forwarding](tx, rule.AccountID, rule.ID, c.Arrival)
}

func (c *Call) findForwarding(r store.Reader, id string) (store.Forwarding, error) {
	rule, err := store.Get[store.Forwarding](r, c.Caller.AccountID, id)
	return rule, c.ifScopeVisible(r, err, rule.Scope)
}

// isConfirmed reports whether a verification state allows forwarding.
func isConfirmed(state string) bool {
	return state == vocab.VerificationInternal || state == vocab.VerificationVerified
}

func (c *Call) forwarding(rule store.Forwarding) api.Forwarding {
	state := rule.VerificationState(c.Arrival)
	return api.Forwarding{
		ID: rule.ID, Active: rule.Enabled && isConfirmed(state), ScopeType: rule.Scope.Type, ScopeID: rule.Scope.ID,
		TargetEmail: rule.TargetEmail, VerificationRequired: !rule.Internal, VerificationState: state,
		VerificationSentAt: optionalTimestamp(rule.SentAt), VerificationExpiresAt: optionalTimestamp(rule.ExpiresAt),
		VerificationVerifiedAt: optionalTimestamp(rule.VerifiedAt),
		CreatedAt:              timestamp(rule.CreatedAt), UpdatedAt: timestamp(rule.UpdatedAt),
	}
}
