package dnsdata

import (
	"regexp"
	"strings"
)

// Purpose is what mail software looks a record up for.
type Purpose string

// The purposes for which the records at one name are read together. A record of
// any other kind has none.
const (
	// PurposeMX is to find the hosts that receive a domain's mail (RFC 5321, section
	// 5.1).
	PurposeMX Purpose = "mx"
	// PurposeSPF is to find a sender policy (RFC 7208), of which a name has one.
	PurposeSPF Purpose = "spf"
	// PurposeDMARC is to find a DMARC policy (RFC 7489), of which a name has one.
	PurposeDMARC Purpose = "dmarc"
)

// noHost stands for no host: no mail is accepted (RFC 7505), or there is no such
// service (RFC 2782).
const noHost = "."

// dmarcVersion matches the first tag of a DMARC record: its value is compared by
// case (RFC 7489, section 6.3), its name is not. A blank in place of the semicolon
// is a mistake, but the record is meant as one.
var dmarcVersion = regexp.MustCompile(`^[vV][ \t]*=[ \t]*DMARC1(?:[ \t;]|$)`)

// PurposeOf returns the purpose of a record with a valid value, or "". A TXT record
// is an SPF record if its text begins with the version v=spf1, in any case, and
// ends there or goes on with a space (RFC 7208, section 4.5).
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

// Single reports whether a name has at most one record for the purpose: of two,
// receivers take neither (RFC 7208, section 4.5; RFC 7489, section 6.6.3).
func (p Purpose) Single() bool { return p == PurposeSPF || p == PurposeDMARC }

// String returns the purpose as it is written in prose.
func (p Purpose) String() string { return strings.ToUpper(string(p)) }

// IsNullMX reports whether the canonical value of an MX record says that the name
// accepts no mail. Such a record stands alone (RFC 7505, section 3).
func IsNullMX(rrType, value string) bool { return rrType == TypeMX && value == noHost }
