package domainname

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/runes"
	"golang.org/x/text/secure/precis"
)

var (
	// ErrUnsupportedTLD is for a name under a public suffix without an ICANN registry, so that
	// nobody sells the name: an unknown or special-use top-level domain, or a private suffix such
	// as github.io.
	ErrUnsupportedTLD = errors.New("unsupported top-level domain")

	// ErrNotRegistrable is for a name not directly below a public suffix: the suffix itself, such
	// as co.uk, or a name below a registrable name, such as www.example.com.
	ErrNotRegistrable = errors.New("not a registrable name")
)

// Registrable returns nil if a registrar could sell the name, in any spelling that Normalize
// accepts: exactly one label below a public suffix in the ICANN section of the Public Suffix List,
// and valid for checkRegistration.
//
// Otherwise it returns the error of Normalize or checkRegistration, or an error that wraps
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
	switch {
	case strings.HasSuffix(name, ".arpa") || strings.HasSuffix(name, ".onion"): // reserved (RFC 3172, RFC 7686)
		return fmt.Errorf("%w: names under it are not sold", ErrUnsupportedTLD)
	case name == suffix:
		return fmt.Errorf("%w: %.63q is a public suffix; expected a name directly below it", ErrNotRegistrable, name)
	case !icann:
		return fmt.Errorf("%w: names under %.63q are not sold", ErrUnsupportedTLD, suffix)
	}
	if registrable, _ := publicsuffix.EffectiveTLDPlusOne(name); registrable != name {
		return fmt.Errorf("%w: it lies below %.63q; expected that name", ErrNotRegistrable, registrable)
	}
	return nil
}

// Organization returns the name of a canonical name's owner: one label below its public suffix in
// the ICANN section of the Public Suffix List, as example.co.uk for www.example.co.uk. A public
// suffix is returned as it is.
func Organization(name string) string {
	suffix, icann := publicsuffix.PublicSuffix(name)
	for !icann && strings.Contains(suffix, ".") { // private, as github.io
		_, above, _ := strings.Cut(suffix, ".")
		suffix, icann = publicsuffix.PublicSuffix(above)
	}
	rest := strings.TrimSuffix(strings.TrimSuffix(name, suffix), ".")
	return strings.TrimPrefix(rest[strings.LastIndexByte(rest, '.')+1:]+"."+suffix, ".")
}

// checkRegistration validates a canonical name by the rules for registration, which are stricter
// than the rules for lookup. Each label contains only characters that IDNA 2008 permits in their
// context (RFC 5892), and no hyphens in third and fourth place (RFC 5891, section 4.2.3.1). Its
// letters belong to one script, and must not all look like Latin letters below a Latin top-level
// domain.
//
// Common and inherited characters, such as digits, belong to every script. Han may be mixed with
// Hiragana and Katakana, with Hangul, and with Bopomofo, each of which is one writing system (UTS
// #39, section 5.1). The labels of a name may use different scripts.
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

// checkRegistered validates a label. latin is true if the top-level domain is Latin.
func checkRegistered(label []rune, latin bool) error {
	shown := fmt.Sprintf("%.63q", string(label))
	if len(label) > 3 && label[2] == '-' && label[3] == '-' {
		return fmt.Errorf("label %s must not have hyphens in third and fourth place", shown)
	}
	if isASCII(string(label)) {
		return nil // Normalize checked letters, digits and hyphens
	}
	if valid, err := identifiers.String(string(label)); err != nil || valid != string(label) {
		return fmt.Errorf("label %s has a character that a domain name must not contain there; expected letters, digits and hyphens (IDNA 2008)", shown)
	}
	if mixesScripts(label) {
		return fmt.Errorf("label %s must not mix scripts", shown)
	}
	if latin && consistsOf(label, func(r rune) bool { return strings.ContainsRune(lookalikes, r) }) {
		return fmt.Errorf("label %s must not consist only of letters that look like Latin ones", shown)
	}
	return nil
}

// identifiers permits the characters of IDNA 2008 in their contexts, because RFC 8264 contains the
// letters, digits and contextual rules of RFC 5892. Normalize refuses the further ASCII characters
// of RFC 8264.
var identifiers = precis.NewIdentifier(precis.Disallow(runes.In(ignorableBlocks)))

// ignorableBlocks are the combining marks for symbols and of musical notation (RFC
// 5892, section 2.4), which RFC 8264 permits.
var ignorableBlocks = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x20d0, Hi: 0x20ff, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x1d100, Hi: 0x1d24f, Stride: 1}},
}

// lookalikes are Cyrillic letters that look like Latin letters (UTS #39, section 4.1, whole-script
// confusables).
const lookalikes = "асԁеһіјӏорԛѕԝху"

// consistsOf reports whether a condition holds for each letter of a label. Common and inherited
// characters don't count as letters.
func consistsOf(label []rune, is func(rune) bool) bool {
	return !slices.ContainsFunc(label, func(r rune) bool { return !unicode.In(r, unicode.Common, unicode.Inherited) && !is(r) })
}

// mixesScripts reports whether a label mixes letters of scripts that must not be mixed.
func mixesScripts(label []rune) bool {
	within := func(scripts ...*unicode.RangeTable) bool {
		return consistsOf(label, func(r rune) bool { return unicode.In(r, scripts...) })
	}
	for _, script := range unicode.Scripts {
		if within(script) {
			return false
		}
	}
	return !within(unicode.Han, unicode.Hiragana, unicode.Katakana) && !within(unicode.Han, unicode.Hangul) && !within(unicode.Han, unicode.Bopomofo)
}
