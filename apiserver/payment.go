package apiserver

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// paymentPath is the path before a purchase's batch id. The id is random, and is all
// that is needed to see the names that were bought with it.
const paymentPath = "/pay/"

// paymentPage is what the buyer reads: the domains are between the message and
// the note.
type paymentPage struct {
	Title, Message, Note string
	Domains              []paymentRow
}

type paymentRow struct{ Name, State string }

var paymentTemplate = newPage("payment.html")

// paymentPages serves the page of a purchase. The service takes no money, so
// that there is nothing to do on it.
func (s *Service) paymentPages(mux *http.ServeMux) {
	mux.HandleFunc("GET "+paymentPath+"{batch}", func(w http.ResponseWriter, r *http.Request) {
		status, page := s.paymentPage(r)
		s.writePage(w, r, status, paymentTemplate, page)
	})
}

func (s *Service) paymentPage(r *http.Request) (status int, page paymentPage) {
	bought, err := s.boughtWith(r)
	switch {
	case err != nil:
		s.pageFailed(r, err)
		return http.StatusInternalServerError, paymentPage{Title: "Something went wrong", Message: "Please open this page again in a moment."}
	case len(bought) == 0:
		return http.StatusNotFound, paymentPage{
			Title: "There is no such purchase", Message: "The address of this page may have been cut off on its way, or the domains were deleted since: a purchase that is not paid for within 7 days ends.",
		}
	}
	page = paymentPage{Title: "Nothing to pay", Message: "No domain of this purchase waits for a payment."}
	for _, d := range bought {
		state := d.State.At(s.now())
		page.Domains = append(page.Domains, paymentRow{d.Name, paymentWords[state]})
		if state == vocab.DomainPendingPayment {
			page.Title, page.Message = "Payment needed", "What waits for a payment becomes yours to use once it is paid."
			page.Note = "This server takes no money itself. Whoever runs it tells you how to pay."
		}
	}
	return http.StatusOK, page
}

// paymentWords say what a domain's status means to the buyer.
var paymentWords = map[string]string{
	vocab.DomainPendingPayment: "waits for payment",
	vocab.DomainPending:        "is being set up",
	vocab.DomainActive:         "is active",
	vocab.DomainFailed:         "failed",
}

// boughtWith returns the domains of a request's batch.
func (s *Service) boughtWith(r *http.Request) (bought []store.Domain, err error) {
	batch, err := uuid.Parse(r.PathValue("batch"))
	if err != nil {
		return nil, nil //nolint:nilerr // what names no batch has no domains
	}
	err = s.store.View(r.Context(), func(reader store.Reader) (err error) {
		reader.HideUnpaid(lastUnpaid(s.now()))
		bought, err = reader.DomainsOfPurchase(batch.String())
		return err
	})
	return bought, err
}
