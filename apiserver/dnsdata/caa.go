package dnsdata

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// normalizeCAA returns the presentation format of RFC 8659, section 4.1.1.
func normalizeCAA(value string) (string, error) {
	const form = `expected flags, tag and value, such as 0 issue "ca.example.net"`
	flagsField, rest := cutField(value)
	tag, rest := cutField(rest)
	if rest == "" {
		return "", errors.New("value of CAA must have three fields; " + form)
	}
	flags, err := strconv.ParseUint(flagsField, 10, 8)
	if err != nil {
		return "", errors.New("flags of CAA must be a number from 0 to 255; " + form)
	}
	if len(tag) > maxString || strings.ContainsFunc(tag, notAlphanumeric) {
		return "", fmt.Errorf("tag of CAA must be 1 to %d ASCII letters and digits, such as issue, issuewild or iodef", maxString)
	}
	text, err := parseCAAValue(rest)
	if err != nil {
		return "", fmt.Errorf("property value of CAA: %w", err)
	}
	if err := checkText(text); err != nil {
		return "", fmt.Errorf("property value of CAA: %w", err)
	}
	// The wire format allows more, but the presentation format is one character-string.
	if len(text) > maxString {
		return "", fmt.Errorf("property value of CAA must not be longer than %d octets", maxString)
	}
	return fmt.Sprintf("%d %s %s", flags, strings.ToLower(tag), Quote(text)), nil
}

// parseCAAValue reads a single character-string, quoted or not.
func parseCAAValue(s string) (string, error) {
	switch {
	case s[0] == '"':
	case strings.ContainsAny(s, space):
		return "", errors.New("a value with spaces must be quoted")
	case strings.Contains(s, `"`):
		return "", errors.New("unbalanced quotes: the value contains a double quote but does not begin with one")
	default:
		s = `"` + s + `"`
	}
	parts, err := parseStrings(s)
	if err == nil && len(parts) != 1 {
		err = errors.New("expected one quoted string")
	}
	return strings.Join(parts, ""), err
}

// cutField returns the first field of s and the rest after white space.
func cutField(s string) (field, rest string) {
	i := strings.IndexAny(s, space)
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], space)
}

func notAlphanumeric(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9')
}
