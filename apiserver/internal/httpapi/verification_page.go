package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// verificationPages serves the page of a verification link. A GET changes nothing,
// because mail scanners open links by themselves; the button on the page sends a POST.
// The POST needs no proof that it came from the page: a site that can send one knows the
// link, and could read the page too.
func (h *Handler) verificationPages(mux *http.ServeMux) {
	for method, use := range map[string]func(context.Context, mail.Token) (account.Link, error){
		http.MethodGet: h.rules.OpenLink, http.MethodPost: h.rules.ConfirmLink,
	} {
		mux.HandleFunc(method+" "+mail.VerificationPath+"{link}", func(w http.ResponseWriter, r *http.Request) {
			link, err := use(r.Context(), mail.Token(r.PathValue("link")))
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				h.pageFailed(r, err)
			}
			status, page := describeLink(link, err)
			h.writePage(w, r, status, verificationTemplate, page)
		})
	}
}

// verificationPage is the content of the page: the address is between the message and
// the note.
type verificationPage struct {
	Title, Message, Address, Note string
	// Ask reports that there is something to confirm.
	Ask bool
}

var verificationTemplate = newPage("verification.html")

// describeLink returns the status code and the page for the result of OpenLink or
// ConfirmLink.
func describeLink(link account.Link, err error) (status int, page verificationPage) {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound, verificationPage{
			Title: "This link is not valid", Message: "It may have been replaced by a newer one, or cut off on its way.",
			Note: "Open the link in the newest message.",
		}
	case err != nil:
		return http.StatusInternalServerError, verificationPage{Title: "Something went wrong", Message: "Please open the link again in a moment."}
	}
	rule := link.Rule
	switch {
	case link.Confirmed:
		page := verificationPage{Title: "Confirmed", Message: "Mail is forwarded to this address from now on:", Address: rule.TargetEmail}
		if !rule.Enabled {
			page.Message = "You have confirmed this address:"
			page.Note = "The forwarding is switched off at present. Mail is forwarded to you once it is switched on."
		}
		return http.StatusOK, page
	case link.State == vocab.VerificationVerified:
		return http.StatusOK, verificationPage{
			Title: "Confirmed already", Message: "This link was used on " + mail.FormatTime(rule.VerifiedAt) + " to confirm this address:", Address: rule.TargetEmail,
			Note: "There is nothing more to do.",
		}
	case link.Cancelled:
		return http.StatusGone, verificationPage{
			Title: "This link can no longer be used", Message: "The account that wanted to forward mail to you was cancelled.",
			Note: "Nothing is forwarded, and there is nothing more to do.",
		}
	case link.State == vocab.VerificationPending:
		return http.StatusOK, verificationPage{
			Title: "Forward mail to you?", Message: "Confirm that mail may be forwarded to this address:", Address: rule.TargetEmail,
			Note: "You can confirm it until " + mail.FormatTime(rule.ExpiresAt) + ".", Ask: true,
		}
	}
	return http.StatusGone, verificationPage{
		Title: "This link has expired", Message: "It could be used until " + mail.FormatTime(rule.ExpiresAt) + ".",
		Note: "Nothing is forwarded. Ask whoever wants to forward mail to you to start the verification again.",
	}
}
