package dnsdata

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxRDATA is the longest RDATA: its length is a 16-bit field (RFC 1035,
	// section 3.2.1).
	maxRDATA = 65535
	// space separates character-strings in presentation format.
	space = " \t\r\n"
)

// Text returns the text of the value of a TXT record: the value itself, or its
// joined strings where it is presentation format, which begins with a double
// quote. What a record can't have, an empty text among it, is an error.
func Text(value string) (string, error) {
	text := value
	if isQuoted(value) {
		parts, err := parseStrings(value)
		if err != nil {
			return "", fmt.Errorf("value of TXT: %w", err)
		}
		text = strings.Join(parts, "")
	}
	if text == "" {
		return "", errors.New("value of TXT must not be empty")
	}
	if err := checkText(text); err != nil {
		return "", fmt.Errorf("value of TXT: %w", err)
	}
	if rdataLen(text) > maxRDATA {
		return "", fmt.Errorf("value of TXT must not be longer than %d octets, with one more for every string of %d", maxRDATA, maxString)
	}
	return text, nil
}

// normalizeTXT returns the text of a TXT record, or its presentation format
// where the text itself would be read as that.
func normalizeTXT(value string) (string, error) {
	text, err := Text(value)
	if err != nil {
		return "", err
	}
	if isQuoted(text) {
		return Quote(text), nil
	}
	return text, nil
}

// isQuoted reports whether a TXT value is presentation format.
func isQuoted(value string) bool {
	return strings.HasPrefix(strings.TrimLeft(value, space), `"`)
}

// parseStrings reads quoted character-strings separated by white space (RFC
// 1035, section 5.1). It does not hold a string to 255 octets, as the text is
// split anew where it is sent.
func parseStrings(s string) ([]string, error) {
	var parts []string
	for rest := strings.TrimLeft(s, space); rest != ""; {
		if rest[0] != '"' {
			return nil, fmt.Errorf("text outside quotes at position %d; expected every string in double quotes, and a quote inside one as \\\"", len(s)-len(rest)+1)
		}
		part, after, err := parseString(rest)
		if err != nil {
			return nil, fmt.Errorf("%w in the string at position %d", err, len(s)-len(rest)+1)
		}
		parts = append(parts, part)
		rest = strings.TrimLeft(after, space)
		if after != "" && after[0] == '"' {
			return nil, fmt.Errorf("no space between quoted strings at position %d; expected one, or \\\" for a quote inside a string", len(s)-len(after)+1)
		}
	}
	return parts, nil
}

// parseString reads the quoted string at the start of s.
func parseString(s string) (text, rest string, err error) {
	var b strings.Builder
	for s = s[1:]; s != ""; {
		if s[0] == '"' {
			return b.String(), s[1:], nil
		}
		c, after, err := unescape(s)
		if err != nil {
			return "", "", err
		}
		b.WriteByte(c)
		s = after
	}
	return "", "", errors.New("unbalanced quotes: no closing quote")
}

// unescape reads one octet, plain or escaped, at the start of s.
func unescape(s string) (c byte, rest string, err error) {
	if s[0] != '\\' {
		return s[0], s[1:], nil
	}
	if len(s) == 1 {
		return 0, "", errors.New("backslash with nothing to escape")
	}
	switch c := s[1]; {
	case isDigit(c):
		if len(s) < 4 || !isDigit(s[2]) || !isDigit(s[3]) {
			return 0, "", errors.New(`incomplete \DDD escape; expected three digits`)
		}
		n := int(s[1]-'0')*100 + int(s[2]-'0')*10 + int(s[3]-'0')
		if n > 255 {
			return 0, "", fmt.Errorf(`escape \%d is not an octet; expected \000 to \255`, n)
		}
		return byte(n), s[4:], nil
	case c > ' ' && c < 0x7f && notAlphanumeric(rune(c)):
		// Zone files escape more than they need to, such as the semicolon.
		return c, s[2:], nil
	default:
		// RFC 1035 would take \n as a plain n, which nobody means who writes it.
		return 0, "", errors.New(`unknown escape; expected \", \\ or \DDD`)
	}
}

// checkText refuses what neither people nor mail software expect in a text.
func checkText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("text must be valid UTF-8")
	}
	if i := strings.IndexFunc(s, unicode.IsControl); i >= 0 {
		c, _ := utf8.DecodeRuneInString(s[i:])
		if c == '\n' || c == '\r' {
			return errors.New("text must not contain a line break")
		}
		return fmt.Errorf("text must not contain the control character %U", c)
	}
	return nil
}

func isDigit(c byte) bool {
	return '0' <= c && c <= '9'
}
