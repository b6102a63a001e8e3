package customtype

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// DNSName is the name of a DNS record: relative to its zone, absolute with a
// trailing dot, or @ for the zone itself. Its case does not count, nor do a
// trailing dot and whether it is in Unicode or in ASCII. That www.example.com
// and www, or example.com and @, are the same only the zone can tell: a
// resource has to compare by [EqualInZone] and to answer with [KeepName].
type DNSName = Value[dnsName]

// DNSNameType is the type of [DNSName].
type DNSNameType = Type[dnsName]

type dnsName struct{}

func (dnsName) rules() rules {
	return rules{
		name:      "DNSName",
		noun:      "a record name such as www, or @ for the domain itself",
		normalize: normalizeDNSName,
		equal:     equalInAnyZone,
	}
}

func normalizeDNSName(s string) (string, error) { return dnsdata.NormalizeName(s, "") }

// equalInAnyZone ignores a trailing dot. In a zone where the name with it is
// valid, the name lies in the zone, and so it means the same without.
func equalInAnyZone(a, b string) bool {
	return sameForm(func(s string) (string, error) {
		s, err := normalizeDNSName(s)
		return strings.TrimSuffix(s, "."), err
	}, a, b)
}

// EqualInZone reports whether two strings name the same node of a zone. An empty
// zone is one that is not known.
func EqualInZone(zone, a, b string) bool {
	if zone == "" {
		return Equal[DNSName](a, b)
	}
	return dnsdata.EqualNames(a, b, zone)
}

// KeepName returns the name of a record: the prior one if it is the same in the
// zone, and the API's answer otherwise.
func KeepName(prior DNSName, zone, answer string) DNSName {
	if isKnown(prior) && EqualInZone(zone, prior.ValueString(), answer) {
		return prior
	}
	return New[DNSName](answer)
}

// DNSValue is the value of a DNS record without its priority. What is the same
// depends on the type of the record: the case of a host name does not count, and
// that of a text does. Values are equal here only if they are for every type
// that takes both, as are the quoted and the plain form of one text. A
// resource, which knows the type, has to compare by [EqualFor] and to answer
// with [KeepValue].
//
// A value is valid here if any type takes it; a resource has to check it for the
// one type with dnsdata.NormalizeValue.
type DNSValue = Value[dnsValue]

// DNSValueType is the type of [DNSValue].
type DNSValueType = Type[dnsValue]

type dnsValue struct{}

func (dnsValue) rules() rules {
	return rules{
		name:      "DNSValue",
		noun:      "the value of a DNS record",
		normalize: checkDNSValue,
		equal:     equalForAnyType,
	}
}

// checkDNSValue returns a value unchanged: there is no canonical form for every
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
	// TXT takes nearly anything; why it does not take this tells the most.
	_, err := dnsdata.NormalizeValue(dnsdata.TypeTXT, s)
	return "", fmt.Errorf("no record type takes it; as a text, %w", err)
}

// equalForAnyType reports whether some type takes both values, and every type
// that takes both says that they are equal. Whatever the type of a record is, it
// took both, or one of them is not a value of that record.
func equalForAnyType(a, b string) bool {
	agreed := false
	for _, t := range dnsdata.Types() {
		formA, err := dnsdata.NormalizeValue(t, a)
		if err != nil {
			continue
		}
		formB, err := dnsdata.NormalizeValue(t, b)
		if err != nil {
			continue
		}
		if formA != formB {
			return false
		}
		agreed = true
	}
	return agreed
}

// EqualFor reports whether two strings are the same value of a record type. For
// a type that is not known it falls back on the equality of [DNSValue].
func EqualFor(recordType, a, b string) bool {
	if _, err := dnsdata.NormalizeType(recordType); err != nil {
		return Equal[DNSValue](a, b)
	}
	return dnsdata.EqualValues(recordType, a, b)
}

// KeepValue returns the value of a record: the prior one if it is the same for
// the record's type, and the API's answer otherwise.
func KeepValue(prior DNSValue, recordType, answer string) DNSValue {
	if isKnown(prior) && EqualFor(recordType, prior.ValueString(), answer) {
		return prior
	}
	return New[DNSValue](answer)
}

func isKnown[K kind](v Value[K]) bool { return !v.IsNull() && !v.IsUnknown() }
