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
	// maxAddress is the longest address: the 256 octets of a path less its angle
	// brackets (RFC 5321, section 4.5.3.1.3).
	maxAddress = 254
)

// Address is a mailbox address in canonical form, as Parse returns it.
type Address struct {
	// Local is the part before the at sign, in lower case.
	Local string
	// Domain is the part after it, in the form of domainname.Normalize.
	Domain string
}

// String returns the address as local@domain.
func (a Address) String() string {
	return a.Local + "@" + a.Domain
}

// Parse reads an address and brings it to canonical form: the local part as
// ParseLocalPart does, the domain as domainname.Normalize does.
//
// It returns an error unless s is a single local part and domain, both valid,
// of at most 254 octets in canonical form (RFC 5321, section 4.5.3.1).
func Parse(s string) (Address, error) {
	if s == "" {
		return Address{}, errors.New("address must not be empty; expected an address such as jane@example.com")
	}
	// Said first: a complaint about one character would hide the cause.
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
	if strings.HasPrefix(s[at+1:], "[") {
		return Address{}, errors.New("domain must not be an address literal; expected a domain name such as example.com")
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

// Normalize returns the canonical form of an address, or the error of Parse. It
// is idempotent.
func Normalize(s string) (string, error) {
	a, err := Parse(s)
	if err != nil {
		return "", err
	}
	return a.String(), nil
}
