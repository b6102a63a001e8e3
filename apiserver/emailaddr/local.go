package emailaddr

import (
	"errors"
	"fmt"
	"strings"
)

// atextSpecials are the characters besides letters and digits that an atom may
// have (RFC 5322, section 3.2.3).
const atextSpecials = "!#$%&'*+-/=?^_`{|}~"

// ParseLocalPart returns the canonical form of a local part, the part of an
// address before the at sign. RFC 5321, section 2.4, leaves its case to the host
// of the mailbox; this one ignores it and keeps lower case.
//
// It returns an error unless s is a Dot-string (RFC 5321, section 4.1.2) of 1 to
// 64 octets: ASCII letters, digits and !#$%&'*+-/=?^_`{|}~ with single dots
// between them. Quoted strings and the Unicode of RFC 6531 are refused.
func ParseLocalPart(s string) (string, error) {
	switch {
	case s == "":
		return "", errors.New("local part must not be empty; expected a name such as jane.doe")
	case len(s) > maxLocal:
		return "", fmt.Errorf("local part must not be longer than %d characters", maxLocal)
	}
	for _, c := range s {
		switch {
		case isAtext(c), c == '.':
		case c == '@':
			return "", errors.New("local part must not contain @")
		case c == ' ':
			return "", errors.New("local part must not contain a space")
		case c == '"':
			return "", errors.New("local part must not be quoted; expected a name such as jane.doe")
		default:
			return "", fmt.Errorf("local part must not contain %q; only ASCII letters, digits and %s are allowed, with single dots between them",
				c, atextSpecials)
		}
	}
	switch {
	case s[0] == '.' || s[len(s)-1] == '.':
		return "", errors.New("local part must not begin or end with a dot")
	case strings.Contains(s, ".."):
		return "", errors.New("local part must not contain two dots in a row")
	}
	return strings.ToLower(s), nil
}

func isAtext(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.ContainsRune(atextSpecials, c)
}
