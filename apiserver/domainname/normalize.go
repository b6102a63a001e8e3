package domainname

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"
)

const (
	// maxName is the longest name in text form without its trailing dot: 255
	// octets on the wire (RFC 1035, section 2.3.4) less the first length octet
	// and the root.
	maxName = 253
	// maxLabel is the longest label (RFC 1035, section 2.3.4).
	maxLabel = 63
	// maxInput bounds the work done for one input. Unicode spellings may be
	// longer than their ASCII form, but nothing valid comes near this.
	maxInput = 4096
)

var (
	errEmpty = errors.New("name must not be empty; expected a name such as example.com")
	errIP    = errors.New("name must not be an IP address; expected a name such as example.com")
	errLong  = fmt.Errorf("name must not be longer than %d characters", maxName)
)

// fullStops maps the label separators of RFC 3490, section 3.1, to the dot.
var fullStops = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")

// Normalize returns the canonical form of a domain name: ASCII by IDNA (RFC
// 5891, with the mapping of UTS #46 for lookup), lower case, without a trailing
// dot. Normalize is idempotent.
//
// It returns an error unless the result has at least two labels of letters,
// digits and inner hyphens (RFC 1123, section 2.1), each of 1 to 63
// characters, at most 253 in all, the last of them not all digits, so that no
// IPv4 address passes for a name (RFC 3696, section 2).
func Normalize(s string) (string, error) {
	return normalizeFull(s, hostnameLabel)
}

// NormalizeHost returns the canonical form of a host name that a DNS record
// points to. It is Normalize, except that every label but the last may contain
// underscores (RFC 8552), as in selector._domainkey.example.com.
func NormalizeHost(s string) (string, error) {
	return normalizeFull(s, dnsLabel)
}

// NormalizeLabels returns the canonical form of one or more labels that need
// not be a complete name, such as _dmarc or mail.eu. Labels may contain
// underscores (RFC 8552). The limits of RFC 1035 hold: 63 characters for a
// label and 253 in all. A leading or trailing dot is an error.
func NormalizeLabels(s string) (string, error) {
	return normalizeLabels(s, dnsLabel)
}

// Unicode returns a canonical name as people write it, with its A-labels (RFC
// 5890, section 2.3.2.1) decoded. What is no valid A-label stays as it is.
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

// Equal reports whether a and b are the same domain name after Normalize.
// Strings that are not domain names are equal only if they are identical.
func Equal(a, b string) bool {
	if a == b {
		return true
	}
	na, err := Normalize(a)
	if err != nil {
		return false
	}
	nb, err := Normalize(b)
	return err == nil && na == nb
}

func normalizeFull(s string, kind labelKind) (string, error) {
	name, err := normalizeLabels(trimFinalDot(s), kind)
	if err != nil {
		return "", err
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return "", errors.New("name must have at least two labels, such as example.com")
	}
	switch last := name[dot+1:]; {
	case isDigits(last) && isIP(name):
		return "", errIP
	case isDigits(last):
		return "", fmt.Errorf("last label %s must not be a number", shorten(last))
	case strings.Contains(last, "_"):
		return "", fmt.Errorf("last label %s must not contain an underscore; expected a full name such as _a.example.com", shorten(last))
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
	}
	if err := checkShape(s); err != nil {
		return "", err
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

// checkShape recognises what people paste in place of a name, for which a
// complaint about a single character would be of little help.
func checkShape(s string) error {
	switch {
	case strings.Contains(s, "/"):
		return errors.New("name must not be a URL or a path; expected only the name, such as example.com")
	case strings.Contains(s, "@"):
		return errors.New("name must not contain @; expected only a name such as example.com")
	case strings.Contains(s, ":") && isIP(strings.Trim(s, "[]")):
		return errIP
	case strings.Contains(s, ":"):
		return errors.New("name must not contain a port; expected only the name, such as example.com")
	}
	return nil
}

// trimFinalDot drops one trailing label separator, the mark of an absolute name.
func trimFinalDot(s string) string {
	for _, dot := range []string{".", "\u3002", "\uff0e", "\uff61"} {
		if rest, ok := strings.CutSuffix(s, dot); ok {
			return rest
		}
	}
	return s
}

func isIP(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}
