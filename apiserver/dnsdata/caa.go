package dnsdata

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// caaValue matches flags, tag and value.
var caaValue = regexp.MustCompile(`(?s)^([0-9]+)[ \t\r\n]+([A-Za-z0-9]{1,255})[ \t\r\n]+(.+)$`)

// normalizeCAA returns the presentation format of RFC 8659, section 4.1.1.
func normalizeCAA(value string) (string, error) {
	m := caaValue.FindStringSubmatch(value)
	if m == nil {
		return "", errors.New(`value of CAA must be flags, tag and value, such as 0 issue "ca.example.net"`)
	}
	flags, err := strconv.ParseUint(m[1], 10, 8)
	if err != nil {
		return "", errors.New("flags of CAA must be a number from 0 to 255")
	}
	property := m[3]
	if !strings.ContainsAny(property, space+`"`) {
		property = `"` + property + `"`
	}
	parts, err := parseStrings(property)
	text := strings.Join(parts, "")
	switch {
	case err != nil:
	case len(parts) != 1:
		err = errors.New("expected one quoted string")
	case len(text) > maxString:
		// The wire format allows more, but the presentation format is one character-string.
		err = fmt.Errorf("it must not be longer than %d octets", maxString)
	default:
		err = checkText(text)
	}
	if err != nil {
		return "", fmt.Errorf("property value of CAA: %w", err)
	}
	return fmt.Sprintf("%d %s %s", flags, strings.ToLower(m[2]), Quote(text)), nil
}
