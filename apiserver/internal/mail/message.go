// Package mail writes and sends the service's e-mail: verification messages for forwarding rules,
// from a queue in the store.
package mail

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	htmltemplate "html/template"
	"slices"
	"strings"
	"sync"
	texttemplate "text/template"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// redacted returns the text of an error without the link, because a mail server may quote the
// message.
func redacted(m email.Message, err error) string {
	if secret := m.Link[strings.LastIndexByte(m.Link, '/')+1:]; secret != "" {
		return strings.ReplaceAll(err.Error(), secret, "[secret]")
	}
	return err.Error()
}

// outboxSize limits the messages in an Outbox.
const outboxSize = 1000

// Outbox stores the newest messages of this process. It is safe for concurrent use.
type Outbox struct {
	mu       sync.Mutex
	messages []email.Message
}

// Add adds messages. It drops the oldest messages if there are too many.
func (o *Outbox) Add(messages ...email.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.messages = append(o.messages, messages...)
	o.messages = slices.Delete(o.messages, 0, max(0, len(o.messages)-outboxSize))
}

// Messages returns the messages, oldest first.
func (o *Outbox) Messages() []email.Message {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.messages)
}

// Clear empties the outbox.
func (o *Outbox) Clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.messages = nil
}

//go:embed template
var templates embed.FS

var (
	verificationText = texttemplate.Must(texttemplate.ParseFS(templates, "template/message.txt"))
	verificationHTML = htmltemplate.Must(htmltemplate.ParseFS(templates, "template/message.html"))
)

const verificationSubject = "Confirm that mail may be forwarded to you"

// VerificationPath precedes the token in a verification link.
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

// Verification returns the verification message of a rule, with a link that contains token.
func Verification(publicURL string, rule store.Forwarding, token Token, at time.Time) email.Message {
	data := struct{ Subject, Address, Until, URL string }{
		verificationSubject, rule.TargetEmail, FormatTime(rule.ExpiresAt), publicURL + VerificationPath + string(token),
	}
	var text, html strings.Builder
	if err := errors.Join(verificationText.Execute(&text, data), verificationHTML.Execute(&html, data)); err != nil {
		panic("apiserver: " + err.Error()) // the templates are wrong
	}
	return email.Message{
		// A part of the stored hash distinguishes the links of a rule without revealing them.
		ID: rule.ID + "." + hex.EncodeToString(token.Hash()[:8]), ForwardingID: rule.ID,
		To: rule.TargetEmail, Subject: data.Subject, Text: text.String(), HTML: html.String(), Link: data.URL, SentAt: at,
	}
}

// FormatTime formats a time for a person, in messages and on pages.
func FormatTime(t time.Time) string { return t.UTC().Format("2 January 2006 at 15:04 UTC") }
