package domainname

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// labelKind lists the ASCII characters that a label may contain besides letters and digits, and
// describes all allowed characters.
type labelKind struct{ further, expected string }

var (
	hostnameLabel = labelKind{"-", "letters, digits and hyphens"}               // RFC 1123
	dnsLabel      = labelKind{"-_", "letters, digits, hyphens and underscores"} // RFC 8552
)

// acePrefix marks a label that encodes Unicode (RFC 5890, section 2.3.2.5).
const acePrefix = "xn--"

// maxUnicodeLabel limits a label before IDNA, because the cost of IDNA grows with the square of the
// length. Valid labels are far shorter.
const maxUnicodeLabel = 1024

// normalizeLabel returns the canonical form of a single label.
//
// IDNA is applied only to internationalized labels. Its Bidi rule would forbid _dmarc before a
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
		return "", fmt.Errorf("label %.63q must not begin or end with a hyphen", label)
	}
	return canonical, nil
}

func errLongLabel(label string) error {
	return fmt.Errorf("label %.24q… must not be longer than %d characters", label, maxLabel)
}

// checkCharacters checks the ASCII characters of a label; IDNA checks the other characters.
func checkCharacters(label string, kind labelKind) error {
	for _, c := range label {
		letterOrDigit := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if c <= unicode.MaxASCII && !letterOrDigit && !strings.ContainsRune(kind.further, c) {
			return fmt.Errorf("label %.63q must not contain %q; expected %s", label, c, kind.expected)
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
	return "", fmt.Errorf("label %.63q is not a valid internationalised label (IDNA)", label)
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
