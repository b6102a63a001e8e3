package dnsdata

import (
	"fmt"
	"strings"
)

// The record types of the service, in canonical spelling.
const (
	TypeA     = "A"     // RFC 1035, section 3.4.1
	TypeAAAA  = "AAAA"  // RFC 3596
	TypeCAA   = "CAA"   // RFC 8659
	TypeCNAME = "CNAME" // RFC 1035, section 3.3.1
	TypeMX    = "MX"    // RFC 1035, section 3.3.9
	TypeNS    = "NS"    // RFC 1035, section 3.3.11
	TypeSRV   = "SRV"   // RFC 2782
	TypeTXT   = "TXT"   // RFC 1035, section 3.3.14
)

// Types returns the supported record types in alphabetical order. The caller
// owns the slice.
func Types() []string {
	return []string{TypeA, TypeAAAA, TypeCAA, TypeCNAME, TypeMX, TypeNS, TypeSRV, TypeTXT}
}

// NormalizeType returns the canonical, upper-case spelling of a record type.
// Types compare without regard to case (RFC 4343, section 3). It returns an
// error that lists the supported types for any other.
func NormalizeType(s string) (string, error) {
	for _, t := range Types() {
		// The length keeps out the non-ASCII letters that fold to ASCII ones.
		if len(s) == len(t) && strings.EqualFold(s, t) {
			return t, nil
		}
	}
	return "", fmt.Errorf("unsupported record type %.12q; expected one of %s", s, strings.Join(Types(), ", "))
}

// TypeNeedsPriority reports whether records of a type, in any case, have a
// priority: the preference of MX (RFC 1035, section 3.3.9) and the priority of
// SRV (RFC 2782).
func TypeNeedsPriority(rrType string) bool {
	t, err := NormalizeType(rrType)
	return err == nil && (t == TypeMX || t == TypeSRV)
}
