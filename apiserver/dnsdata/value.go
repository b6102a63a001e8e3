package dnsdata

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// NormalizeValue returns the canonical form of a record's value. It is idempotent. White space
// around a value is ignored, except in TXT.
//
//   - A, AAAA: an IPv4 or IPv6 address without a zone, in the form of RFC 5952.
//   - CNAME: a name in the form of domainname.NormalizeHost, which may contain underscores.
//   - NS: a host name in the form of domainname.Normalize (RFC 1123, section 2.1).
//   - MX: the exchange, a host name, or "." to accept no mail (RFC 7505).
//   - SRV (RFC 2782): "weight port target", the target a host name, or "." for
//     no service.
//   - CAA (RFC 8659): flags tag "value", with the value quoted.
//   - TXT: the text itself. Input that begins with a double quote is in presentation
//     format (RFC 1035, section 5.1), and its strings are joined. A text that begins
//     with a quote is returned in presentation format, by Quote, and so is one in
//     another Unicode form than NFC, because Terraform converts strings to NFC.
//
// It returns an error for an unsupported type and for an invalid value, for instance a value that
// includes the priority of MX or SRV.
func NormalizeValue(rrType, value string) (string, error) {
	t, err := NormalizeType(rrType)
	if err != nil {
		return "", err
	}
	if t == TypeTXT {
		return normalizeTXT(value)
	}
	value = strings.TrimSpace(value)
	if value == "" {
		return "", fmt.Errorf("value of %s must not be empty", t)
	}
	switch t {
	case TypeA, TypeAAAA:
		return normalizeAddr(t, value)
	case TypeMX:
		return normalizeMX(value)
	case TypeSRV:
		return normalizeSRV(value)
	case TypeCAA:
		return normalizeCAA(value)
	case TypeNS:
		return normalizeTarget(value, domainname.Normalize) // without underscores (RFC 1123, section 2.1)
	default: // CNAME
		return normalizeTarget(value, domainname.NormalizeHost)
	}
}

// ParseRDATA returns the canonical value of RDATA in presentation format. For MX and SRV, RDATA
// begins with the priority; for other types the priority is -1.
func ParseRDATA(rrType, rdata string) (priority int64, value string, err error) {
	if !TypeNeedsPriority(rrType) {
		value, err = NormalizeValue(rrType, rdata)
		return -1, value, err
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(rdata, "\t", " ")), " ")
	n, err := strconv.ParseUint(first, 10, 16)
	if err != nil || rest == "" {
		return -1, "", fmt.Errorf("the value of %s must begin with a priority from 0 to 65535, such as %q", rrType, exampleOf[rrType])
	}
	if value, err = NormalizeValue(rrType, rest); err != nil {
		err = fmt.Errorf("after the priority %d: %w", n, err)
	}
	return int64(n), value, err
}

// FormatRDATA returns a record's RDATA as a zone file contains it (RFC 1035, section 5.1): absolute names, quoted
// text, and the priority of MX and SRV. ParseRDATA reads it back to the same record.
func FormatRDATA(rrType string, priority int64, value string) (string, error) {
	value, err := NormalizeValue(rrType, value)
	if err != nil {
		return "", err
	}
	switch strings.ToUpper(rrType) {
	case TypeTXT:
		text, err := Text(value)
		if err != nil {
			return "", err
		}
		value = Quote(text)
	case TypeCNAME, TypeMX, TypeNS, TypeSRV: // the last word is a name, or "." for none
		value = strings.TrimSuffix(value, ".") + "."
	}
	if TypeNeedsPriority(rrType) {
		return fmt.Sprintf("%d %s", priority, value), nil
	}
	return value, nil
}

var exampleOf = map[string]string{TypeMX: "10 mail.example.com.", TypeSRV: "0 5 443 sip.example.com."}

// EqualValues reports whether two values are equal after NormalizeValue, or identical if one is
// invalid.
func EqualValues(rrType, a, b string) bool {
	return domainname.EqualAfter(func(value string) (string, error) { return NormalizeValue(rrType, value) }, a, b)
}

func normalizeAddr(rrType, value string) (string, error) {
	addr, err := netip.ParseAddr(value)
	switch {
	case rrType == TypeA && (err != nil || !addr.Is4()):
		return "", errors.New("value of A must be an IPv4 address such as 192.0.2.1")
	case rrType == TypeAAAA && (err != nil || addr.Is4() || addr.Zone() != ""):
		return "", errors.New("value of AAAA must be an IPv6 address such as 2001:db8::1, without a zone")
	}
	return addr.String(), nil
}

// normalizeTarget returns the target of a record in the form of a function of package domainname.
func normalizeTarget(s string, form func(string) (string, error)) (string, error) {
	host, err := form(s)
	if err != nil {
		return "", fmt.Errorf("invalid target: %w", err)
	}
	return host, nil
}

// normalizeHostOrNone is normalizeTarget for a host name or "." for no host.
func normalizeHostOrNone(s string) (string, error) {
	if s == noHost {
		return s, nil
	}
	return normalizeTarget(s, domainname.Normalize)
}

func normalizeMX(value string) (string, error) {
	if len(strings.Fields(value)) > 1 {
		return "", errors.New("value of MX must be only the mail host, such as mail.example.com; the preference belongs in the priority")
	}
	return normalizeHostOrNone(value)
}

func normalizeSRV(value string) (string, error) {
	fields := strings.Fields(value)
	if len(fields) != 3 {
		return "", fmt.Errorf(`value of SRV has %d fields, not three: weight, port and target, such as 5 443 sip.example.com; the priority has its own field`, len(fields))
	}
	weight, err := strconv.ParseUint(fields[0], 10, 16)
	if err != nil {
		return "", errors.New("weight of SRV must be a number from 0 to 65535")
	}
	port, err := strconv.ParseUint(fields[1], 10, 16)
	if err != nil {
		return "", errors.New("port of SRV must be a number from 0 to 65535")
	}
	target, err := normalizeHostOrNone(fields[2])
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %d %s", weight, port, target), nil
}
