// Package emailaddr validates mailbox addresses and converts them to one canonical form, so that
// the API server and the Terraform provider agree when two spellings mean the same mailbox.
//
// It accepts a plain addr-spec. Unlike net/mail, it rejects the display names and comments of RFC
// 5322, and the quoted local parts and address literals of RFC 5321.
//
// It has no I/O and no state. It may import the standard library and apiserver/domainname, and
// nothing else of this module.
//
// Errors are for people: they describe the problem and the expected form, and quote at most a
// short, escaped part of the input.
//
// Stability: none. The package is exported for other packages of this repository only.
package emailaddr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

const (
	// maxLocal is the longest local part (RFC 5321, section 4.5.3.1.1).
	maxLocal = 64
	// maxAddress is the longest address in octets (RFC 5321, section 4.5.3.1.3).
	maxAddress = 254
)

// Address is a mailbox address in canonical form.
type Address struct {
	// Local is the part before the at sign, in lower case.
	Local string
	// Domain is the part after the at sign, in the form of domainname.Normalize.
	Domain string
}

// String returns the address as local@domain.
func (a Address) String() string {
	return a.Local + "@" + a.Domain
}

// Parse parses an address and converts it to canonical form: the local part by ParseLocalPart, the
// domain by domainname.Normalize, at most 254 octets in all.
func Parse(s string) (Address, error) {
	if s == "" {
		return Address{}, errors.New("address must not be empty; expected an address such as jane@example.com")
	}
	// This check comes first, because an error about one character would hide the cause.
	if strings.ContainsAny(s, "<>") {
		return Address{}, errors.New("address must not have a display name or angle brackets; expected only an address such as jane@example.com")
	}
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return Address{}, errors.New("address must contain an @, as in jane@example.com")
	}
	local, err := ParseLocalPart(s[:at])
	if err != nil {
		return Address{}, err
	}
	domain, err := domainname.Normalize(s[at+1:])
	if err != nil {
		return Address{}, fmt.Errorf("invalid domain: %w", err)
	}
	a := Address{Local: local, Domain: domain}
	if len(a.String()) > maxAddress {
		return Address{}, fmt.Errorf("address must not be longer than %d characters", maxAddress)
	}
	return a, nil
}

// Normalize returns the canonical form of an address, or the error of Parse. It is idempotent.
func Normalize(s string) (string, error) {
	a, err := Parse(s)
	if err != nil {
		return "", err
	}
	return a.String(), nil
}

// atextSpecials are the characters of an atom besides letters and digits (RFC 5322, section
// 3.2.3).
const atextSpecials = "!#$%&'*+-/=?^_`{|}~"

// ParseLocalPart returns the canonical form of a local part: a Dot-string (RFC 5321, section 4.1.2)
// of 1 to 64 octets in lower case. RFC 5321, section 2.4, leaves the case to the mailbox's host;
// this service ignores it. Quoted strings and the Unicode of RFC 6531 are errors.
func ParseLocalPart(s string) (string, error) {
	switch {
	case s == "":
		return "", errors.New("local part must not be empty; expected a name such as jane.doe")
	case len(s) > maxLocal:
		return "", fmt.Errorf("local part must not be longer than %d characters", maxLocal)
	}
	for _, c := range s {
		if !isAtext(c) && c != '.' {
			return "", fmt.Errorf("local part must not contain %q; only ASCII letters, digits and %s are allowed, with single dots between them", c, atextSpecials)
		}
	}
	switch {
	case s[0] == '.' || s[len(s)-1] == '.':
		return "", errors.New("local part must not begin or end with a dot")
	case strings.Contains(s, ".."):
		return "", errors.New("local part must not contain two dots in a row")
	}
	return strings.ToLower(s), nil
}

func isAtext(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.ContainsRune(atextSpecials, c)
}
