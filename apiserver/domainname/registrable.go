package domainname

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/publicsuffix"
)

var (
	// ErrUnsupportedTLD reports a name whose public suffix no ICANN registry
	// manages, so that nobody sells names below it: an unknown top-level domain,
	// a special-use one, or a private suffix such as github.io.
	ErrUnsupportedTLD = errors.New("unsupported top-level domain")

	// ErrNotRegistrable reports a name that is not directly below a public
	// suffix: the suffix itself, such as co.uk, or a name below a registrable
	// one, such as www.example.com.
	ErrNotRegistrable = errors.New("not a registrable name")
)

// Registrable reports whether a name, in any spelling that Normalize accepts,
// is one that a registrar could sell: exactly one label below a public suffix
// of the ICANN section of the Public Suffix List, by the rules of
// CheckRegistration.
//
// It returns nil, the error of CheckRegistration, or an error that wraps
// ErrUnsupportedTLD or ErrNotRegistrable.
func Registrable(name string) error {
	if err := CheckRegistration(name); err != nil {
		return err
	}
	name, err := Normalize(name)
	if err != nil {
		return err
	}
	suffix, icann := publicsuffix.PublicSuffix(name)
	if strings.Contains(suffix, ".") {
		// The flag is that of the deepest list node on the way, which may lie
		// below the suffix: noc.ruhr-uni-bochum.de has a private suffix and yet
		// counts as ICANN's. Asking for the suffix itself settles it. A
		// suffix of one label is never private.
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

// specialUse reports whether a name is under a top-level domain that the list
// has among ICANN's although it is reserved (RFC 3172, RFC 7686).
func specialUse(name string) bool {
	return strings.HasSuffix(name, ".arpa") || strings.HasSuffix(name, ".onion")
}
