// Package text compares names without case, validates their characters, so that the API, the store
// and the Terraform provider agree, and escapes control characters for a terminal.
//
// It is stateless and imports only golang.org/x/text.
//
// Stability: none. The package is exported for other packages of this repository only.
package text

import (
	"errors"
	"strconv"
	"strings"
	"unicode"

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

// PrintableLines escapes control characters except tabs and line breaks, for texts of several
// lines.
func PrintableLines(s string) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsPrint(c) || c == '\n' || c == '\t' {
			b.WriteRune(c)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
		}
	}
	return b.String()
}
