// Package text compares names as people do, and says which characters a name may
// have, so that the API's contract, the store and the Terraform provider agree.
//
// It is pure, and imports only golang.org/x/text.
package text

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the form in which names compare and are searched: two texts that
// differ only in case or in how their characters are composed have the same form
// (Unicode, section 3.13, canonical caseless matching; the result is in NFC). Fold
// is idempotent.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return norm.NFC.String(strings.Map(foldCherokee, cases.Fold().String(norm.NFD.String(s))))
}

// foldCherokee brings Cherokee to upper case, as Unicode folds it (CaseFolding.txt).
// Package cases exchanges the cases of some of its letters instead.
func foldCherokee(r rune) rune {
	if unicode.Is(unicode.Cherokee, r) {
		return unicode.ToUpper(r)
	}
	return r
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// invisible are characters that take no room of their own: those with the property
// Default_Ignorable_Code_Point, and combining marks.
var invisible = []*unicode.RangeTable{
	unicode.Mn, unicode.Me, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
}

// CheckName returns an error if a name holds a control character (C0, DEL or C1) or a
// bidirectional control, or has only characters that take no room. An empty name is
// left to the rules of length.
func CheckName(s string) error {
	visible := s == ""
	for _, r := range s {
		switch {
		case unicode.IsControl(r):
			return errors.New("must not hold a control character such as a line break or a tab")
		case unicode.Is(unicode.Bidi_Control, r):
			return errors.New("must not hold a control character of bidirectional text")
		case !unicode.In(r, invisible...):
			visible = true
		}
	}
	if !visible {
		return errors.New("must have at least one visible character")
	}
	return nil
}
