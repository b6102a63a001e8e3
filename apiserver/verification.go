package apiserver

import (
	"errors"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func (s *Service) newToken() mail.Token { return mail.NewToken(s.random) }

// composeVerification writes the verification message of a queued rule, with a new link.
// Nobody waits for it any more if the rule was verified, became internal or has expired
// meanwhile, or if its account is cancelled.
func (s *Service) composeVerification(tx store.Tx, queued store.QueuedMessage) (*Message, error) {
	rule, err := tx.Forwarding(queued.AccountID, queued.ForwardingID)
	if err != nil {
		return nil, err
	}
	state, err := s.linkState(tx, rule)
	if err != nil || state != linkOpen || rule.SentAt.IsZero() {
		return nil, err
	}
	token := s.newToken()
	if err := tx.SetForwardingLink(rule.AccountID, rule.ID, token.Hash()); err != nil {
		return nil, err
	}
	return new(mail.Verification(s.publicURL, rule, token, s.now())), nil
}

// verificationPages serves the page that a link opens. Opening it changes
// nothing, for mail scanners open links by themselves; the click on it does.
// The click needs no proof that it was made on the page: another site that
// could make it knows the link, and with that it could ask for the page too.
func (s *Service) verificationPages(mux *http.ServeMux) {
	mux.HandleFunc("GET "+mail.VerificationPath+"{link}", func(w http.ResponseWriter, r *http.Request) {
		rule, state, err := s.openLink(r)
		s.writeVerificationPage(w, r, rule, state, err)
	})
	mux.HandleFunc("POST "+mail.VerificationPath+"{link}", func(w http.ResponseWriter, r *http.Request) {
		rule, state, err := s.confirmLink(r)
		s.writeVerificationPage(w, r, rule, state, err)
	})
}

// openLink returns the rule of a request's link and what the link can do.
func (s *Service) openLink(r *http.Request) (rule store.Forwarding, state linkState, err error) {
	err = s.store.View(r.Context(), func(reader store.Reader) (err error) {
		if rule, err = ruleByLink(reader, r); err != nil {
			return err
		}
		state, err = s.linkState(reader, rule)
		return err
	})
	return rule, state, err
}

// confirmLink verifies the rule of a request's link, if the link can do that.
func (s *Service) confirmLink(r *http.Request) (rule store.Forwarding, state linkState, err error) {
	err = s.store.Update(r.Context(), func(tx store.Tx) (err error) {
		if rule, err = ruleByLink(tx, r); err != nil {
			return err
		}
		if state, err = s.linkState(tx, rule); err != nil || state != linkOpen {
			return err
		}
		state = linkConfirmed
		audit.Attribute(tx, audit.Recipient(rule.TargetEmail), audit.ConfirmForwarding, "verification_state")
		rule, err = tx.UpdateForwarding(rule.AccountID, rule.ID, func(f *store.Forwarding) error {
			f.VerifiedAt = s.now()
			f.UpdatedAt = f.VerifiedAt
			return nil
		})
		return err
	})
	return rule, state, err
}

func ruleByLink(reader store.Reader, r *http.Request) (store.Forwarding, error) {
	return reader.ForwardingByLink(mail.Token(r.PathValue("link")).Hash())
}

// linkState is what a link can do or has just done.
type linkState int

const (
	linkOpen linkState = iota
	linkConfirmed
	linkUsed
	linkExpired
	linkCancelled
	linkUnknown
	linkFailed
)

func (s *Service) linkState(reader store.Reader, rule store.Forwarding) (linkState, error) {
	now := s.now()
	state := rule.VerificationState(now)
	if state == vocab.VerificationVerified {
		return linkUsed, nil
	}
	account, err := reader.Account(rule.AccountID)
	switch {
	case err != nil:
		return linkFailed, err
	case account.StatusAt(now) == vocab.AccountCancelled: // it can't be changed any more
		return linkCancelled, nil
	case state == vocab.VerificationPending:
		return linkOpen, nil
	}
	return linkExpired, nil
}

// verificationPage is what the recipient reads: the address is between the
// message and the note.
type verificationPage struct {
	Title, Message, Address, Note string
	// Ask says that there is something to confirm.
	Ask bool
}

var verificationTemplate = newPage("verification.html")

func (s *Service) writeVerificationPage(w http.ResponseWriter, r *http.Request, rule store.Forwarding, state linkState, err error) {
	switch {
	case errors.Is(err, store.ErrNotFound):
		state = linkUnknown
	case err != nil:
		s.pageFailed(r, err)
		state = linkFailed
	}
	status, page := tellLink(rule, state)
	s.writePage(w, r, status, verificationTemplate, page)
}

// tellLink puts the state of a link into words, and into an HTTP status.
func tellLink(rule store.Forwarding, state linkState) (status int, page verificationPage) {
	switch state {
	case linkOpen:
		return http.StatusOK, verificationPage{
			Title: "Forward mail to you?", Message: "Confirm that mail may be forwarded to this address:", Address: rule.TargetEmail,
			Note: "You can confirm it until " + mail.FormatTime(rule.ExpiresAt) + ".", Ask: true,
		}
	case linkConfirmed:
		page := verificationPage{Title: "Confirmed", Message: "Mail is forwarded to this address from now on:", Address: rule.TargetEmail}
		if !rule.Enabled {
			page.Message = "You have confirmed this address:"
			page.Note = "The forwarding is switched off at present. Mail is forwarded to you once it is switched on."
		}
		return http.StatusOK, page
	case linkUsed:
		return http.StatusOK, verificationPage{
			Title: "Confirmed already", Message: "This link was used on " + mail.FormatTime(rule.VerifiedAt) + " to confirm this address:", Address: rule.TargetEmail,
			Note: "There is nothing more to do.",
		}
	case linkExpired:
		return http.StatusGone, verificationPage{
			Title: "This link has expired", Message: "It could be used until " + mail.FormatTime(rule.ExpiresAt) + ".",
			Note: "Nothing is forwarded. Ask whoever wants to forward mail to you to start the verification again.",
		}
	case linkCancelled:
		return http.StatusGone, verificationPage{
			Title: "This link can no longer be used", Message: "The account that wanted to forward mail to you was cancelled.",
			Note: "Nothing is forwarded, and there is nothing more to do.",
		}
	case linkUnknown:
		return http.StatusNotFound, verificationPage{
			Title: "This link is not valid", Message: "It may have been replaced by a newer one, or cut off on its way.",
			Note: "Open the link in the newest message.",
		}
	}
	return http.StatusInternalServerError, verificationPage{Title: "Something went wrong", Message: "Please open the link again in a moment."}
}
