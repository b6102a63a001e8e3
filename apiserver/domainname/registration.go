package domainname

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

var (
	// ErrUnsupportedTLD is for a name whose public suffix has no ICANN registry, so
	// that nobody sells names below it: an unknown or special-use top-level domain, or
	// a private suffix such as github.io.
	ErrUnsupportedTLD = errors.New("unsupported top-level domain")

	// ErrNotRegistrable is for a name that is not directly below a public suffix: the
	// suffix itself, such as co.uk, or a name below a registrable one, such as
	// www.example.com.
	ErrNotRegistrable = errors.New("not a registrable name")
)

// Registrable returns nil if a registrar could sell the name, in any spelling that
// Normalize accepts: exactly one label below a public suffix in the ICANN section of
// the Public Suffix List, and valid for checkRegistration.
//
// Otherwise it returns the error of Normalize or checkRegistration, or one that wraps
// ErrUnsupportedTLD or ErrNotRegistrable.
func Registrable(name string) error {
	name, err := Normalize(name)
	if err == nil {
		err = checkRegistration(name)
	}
	if err != nil {
		return err
	}
	suffix, icann := publicsuffix.PublicSuffix(name)
	if strings.Contains(suffix, ".") {
		// The flag belongs to the deepest node on the path, which may be below the
		// suffix: noc.ruhr-uni-bochum.de has a private suffix, but is reported as
		// ICANN's. A lookup of the suffix itself returns its own flag. A suffix of one
		// label is never private.
		_, icann = publicsuffix.PublicSuffix(suffix)
	}
	switch {
	case specialUse(name):
		return fmt.Errorf("%w: names under it are not sold", ErrUnsupportedTLD)
	case name == suffix:
		return fmt.Errorf("%w: %s is a public suffix; expected a name directly below it", ErrNotRegistrable, shorten(name))
	case !icann:
		return fmt.Errorf("%w: names under %s are not sold", ErrUnsupportedTLD, shorten(suffix))
	}
	parent := strings.TrimSuffix(name, "."+suffix)
	if dot := strings.LastIndexByte(parent, '.'); dot >= 0 {
		return fmt.Errorf("%w: it lies below %s; expected that name", ErrNotRegistrable, shorten(name[dot+1:]))
	}
	return nil
}

// specialUse reports whether a name is below a reserved top-level domain that the list
// has in its ICANN section (RFC 3172, RFC 7686).
func specialUse(name string) bool {
	return strings.HasSuffix(name, ".arpa") || strings.HasSuffix(name, ".onion")
}

// checkRegistration validates a canonical name by the rules for registration, which are
// stricter than the rules for lookup. Each label has only
// characters that IDNA 2008 permits (RFC 5892), in the contexts that it permits, no
// hyphens in third and fourth place (RFC 5891, section 4.2.3.1), and letters of one
// script, which do not all look like Latin ones below a Latin top-level domain.
//
// Common and inherited characters, such as digits, belong to every script. Han may be
// mixed with Hiragana and Katakana, with Hangul, and with Bopomofo, each of which is
// one writing system (UTS #39, section 5.1). Labels may differ in their script.
func checkRegistration(name string) error {
	labels := strings.Split(name, ".")
	latin := !strings.HasPrefix(labels[len(labels)-1], "xn--")
	for _, ascii := range labels {
		if err := checkRegistered([]rune(toUnicode(ascii)), latin); err != nil {
			return err
		}
	}
	return nil
}

// checkRegistered validates a label. latin: the top-level domain is Latin.
func checkRegistered(label []rune, latin bool) error {
	shown := shorten(string(label))
	if len(label) > 3 && label[2] == '-' && label[3] == '-' {
		return fmt.Errorf("label %s must not have hyphens in third and fourth place", shown)
	}
	if isASCII(string(label)) {
		return nil // Normalize has checked letters, digits and hyphens
	}
	if !norm.NFC.IsNormalString(string(label)) {
		return fmt.Errorf("label %s must be in Unicode's normal form C", shown)
	}
	for i, r := range label {
		if !permitted(r) && !inContext(label, i) {
			return fmt.Errorf("label %s must not contain %U; a domain name has letters, digits and hyphens (IDNA 2008)", shown, r)
		}
	}
	if mixesScripts(label) {
		return fmt.Errorf("label %s must not mix scripts", shown)
	}
	if latin && looksLatin(label) {
		return fmt.Errorf("label %s must not consist only of letters that look like Latin ones", shown)
	}
	return nil
}

