// Package dnsdata validates the types, names and values of DNS records and converts them to one
// canonical form, so that the API server and the Terraform provider agree when two spellings mean
// the same record.
//
// A value is a record's RDATA in text. It excludes the priority of MX and SRV, which is a separate
// field. The canonical form of a name is relative to the zone, with @ for the zone itself.
//
// The package has no I/O and no state. It may import the standard library and apiserver/domainname,
// and nothing else of this module. Its tests compare it with github.com/miekg/dns.
//
// Errors are for people: they describe the problem and the expected form, and quote at most a
// short, escaped part of the input.
//
// Stability: none. The package is exported for other packages of this repository only.
package dnsdata

import (
	"fmt"
	"regexp"
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

// Types returns the supported record types in alphabetical order, in a new slice.
func Types() []string {
	return []string{TypeA, TypeAAAA, TypeCAA, TypeCNAME, TypeMX, TypeNS, TypeSRV, TypeTXT}
}

// NormalizeType returns the upper-case spelling of a supported record type (RFC 4343, section
// 3).
func NormalizeType(s string) (string, error) {
	for _, t := range Types() {
		// Comparing the length excludes non-ASCII letters that fold to ASCII letters.
		if len(s) == len(t) && strings.EqualFold(s, t) {
			return t, nil
		}
	}
	return "", fmt.Errorf("unsupported record type %.12q; expected one of %s", s, strings.Join(Types(), ", "))
}

// TypeNeedsPriority reports whether records of a type, in any case, require a priority: MX (RFC
// 1035, section 3.3.9) and SRV (RFC 2782).
func TypeNeedsPriority(rrType string) bool {
	t, err := NormalizeType(rrType)
	return err == nil && (t == TypeMX || t == TypeSRV)
}

// Purpose is the use of a record by mail software.
type Purpose string

// Mail software reads all records of a name with one of these purposes together. The purpose of
// other records is empty.
const (
	// PurposeMX finds the hosts that receive a domain's mail (RFC 5321, section 5.1).
	PurposeMX Purpose = "mx"
	// PurposeSPF finds the sender policy (RFC 7208). A name has at most one.
	PurposeSPF Purpose = "spf"
	// PurposeDMARC finds the DMARC policy (RFC 9989). A name has at most one.
	PurposeDMARC Purpose = "dmarc"
)

// noHost stands for no host (RFC 7505 for mail, RFC 2782 for a service).
const noHost = "."

// dmarcVersion matches the first tag of a DMARC record. Its value is case-sensitive (RFC 7489,
// section 6.3). A blank in place of the semicolon is a common mistake and also matches.
var dmarcVersion = regexp.MustCompile(`^[vV][ \t]*=[ \t]*DMARC1(?:[ \t;]|$)`)

// PurposeOf returns the purpose of a record with a valid value, or "". The text of an SPF record is
// v=spf1, in any case, alone or followed by a space (RFC 7208, section 4.5).
func PurposeOf(rrType, value string) Purpose {
	switch t, _ := NormalizeType(rrType); t {
	case TypeMX:
		return PurposeMX
	case TypeTXT:
		text, err := Text(value)
		version, _, _ := strings.Cut(text, " ")
		switch {
		case err != nil:
		case len(version) == len("v=spf1") && strings.EqualFold(version, "v=spf1"):
			return PurposeSPF
		case dmarcVersion.MatchString(text):
			return PurposeDMARC
		}
	}
	return ""
}

// Single reports whether a name may contain only one record for the purpose: receivers ignore both
// of two (RFC 7208, section 4.5; RFC 7489, section 6.6.3).
func (p Purpose) Single() bool { return p == PurposeSPF || p == PurposeDMARC }

// String returns the purpose in upper case, for messages.
func (p Purpose) String() string { return strings.ToUpper(string(p)) }

// IsNullMX reports whether an MX record's canonical value means that the name accepts no mail.
// Such a record must be the only one (RFC 7505, section 3).
func IsNullMX(rrType, value string) bool { return rrType == TypeMX && value == noHost }
