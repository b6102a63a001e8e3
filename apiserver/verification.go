package apiserver

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

const verificationPath = "/verify-forwarding/"

// verificationLink is the secret of a one-time link. Only its hash is stored.
type verificationLink string

func (s *Service) newLink() verificationLink {
	return verificationLink(base64.RawURLEncoding.EncodeToString(s.randomBytes(32)))
}

func (l verificationLink) hash() []byte {
	sum := sha256.Sum256([]byte(l))
	return sum[:]
}

func (c *call) verificationMessage(rule store.Forwarding, link verificationLink) *Message {
	url := c.publicURL + verificationPath + string(link)
	return &Message{
		To:      rule.TargetEmail,
		Subject: "Confirm that mail may be forwarded to you",
		Text: "Somebody asked to forward mail to " + rule.TargetEmail + ".\n\n" +
			"If you expect this, open the link and confirm before " + rule.ExpiresAt.Format("2 January 2006 15:04 MST") + ":\n\n" + url + "\n\n" +
			"If you do not, ignore this message: nothing will be forwarded.\n",
		Link:   url,
		SentAt: c.at,
	}
}

// verificationPages serves the page that a link opens. Opening it changes
// nothing, for mail scanners open links by themselves; the click on it does.
func (s *Service) verificationPages(mux *http.ServeMux) {
	mux.HandleFunc("GET "+verificationPath+"{link}", func(w http.ResponseWriter, r *http.Request) {
		rule, err := s.ruleOfLink(r)
		s.writePage(w, rule, err)
	})
	mux.HandleFunc("POST "+verificationPath+"{link}", func(w http.ResponseWriter, r *http.Request) {
		var rule store.Forwarding
		err := s.store.Update(r.Context(), func(tx store.Tx) (err error) {
			if rule, err = s.ruleByLink(tx, r); err != nil {
				return err
			}
			if s.linkState(rule) != linkOpen {
				return nil
			}
			rule.VerifiedAt, rule.UpdatedAt = s.now(), s.now()
			return tx.UpdateForwarding(rule)
		})
		s.writePage(w, rule, err)
	})
}

func (s *Service) ruleOfLink(r *http.Request) (rule store.Forwarding, err error) {
	err = s.store.View(r.Context(), func(reader store.Reader) (err error) {
		rule, err = s.ruleByLink(reader, r)
		return err
	})
	return rule, err
}

func (s *Service) ruleByLink(reader store.Reader, r *http.Request) (store.Forwarding, error) {
	return reader.ForwardingByLink(verificationLink(r.PathValue("link")).hash())
}

// linkState is what a link can still do.
type linkState int

const (
	linkOpen linkState = iota
	linkUsed
	linkExpired
	linkUnknown
)

func (s *Service) linkState(rule store.Forwarding) linkState {
	switch rule.VerificationState(s.now()) {
	case api.VerificationPending:
		return linkOpen
	case api.VerificationVerified:
		return linkUsed
	}
	return linkExpired
}

// pages are what the recipient reads in each state.
var pages = map[linkState]struct {
	Status         int
	Title, Message string
}{
	linkOpen:    {http.StatusOK, "Forward mail to you?", "Confirm that mail may be forwarded to this address:"},
	linkUsed:    {http.StatusOK, "Confirmed", "Mail is forwarded to this address from now on:"},
	linkExpired: {http.StatusGone, "This link has expired", "Nothing is forwarded. Ask the sender to start the verification again."},
	linkUnknown: {http.StatusNotFound, "This link is not valid", "It may have been replaced by a newer one, or cut off on its way. Open the link in the newest message."},
}

var pageTemplate = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{{.Title}}</title>
<style>
body { font: 1.125rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 4rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff; }
button { font: inherit; padding: .6rem 1.4rem; color: #fff; background: #0b5cad; border: 0; border-radius: .3rem; cursor: pointer; }
button:focus-visible { outline: 3px solid #f5a623; outline-offset: 2px; }
</style>
</head>
<body>
<main>
<h1>{{.Title}}</h1>
<p>{{.Message}}</p>
{{with .Address}}<p><strong>{{.}}</strong></p>{{end}}
{{if .Ask}}<form method="post"><button type="submit">Confirm</button></form>
<p>If you did not expect this, close this page: nothing will be forwarded.</p>{{end}}
</main>
</body>
</html>
`))

// writePage answers with the page of a link's state.
func (s *Service) writePage(w http.ResponseWriter, rule store.Forwarding, err error) {
	state := s.linkState(rule)
	switch {
	case errors.Is(err, store.ErrNotFound):
		state = linkUnknown
	case err != nil:
		s.log.Error("verification failed", "error", err)
		writeError(w, internalError())
		return
	}
	page := pages[state]
	address := ""
	if state == linkOpen || state == linkUsed {
		address = rule.TargetEmail
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'")
	w.WriteHeader(page.Status)
	_ = pageTemplate.Execute(w, struct {
		Title, Message, Address string
		Ask                     bool
	}{page.Title, page.Message, address, state == linkOpen})
}
