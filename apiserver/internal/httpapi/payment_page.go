package httpapi

import (
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// paymentPage is the content of the payment page: the domains are between the message
// and the note.
type paymentPage struct {
	Title, Message, Note string
	Domains              []paymentRow
}

type paymentRow struct{ Name, State string }

var paymentTemplate = newPage("payment.html")

// paymentPages serves the page of a purchase. It is only informative, because the
// service takes no money.
func (h *Handler) paymentPages(mux *http.ServeMux) {
	mux.HandleFunc("GET "+account.PaymentPath+"{batch}", func(w http.ResponseWriter, r *http.Request) {
		status, page := h.paymentPage(r)
		h.writePage(w, r, status, paymentTemplate, page)
	})
}

func (h *Handler) paymentPage(r *http.Request) (status int, page paymentPage) {
	var bought []account.PurchasedDomain
	var err error
	if batch := r.PathValue("batch"); api.IsID(batch) { // anything else is no purchase
		bought, err = h.rules.Purchase(r.Context(), api.CanonicalID(batch))
	}
	switch {
	case err != nil:
		h.pageFailed(r, err)
		return http.StatusInternalServerError, paymentPage{Title: "Something went wrong", Message: "Please open this page again in a moment."}
	case len(bought) == 0:
		return http.StatusNotFound, paymentPage{
			Title: "There is no such purchase", Message: "The address of this page may have been cut off on its way, or the domains were deleted since: a purchase that is not paid for within 7 days ends.",
		}
	}
	page = paymentPage{Title: "Nothing to pay", Message: "No domain of this purchase waits for a payment."}
	for _, d := range bought {
		page.Domains = append(page.Domains, paymentRow{d.Name, paymentWords[d.Status]})
		if d.Status == vocab.DomainPendingPayment {
			page.Title, page.Message = "Payment needed", "What waits for a payment becomes yours to use once it is paid."
			page.Note = "This server takes no money itself. Whoever runs it tells you how to pay."
		}
	}
	return http.StatusOK, page
}

// paymentWords describes a domain's status to the buyer.
var paymentWords = map[string]string{
	vocab.DomainPendingPayment: "waits for payment",
	vocab.DomainPending:        "is being set up",
	vocab.DomainActive:         "is active",
	vocab.DomainFailed:         "failed",
}
