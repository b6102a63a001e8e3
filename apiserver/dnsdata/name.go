package dnsdata

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

const (
	apex     = "@"
	wildcard = "*"
	// maxName is the longest name in text form without its trailing dot (RFC 1035, section 2.3.4).
	maxName = 253
)

// NormalizeName returns the canonical form of a record name in a zone: relative to the
// zone, in lower case, with internationalized labels in ASCII, and @ for the zone
// itself. It is idempotent.
//
// A name is absolute if it ends in a dot, equals the zone or ends in the zone. Every other name is
// relative. Labels may contain underscores (RFC 8552), and the first may be * (RFC 4592).
//
// An empty zone means that the caller does not know the zone yet. A name that ends in a dot then
// stays absolute, and every other name relative.
//
// NormalizeName returns an error for a malformed name or zone, an absolute name outside the zone, a
// name that repeats the zone and therefore is not stable in relative form, and a name of more than
// 253 octets including the zone.
func NormalizeName(name, zone string) (string, error) {
	if zone != "" {
		var err error
		if zone, err = domainname.Normalize(zone); err != nil {
			return "", fmt.Errorf("invalid zone: %w", err)
		}
	}
	if name == apex {
		return apex, nil
	}
	name, absolute, err := parseName(name)
	switch {
	case err != nil:
		return "", err
	case zone == "" && absolute:
		return name + ".", nil
	case zone == "":
		return name, nil
	}
	relative, inZone := cutZone(name, zone)
	if !inZone && absolute {
		return "", fmt.Errorf("name ends in a dot but is outside the zone %.40q; expected a name in the zone, or one without the dot", zone)
	}
	if _, again := cutZone(relative, zone); again {
		return "", fmt.Errorf("name repeats the zone %.40q; expected it at most once", zone)
	}
	if relative != apex && len(relative)+len(".")+len(zone) > maxName {
		return "", fmt.Errorf("name must not be longer than %d characters together with its zone", maxName)
	}
	return relative, nil
}

// ValidateName returns the error of NormalizeName with an empty zone.
func ValidateName(name string) error {
	_, err := NormalizeName(name, "")
	return err
}

// EqualNames reports whether two names are equal after NormalizeName, or identical if one is
// invalid.
func EqualNames(a, b, zone string) bool {
	return domainname.EqualAfter(func(name string) (string, error) { return NormalizeName(name, zone) }, a, b)
}

// EqualsTarget reports whether a record name in a zone equals the host name in a record's value.
func EqualsTarget(name, zone, target string) bool {
	return EqualNames(name, strings.TrimSuffix(target, ".")+".", zone)
}

// parseName returns the canonical labels of a name other than @, and whether the name ended in a
// dot.
func parseName(s string) (name string, absolute bool, err error) {
	switch {
	case s == "":
		return "", false, errors.New("name must not be empty; expected a name such as www, or @ for the domain itself")
	case s == ".":
		return "", false, errors.New("name must not be the root; expected a name such as www, or @ for the domain itself")
	case strings.Contains(s, "@"):
		return "", false, errors.New("name must not contain @, which stands alone for the domain itself")
	}
	rest, absolute := strings.CutSuffix(s, ".")
	if rest == wildcard && !absolute {
		return wildcard, false, nil
	}
	rest, wild := strings.CutPrefix(rest, wildcard+".")
	if strings.Contains(rest, wildcard) {
		return "", false, errors.New("name must not contain * except as the whole first label, as in *.www")
	}
	name, err = domainname.NormalizeLabels(rest)
	if err != nil {
		return "", false, err
	}
	if wild {
		name = wildcard + "." + name
	}
	switch {
	case len(name) > maxName:
		return "", false, fmt.Errorf("name must not be longer than %d characters", maxName)
	case absolute && !strings.Contains(name, "."):
		return "", false, errors.New("name of one label must not end in a dot; expected a name such as www")
	}
	return name, absolute, nil
}

// cutZone returns a canonical name relative to the zone, and whether it is inside the zone.
func cutZone(name, zone string) (string, bool) {
	if name == zone {
		return apex, true
	}
	return strings.CutSuffix(name, "."+zone)
}
