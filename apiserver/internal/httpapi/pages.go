package httpapi

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"regexp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/registrar"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// pageStyle is the style of every page. pageCSP allows no other style.
var (
	//go:embed template/page.css
	pageStyle string
	//go:embed template/page.html
	pageHTML string

	pageCSP = "default-src 'none'; style-src '" + hashSource(pageStyle) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// hashSource returns the hash of an inline style or script for a Content-Security-Policy.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// page is the content of a page. Message and Note surround the address or the domains.
type page struct {
	Title, Message, Address, Note string
	Domains                       []pageDomain
	// Ask adds the button to confirm.
	Ask bool
}

type pageDomain struct{ Name, State string }

var pageTemplate = template.Must(template.New("page").
	Funcs(template.FuncMap{"style": func() template.CSS { return template.CSS(pageStyle) }}). //nolint:gosec // the embedded style
	Parse(pageHTML))

// page serves the page that content returns with its status, and logs an error. No cache may store
// the page (see pipeline.go), and no other site may frame it.
func (h *Handler) page(pattern string, content func(*http.Request) (int, page, error)) {
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		status, p, err := content(r)
		if err != nil {
			status, p = http.StatusInternalServerError, page{Title: "Something went wrong", Message: "Please open this page again in a moment."}
			if r.Context().Err() == nil { // otherwise the client is gone
				h.Rules.Log.Error("page failed", "request_id", requestID(r.Context()), "error", err)
			}
		}
		header := w.Header()
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", pageCSP)
		header.Set("Referrer-Policy", "no-referrer")
		w.WriteHeader(status)
		_ = pageTemplate.Execute(w, p) // fails if the client is gone
	})
}

var oneTimeLink = regexp.MustCompile(`(?is)` + regexp.QuoteMeta(mail.VerificationPath) + `.+`)

// RedactPath implements apiserver.RedactPath.
func RedactPath(path string) string {
	return oneTimeLink.ReplaceAllLiteralString(path, mail.VerificationPath+"[redacted]")
}

// verificationPages serves the page of a verification link. A GET changes nothing, because mail
// scanners open links. The button sends a POST, which requires nothing but the secret link.
func (h *Handler) verificationPages() {
	for method, use := range map[string]func(context.Context, mail.Token) (account.Link, error){
		http.MethodGet: h.Rules.OpenLink, http.MethodPost: h.Rules.ConfirmLink,
	} {
		h.page(method+" "+mail.VerificationPath+"{link}", func(r *http.Request) (int, page, error) {
			link, err := use(r.Context(), mail.Token(r.PathValue("link")))
			if errors.Is(err, store.ErrNotFound) {
				return http.StatusNotFound, page{
					Title: "This link is not valid", Message: "It may have been replaced by a newer one, or cut off on its way.",
					Note: "Open the link in the newest message.",
				}, nil
			}
			status, p := describeLink(link)
			return status, p, err
		})
	}
}

func describeLink(link account.Link) (status int, p page) {
	rule := link.Rule
	switch {
	case link.Confirmed:
		p := page{Title: "Confirmed", Message: "Mail is forwarded to this address from now on:", Address: rule.TargetEmail}
		if !rule.Enabled {
			p.Message = "You have confirmed this address:"
			p.Note = "The forwarding is switched off at present. Mail is forwarded to you once it is switched on."
		}
		return http.StatusOK, p
	case link.State == vocab.VerificationVerified:
		return http.StatusOK, page{
			Title: "Confirmed already", Message: "This link was used on " + mail.FormatTime(rule.VerifiedAt) + " to confirm this address:", Address: rule.TargetEmail,
			Note: "There is nothing more to do.",
		}
	case link.Cancelled:
		return http.StatusGone, page{
			Title: "This link can no longer be used", Message: "The account that wanted to forward mail to you was cancelled.",
			Note: "Nothing is forwarded, and there is nothing more to do.",
		}
	case link.State == vocab.VerificationPending:
		return http.StatusOK, page{
			Title: "Forward mail to you?", Message: "Confirm that mail may be forwarded to this address:", Address: rule.TargetEmail,
			Note: "You can confirm it until " + mail.FormatTime(rule.ExpiresAt) + ".", Ask: true,
		}
	}
	return http.StatusGone, page{
		Title: "This link has expired", Message: "It could be used until " + mail.FormatTime(rule.ExpiresAt) + ".",
		Note: "Nothing is forwarded. Ask whoever wants to forward mail to you to start the verification again.",
	}
}

// paymentPages serves the page of a purchase, for information only: the service takes no money.
func (h *Handler) paymentPages() {
	h.page("GET "+account.PaymentPath+"{batch}", func(r *http.Request) (status int, p page, err error) {
		var bought []registrar.PurchasedDomain
		if batch := r.PathValue("batch"); api.IsID(batch) { // another text can't be a batch id
			bought, err = h.Rules.Purchase(r.Context(), api.CanonicalID(batch))
		}
		status, p = paymentPage(bought)
		return status, p, err
	})
}

func paymentPage(bought []registrar.PurchasedDomain) (status int, p page) {
	if len(bought) == 0 {
		return http.StatusNotFound, page{
			Title: "There is no such purchase", Message: "The address of this page may have been cut off on its way, or the domains were deleted since: a purchase that is not paid for within 7 days ends.",
		}
	}
	p = page{Title: "Nothing to pay", Message: "No domain of this purchase waits for a payment."}
	for _, d := range bought {
		p.Domains = append(p.Domains, pageDomain{d.Name, paymentWords[d.Status]})
		if d.Status == vocab.DomainPendingPayment {
			p.Title, p.Message = "Payment needed", "You can use a domain after you have paid for it."
			p.Note = "This server takes no money itself. Ask its operator how to pay."
		}
	}
	return http.StatusOK, p
}

// paymentWords describes a domain's status to the buyer.
var paymentWords = map[string]string{
	vocab.DomainPendingPayment: "waits for payment",
	vocab.DomainPending:        "is being set up",
	vocab.DomainActive:         "is active",
	vocab.DomainFailed:         "failed",
}
