package mail

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	htmltemplate "html/template"
	"strings"
	texttemplate "text/template"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
)

//go:embed template
var templates embed.FS

var (
	verificationText = texttemplate.Must(texttemplate.ParseFS(templates, "template/message.txt"))
	verificationHTML = htmltemplate.Must(htmltemplate.ParseFS(templates, "template/message.html"))
)

const verificationSubject = "Confirm that mail may be forwarded to you"

// VerificationPath is the path before the token of a verification link.
const VerificationPath = "/verify-forwarding/"

// Token is the secret of a verification link. Only its hash is stored.
type Token string

// NewToken returns a new token of 256 bits.
func NewToken(source *random.Source) Token {
	return Token(base64.RawURLEncoding.EncodeToString(source.Bytes(32)))
}

// Hash returns the SHA-256 of the token.
func (t Token) Hash() []byte {
	sum := sha256.Sum256([]byte(t))
	return sum[:]
}

// Verification returns the verification message of a rule with a token that was
// created for it.
func Verification(publicURL string, rule store.Forwarding, token Token, at time.Time) email.Message {
	data := struct{ Subject, Address, Until, URL string }{
		verificationSubject, rule.TargetEmail, FormatTime(rule.ExpiresAt), publicURL + VerificationPath + string(token),
	}
	var text, html strings.Builder
	if err := errors.Join(verificationText.Execute(&text, data), verificationHTML.Execute(&html, data)); err != nil {
		panic("apiserver: " + err.Error()) // a mistake in the templates
	}
	return email.Message{
		// A part of the stored hash distinguishes the links of a rule and reveals
		// neither.
		ID: rule.ID + "." + hex.EncodeToString(token.Hash()[:8]), ForwardingID: rule.ID,
		To: rule.TargetEmail, Subject: data.Subject, Text: text.String(), HTML: html.String(), Link: data.URL, SentAt: at,
	}
}

// FormatTime formats a time for a person, in messages and on pages.
func FormatTime(t time.Time) string { return t.UTC().Format("2 January 2006 at 15:04 UTC") }
