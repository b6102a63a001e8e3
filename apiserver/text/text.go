// Package text compares names without case, validates their characters, so that the API, the store
// and the Terraform provider agree, and escapes control characters for a terminal.
//
// It is stateless and imports only golang.org/x/text.
//
// Stability: none. The package is exported for other packages of this repository only.
package text

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the form in which names are compared and searched, regardless of case and
// composition (Unicode, section 3.13, canonical caseless matching; in NFC). It is idempotent.
func Fold(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) {
		return strings.ToLower(s)
	}
	return norm.NFC.String(strings.Map(foldCherokee, cases.Fold().String(norm.NFD.String(s))))
}

// foldCherokee corrects package cases, which swaps the case of some Cherokee letters.
func foldCherokee(r rune) rune {
	if unicode.Is(unicode.Cherokee, r) {
		return unicode.ToUpper(r)
	}
	return r
}

// invisible lists characters without a width.
var invisible = []*unicode.RangeTable{
	unicode.Mn, unicode.Me, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
}

// CheckName returns an error if a name contains a control character (C0, DEL or C1) or a
// bidirectional control, or if it is not empty but contains no visible character.
func CheckName(s string) error {
	visible := s == ""
	for _, r := range s {
		switch {
		case unicode.IsControl(r):
			return errors.New("must not contain a control character such as a line break or a tab")
		case unicode.Is(unicode.Bidi_Control, r):
			return errors.New("must not contain a control character of bidirectional text")
		case !unicode.In(r, invisible...):
			visible = true
		}
	}
	if !visible {
		return errors.New("must have at least one visible character")
	}
	return nil
}

// IsUnsafe reports whether a character can change a terminal, or the place or order in which other characters
// are shown: a control character (C0, DEL or C1), a bidirectional control, or a separator of lines or paragraphs.
// Tabs and line breaks are unsafe too, where a text must stay in its cell.
func IsUnsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// PrintableLines escapes unsafe characters except tabs and line breaks, for texts of several lines.
func PrintableLines(s string) string {
	b, rest := AppendPrintable(nil, []byte(s))
	return string(AppendRest(b, rest))
}

// PrintableLine escapes all unsafe characters, also tabs and line breaks, for a text of one line.
func PrintableLine(s string) string {
	return strings.NewReplacer("\t", `\u0009`, "\n", `\u000a`, "\r", `\u000d`).Replace(PrintableLines(s))
}

// AppendPrintable appends a text to b. It writes unsafe characters except tabs and line breaks in the form \u202e,
// which in JSON is the same value, and U+FFFD for a byte that is not UTF-8. It returns the end of the text that may be
// the beginning of a character or of a line break.
func AppendPrintable(b, text []byte) (appended, rest []byte) {
	for len(text) > 0 && utf8.FullRune(text) {
		if n := bytes.IndexFunc(text, func(r rune) bool { return (r < ' ' || r > '~') && r != '\n' && r != '\t' }); n != 0 { // most text
			if n < 0 {
				n = len(text)
			}
			b, text = append(b, text[:n]...), text[n:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\r' && len(text) == 1:
			return b, text
		case r == '\r' && text[1] == '\n', r == '\n', r == '\t', !IsUnsafe(r):
			b = utf8.AppendRune(b, r)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		text = text[size:]
	}
	return b, text
}

// AppendRest appends the rest of a text that ends.
func AppendRest(b, rest []byte) []byte {
	for _, c := range rest {
		if c == '\r' {
			b = append(b, `\u000d`...)
		} else {
			b = utf8.AppendRune(b, utf8.RuneError)
		}
	}
	return b
}