// exceptions are the characters whose property does not follow from Unicode's data (RFC
// 5892, section 2.6); true is PVALID. inContext has the characters that depend on the context.
var exceptions = map[rune]bool{
	0x00df: true, 0x03c2: true, 0x06fd: true, 0x06fe: true, 0x0f0b: true, 0x3007: true,
	0x0640: false, 0x07fa: false, 0x302e: false, 0x302f: false, 0x3031: false, 0x3032: false, 0x3033: false, 0x3034: false, 0x3035: false, 0x303b: false,
}

// ignorableBlocks are the combining marks for symbols and of musical notation (RFC
// 5892, section 2.4).
var ignorableBlocks = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x20d0, Hi: 0x20ff, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x1d100, Hi: 0x1d24f, Stride: 1}},
}

// permitted reports whether a character has the property PVALID (RFC 5892, section
// 3).
func permitted(r rune) bool {
	if valid, ok := exceptions[r]; ok {
		return valid
	}
	switch {
	case r == '-':
		return true
	case contextual(r),
		unicode.Is(oldHangulJamo, r), unicode.In(r, ignorableBlocks, unicode.Noncharacter_Code_Point, unicode.White_Space,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector),
		// Characters that folding or compatibility mapping changes are unstable.
		norm.NFKC.String(cases.Fold().String(norm.NFKC.String(string(r)))) != string(r):
		return false
	}
	return unicode.In(r, unicode.Ll, unicode.Lu, unicode.Lo, unicode.Nd, unicode.Lm, unicode.Mn, unicode.Mc)
}

// oldHangulJamo are the conjoining letters of Hangul (RFC 5892, section 2.9).
var oldHangulJamo = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x1100, Hi: 0x11ff, Stride: 1}, {Lo: 0xa960, Hi: 0xa97c, Stride: 1}, {Lo: 0xd7b0, Hi: 0xd7fb, Stride: 1},
}}

// contextual reports whether a character has the property CONTEXTJ or CONTEXTO.
func contextual(r rune) bool {
	switch r {
	case 0x200c, 0x200d, 0x00b7, 0x0375, 0x05f3, 0x05f4, 0x30fb:
		return true
	}
	return isArabicDigit(r) || isExtendedArabicDigit(r)
}

func isArabicDigit(r rune) bool         { return 0x0660 <= r && r <= 0x0669 }
func isExtendedArabicDigit(r rune) bool { return 0x06f0 <= r && r <= 0x06f9 }

// inContext reports whether the character at i depends on its context and the context
// is valid (RFC 5892, appendix A). Normalize checks the contexts of joiners.
func inContext(label []rune, i int) bool {
	at := func(j int) rune {
		if j < 0 || j >= len(label) {
			return 0
		}
		return label[j]
	}
	has := func(match func(rune) bool) bool { return slices.ContainsFunc(label, match) }
	switch r := label[i]; {
	case r == 0x200c, r == 0x200d:
		return true
	case r == 0x00b7: // middle dot, as in Catalan
		return at(i-1) == 'l' && at(i+1) == 'l'
	case r == 0x0375: // Greek keraia
		return unicode.Is(unicode.Greek, at(i+1))
	case r == 0x05f3, r == 0x05f4: // Hebrew geresh and gershayim
		return unicode.Is(unicode.Hebrew, at(i-1))
	case r == 0x30fb: // Katakana middle dot
		return has(func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) })
	case isArabicDigit(r):
		return !has(isExtendedArabicDigit)
	case isExtendedArabicDigit(r):
		return !has(isArabicDigit)
	}
	return false
}

// lookalikes are the Cyrillic letters that are drawn like Latin ones (UTS #39, section 4.1,
// whole-script confusables).
const lookalikes = "асԁеһіјӏорԛѕԝху"

// looksLatin reports whether each letter of a label is one of the lookalikes.
func looksLatin(label []rune) bool {
	return !slices.ContainsFunc(label, func(r rune) bool {
		return !unicode.In(r, unicode.Common, unicode.Inherited) && !strings.ContainsRune(lookalikes, r)
	})
}

// writingSystems are the sets of scripts that may be mixed.
var writingSystems = [][]string{{"Han", "Hiragana", "Katakana"}, {"Han", "Hangul"}, {"Han", "Bopomofo"}}

// mixesScripts reports whether a label has letters of several scripts that may not be
// mixed.
func mixesScripts(label []rune) bool {
	found := map[string]bool{}
	for _, r := range label {
		if unicode.In(r, unicode.Common, unicode.Inherited) {
			continue
		}
		for name, table := range unicode.Scripts {
			if unicode.Is(table, r) {
				found[name] = true
				break
			}
		}
	}
	if len(found) <= 1 {
		return false
	}
	for _, system := range writingSystems {
		n := 0
		for _, script := range system {
			if found[script] {
				n++
			}
		}
		if n == len(found) {
			return false
		}
	}
	return true
}
