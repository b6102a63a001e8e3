// Package domainname validates domain names and converts them to one canonical ASCII form, so that
// the API server and the Terraform provider agree when two spellings mean the same name.
//
// It has no I/O and no state. It may import the standard library, golang.org/x/net/idna,
// golang.org/x/net/publicsuffix and golang.org/x/text, and nothing of this module.
//
// Errors are for people: they describe the problem and the expected form, and quote at most a
// short, escaped part of the input.
//
// Stability: none. The package is exported for other packages of this repository only.
package domainname

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// maxName is the longest name in text form without its trailing dot (RFC 1035, section
	// 2.3.4).
	maxName = 253
	// maxLabel is the longest label (RFC 1035, section 2.3.4).
	maxLabel = 63
	// maxInput limits the work for one input. Valid names are far shorter, also in Unicode.
	maxInput = 4096
)

var (
	errEmpty = errors.New("name must not be empty; expected a name such as example.com")
	errLong  = fmt.Errorf("name must not be longer than %d characters", maxName)
)

// fullStops maps the label separators of RFC 3490, section 3.1, to the dot.
var fullStops = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")

// Normalize returns the canonical form of a domain name: ASCII by IDNA (RFC 5891, with the
// mapping of UTS #46 for lookup), in lower case, without a trailing dot. It is idempotent.
//
// The result consists of at least two labels of letters, digits and inner hyphens (RFC 1123,
// section 2.1), each of 1 to 63 characters, and at most 253 in all. The last label must not consist
// of digits, so that an IPv4 address is not a name (RFC 3696, section 2).
func Normalize(s string) (string, error) {
	return normalizeFull(s, hostnameLabel)
}

// NormalizeHost returns the canonical form of the host name in a DNS record's value. Every label
// but the last may contain underscores (RFC 8552), as in selector._domainkey.example.com.
func NormalizeHost(s string) (string, error) {
	return normalizeFull(s, dnsLabel)
}

// NormalizeLabels returns the canonical form of one or more labels of an incomplete name, such
// as _dmarc or mail.eu. A leading or trailing dot is an error.
func NormalizeLabels(s string) (string, error) {
	return normalizeLabels(s, dnsLabel)
}

// Unicode returns a canonical name for display. It does not change an invalid A-label.
func Unicode(name string) string {
	if !strings.Contains(name, acePrefix) {
		return name
	}
	labels := strings.Split(name, ".")
	for i, label := range labels {
		labels[i] = toUnicode(label)
	}
	return strings.Join(labels, ".")
}

// Equal reports whether two names are equal after Normalize, or identical if one is invalid.
func Equal(a, b string) bool { return EqualAfter(Normalize, a, b) }

// EqualAfter is Equal for another canonical form.
func EqualAfter(normalize func(string) (string, error), a, b string) bool {
	if a == b {
		return true
	}
	na, err := normalize(a)
	if err != nil {
		return false
	}
	nb, err := normalize(b)
	return err == nil && na == nb
}

func normalizeFull(s string, kind labelKind) (string, error) {
	// One final separator marks an absolute name.
	name, err := normalizeLabels(strings.TrimSuffix(fullStops.Replace(s), "."), kind)
	if err != nil {
		return "", err
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return "", errors.New("name must have at least two labels, such as example.com")
	}
	switch last := name[dot+1:]; {
	case strings.Trim(last, "0123456789") == "":
		return "", fmt.Errorf("last label %.63q must not be a number, as in an IP address", last)
	case strings.Contains(last, "_"):
		return "", fmt.Errorf("last label %.63q must not contain an underscore; expected a full name such as _a.example.com", last)
	}
	return name, nil
}

func normalizeLabels(s string, kind labelKind) (string, error) {
	switch {
	case s == "":
		return "", errEmpty
	case len(s) > maxInput:
		return "", errLong
	case !utf8.ValidString(s):
		return "", errors.New("name must be valid UTF-8")
	case strings.ContainsAny(s, "/@:"):
		return "", errors.New("name must not be a URL, a path or an address, nor have a port; expected only the name, such as example.com")
	}
	var b strings.Builder
	b.Grow(len(s))
	for label := range strings.SplitSeq(fullStops.Replace(s), ".") {
		canonical, err := normalizeLabel(label, kind)
		if err != nil {
			return "", err
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(canonical)
	}
	if b.Len() > maxName {
		return "", errLong
	}
	return b.String(), nil
}
