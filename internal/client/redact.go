package client

import (
	"encoding/json"
	"errors"
	"html"
	"net/url"
	"strings"
	"unicode"
)

// Bounds of the texts of a message, in characters.
const (
	maxMessage = 1000
	maxExcerpt = 300
)

const redacted = "[redacted]"

// redact takes the call's secrets out of a text, in each of the forms in which
// something that quotes the request would write them.
func (x *exchange) redact(s string) string {
	for _, secret := range x.secrets {
		if secret == "" {
			continue
		}
		inJSON, _ := json.Marshal(secret)
		for _, form := range []string{
			secret, string(inJSON[1 : len(inJSON)-1]), html.EscapeString(secret),
			url.QueryEscape(secret), url.PathEscape(secret),
		} {
			s = strings.ReplaceAll(s, form, redacted)
		}
	}
	return s
}

// message makes a text of an answer fit for a message.
func (x *exchange) message(s string) string { return clean(x.redact(s), maxMessage) }

// plain is the cause of a failed attempt without the URL that net/http puts
// before it, and without secrets.
func (x *exchange) plain(err error) error {
	if wrapped, ok := err.(*url.Error); ok {
		err = wrapped.Err
	}
	if text := err.Error(); x.redact(text) != text {
		return errors.New(x.redact(text))
	}
	return err
}

// clean replaces control characters and runs of white space by one space, and
// cuts what is longer than limit characters.
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
