package domainname

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// labelKind selects the valid characters of a label.
type labelKind int

const (
	hostnameLabel labelKind = iota // letters, digits, hyphens (RFC 1123)
	dnsLabel                       // those and underscores (RFC 8552)
)

// acePrefix marks a label that encodes Unicode (RFC 5890, section 2.3.2.5).
const acePrefix = "xn--"

// maxUnicodeLabel limits a label before IDNA, whose cost grows with the square of the length.
// Valid labels are far shorter.
const maxUnicodeLabel = 1024

// normalizeLabel returns the canonical form of a single label.
//
// IDNA is applied only to a label that needs it. Its Bidi rule would forbid _dmarc before a
// Hebrew name, and its hyphen rule existing ASCII labels such as r3---sn-abc.
func normalizeLabel(label string, kind labelKind) (string, error) {
	if label == "" {
		return "", errors.New("name must not contain an empty label (two dots in a row, or a dot at either end)")
	}
	if err := checkCharacters(label, kind); err != nil {
		return "", err
	}
	ascii := isASCII(label)
	if ascii && len(label) > maxLabel || len(label) > maxUnicodeLabel {
		return "", errLongLabel(label)
	}
	canonical := strings.ToLower(label)
	if !ascii || strings.HasPrefix(canonical, acePrefix) {
		var err error
		if canonical, err = toASCII(label); err != nil {
			return "", err
		}
		if err := checkCharacters(canonical, kind); err != nil {
			return "", err
		}
	}
	switch {
	case len(canonical) > maxLabel:
		return "", errLongLabel(label)
	case canonical[0] == '-' || canonical[len(canonical)-1] == '-':
		return "", fmt.Errorf("label %s must not begin or end with a hyphen", shorten(label))
	}
	return canonical, nil
}

func errLongLabel(label string) error {
	return fmt.Errorf("label %s must not be longer than %d characters", shorten(label), maxLabel)
}

// checkCharacters checks the ASCII characters of a label; IDNA checks the others.
func checkCharacters(label string, kind labelKind) error {
	for i := range len(label) {
		switch c := label[i]; {
		case c >= utf8.RuneSelf, c == '-',
			'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_' && kind == dnsLabel:
		case c == '_':
			return fmt.Errorf("label %s must not contain an underscore; expected letters, digits and hyphens", shorten(label))
		case c == ' ':
			return fmt.Errorf("label %s must not contain a space", shorten(label))
		case kind == dnsLabel:
			return fmt.Errorf("label %s must not contain %q; expected letters, digits, hyphens and underscores", shorten(label), c)
		default:
			return fmt.Errorf("label %s must not contain %q; expected letters, digits and hyphens", shorten(label), c)
		}
	}
	return nil
}

// toASCII converts an internationalized label to its A-label.
func toASCII(label string) (string, error) {
	a, err := idna.Lookup.ToASCII(label)
	if err == nil && a != "" {
		// The mapping tables are not proven to be idempotent, but callers rely on it.
		var again string
		if again, err = idna.Lookup.ToASCII(a); err == nil && again == a {
			return a, nil
		}
	}
	return "", fmt.Errorf("label %s is not a valid internationalised label (IDNA)", shorten(label))
}

// toUnicode decodes an A-label, and returns any other label unchanged.
func toUnicode(label string) string {
	if strings.HasPrefix(label, acePrefix) {
		if u, err := idna.Lookup.ToUnicode(label); err == nil && u != "" {
			return u
		}
	}
	return label
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// shorten quotes s for an error message, and truncates it.
func shorten(s string) string {
	const limit = 24
	n := 0
	for i := range s {
		if n == limit {
			return strconv.Quote(s[:i] + "…")
		}
		n++
	}
	return strconv.Quote(s)
}
