package customtype

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// DNSName is the name of a DNS record: relative to its zone, absolute with a trailing
// dot, or @ for the zone itself. It ignores case, a trailing dot, and whether the name
// is in Unicode or in ASCII. Whether www.example.com and www, or example.com and @, are
// the same depends on the zone, so a resource compares with [EqualInZone] and writes
// its state with [KeepName].
var DNSName = Type{format: &format{name: "DNSName", noun: "a record name such as www, or @ for the domain itself", normalize: normalizeDNSName, same: equalInAnyZone}}

func normalizeDNSName(s string) (string, error) { return dnsdata.NormalizeName(s, "") }

// equalInAnyZone ignores a trailing dot: in every zone for which the name with the dot
// is valid, it means the same without.
func equalInAnyZone(a, b string) bool {
	return sameForm(func(s string) (string, error) {
		s, err := normalizeDNSName(s)
		return strings.TrimSuffix(s, "."), err
	}, a, b)
}

// EqualInZone reports whether two strings name the same node of a zone. An empty zone
// is unknown.
func EqualInZone(zone, a, b string) bool {
	if zone == "" {
		return DNSName.Same(a, b)
	}
	return dnsdata.EqualNames(a, b, zone)
}

// KeepName returns prior if it means the same in the zone as the name that the API
// returned, and otherwise the returned name.
func KeepName(prior String, zone, returned string) String {
	if isKnown(prior.StringValue) && EqualInZone(zone, prior.ValueString(), returned) {
		return prior
	}
	return New(returned)
}

// DNSValue is the value of a DNS record without its priority. Which values are equal
// depends on the record's type: the case of a host name is insignificant, the case of a
// text is not. DNSValues are semantically equal only if they are equal for every type
// that accepts both, like the quoted and the plain form of one text. A resource knows
// the type, so it compares with [EqualFor] and writes its state with [KeepValue].
//
// A DNSValue is valid if any type accepts it. A resource has to validate it for its own
// type with dnsdata.NormalizeValue.
var DNSValue = Type{format: &format{name: "DNSValue", noun: "the value of a DNS record", normalize: checkDNSValue, same: equalForAnyType}}

// checkDNSValue returns a valid value unchanged, because no canonical form fits every
// type.
func checkDNSValue(s string) (string, error) {
	if s == "" {
		return "", errors.New("it must not be empty")
	}
	for _, t := range dnsdata.Types() {
		if _, err := dnsdata.NormalizeValue(t, s); err == nil {
			return s, nil
		}
	}
	// TXT accepts nearly everything, so its error explains most.
	_, err := dnsdata.NormalizeValue(dnsdata.TypeTXT, s)
	return "", fmt.Errorf("no record type accepts it; as a text, %w", err)
}

// equalForAnyType reports whether at least one type accepts both values and all types
// that accept both consider them equal.
func equalForAnyType(a, b string) bool {
	found := false
	for _, t := range dnsdata.Types() {
		formA, errA := dnsdata.NormalizeValue(t, a)
		formB, errB := dnsdata.NormalizeValue(t, b)
		if errA != nil || errB != nil {
			continue
		}
		if formA != formB {
			return false
		}
		found = true
	}
	return found
}

// EqualFor reports whether two strings are the same value for a record type. For an
// unknown type it compares them as [DNSValue].
func EqualFor(recordType, a, b string) bool {
	if _, err := dnsdata.NormalizeType(recordType); err != nil {
		return DNSValue.Same(a, b)
	}
	return dnsdata.EqualValues(recordType, a, b)
}

// KeepValue returns prior if it is the same value for the record's type as the one
// that the API returned, and otherwise the returned value.
func KeepValue(prior String, recordType, returned string) String {
	if isKnown(prior.StringValue) && EqualFor(recordType, prior.ValueString(), returned) {
		return prior
	}
	return New(returned)
}
