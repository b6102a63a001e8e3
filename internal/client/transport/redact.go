package transport

import (
	"encoding/json"
	"errors"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// Limits of the texts in an error, in characters.
const (
	maxMessage = 1000
	maxExcerpt = 300
)

const redacted = "[redacted]"

// secrets are the values that no message of a call may have: the token, the
// Idempotency-Key and secret values of the body.
type secrets []string

func (s *secrets) add(values ...string) {
	for _, v := range values {
		if v != "" && !slices.Contains(*s, v) {
			*s = append(*s, v)
		}
	}
}

// redact removes the secrets from a text, in each encoding that a quote of the
// request may have.
func (s secrets) redact(text string) string {
	for _, secret := range s {
		inJSON, _ := json.Marshal(secret)
		for _, form := range []string{
			secret, string(inJSON[1 : len(inJSON)-1]), html.EscapeString(secret),
			url.QueryEscape(secret), url.PathEscape(secret),
		} {
			text = strings.ReplaceAll(text, form, redacted)
		}
	}
	return text
}

// redactError returns err, or its redacted text if that has a secret.
func (s secrets) redactError(err error) error {
	if text := err.Error(); s.redact(text) != text {
		return errors.New(s.redact(text))
	}
	return err
}

// Clean prepares a text of a response for an error: it replaces control
// characters and white space by single spaces, and cuts what is too long.
func Clean(s string) string { return clean(s, maxMessage) }

func clean(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar
	}), " ")
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
