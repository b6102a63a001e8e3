package account

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func (rules *Rules) newToken() mail.Token { return mail.NewToken(rules.random) }

// composeVerification writes the verification message of a queued rule, with a new link.
// Nobody waits for it any more if the rule was verified, became internal or has expired
// meanwhile, or if its account is cancelled.
func (rules *Rules) composeVerification(tx store.Tx, queued store.QueuedMessage) (*mail.Message, error) {
	rule, err := tx.Forwarding(queued.AccountID, queued.ForwardingID)
	if err != nil {
		return nil, err
	}
	state, err := rules.linkState(tx, rule)
	if err != nil || state != LinkOpen || rule.SentAt.IsZero() {
		return nil, err
	}
	token := rules.newToken()
	if err := tx.SetForwardingLink(rule.AccountID, rule.ID, token.Hash()); err != nil {
		return nil, err
	}
	return new(mail.Verification(rules.publicURL, rule, token, rules.now())), nil
}

// OpenLink returns the rule of a verification link and the state of the link. The error
// is store.ErrNotFound if there is none.
func (rules *Rules) OpenLink(ctx context.Context, token mail.Token) (rule store.Forwarding, state LinkState, err error) {
	err = rules.store.View(ctx, func(r store.Reader) (err error) {
		if rule, err = r.ForwardingByLink(token.Hash()); err != nil {
			return err
		}
		state, err = rules.linkState(r, rule)
		return err
	})
	return rule, state, err
}

// ConfirmLink is like OpenLink, and verifies the rule if the link is open.
func (rules *Rules) ConfirmLink(ctx context.Context, token mail.Token) (rule store.Forwarding, state LinkState, err error) {
	err = rules.store.Update(ctx, func(tx store.Tx) (err error) {
		if rule, err = tx.ForwardingByLink(token.Hash()); err != nil {
			return err
		}
		if state, err = rules.linkState(tx, rule); err != nil || state != LinkOpen {
			return err
		}
		state = LinkConfirmed
		audit.Attribute(tx, audit.Recipient(rule.TargetEmail), audit.ConfirmForwarding, "verification_state")
		rule, err = tx.UpdateForwarding(rule.AccountID, rule.ID, func(f *store.Forwarding) error {
			f.VerifiedAt = rules.now()
			f.UpdatedAt = f.VerifiedAt
			return nil
		})
		return err
	})
	return rule, state, err
}

// LinkState is the state of a verification link.
type LinkState int

// The states of a verification link.
const (
	LinkOpen      LinkState = iota
	LinkConfirmed           // just now
	LinkUsed                // earlier
	LinkExpired
	LinkCancelled // its account is cancelled
)

func (rules *Rules) linkState(reader store.Reader, rule store.Forwarding) (LinkState, error) {
	now := rules.now()
	state := rule.VerificationState(now)
	if state == vocab.VerificationVerified {
		return LinkUsed, nil
	}
	account, err := reader.Account(rule.AccountID)
	switch {
	case err != nil:
		return LinkOpen, err
	case account.StatusAt(now) == vocab.AccountCancelled: // it can't be changed any more
		return LinkCancelled, nil
	case state == vocab.VerificationPending:
		return LinkOpen, nil
	}
	return LinkExpired, nil
}
