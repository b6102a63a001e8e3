package dnsdata

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxRDATA is the longest RDATA, because its length is a 16-bit field (RFC 1035, section
	// 3.2.1).
	maxRDATA = 65535
	// space separates character-strings in presentation format.
	space = " \t\r\n"
)

// Text returns the text of a TXT record's value. A value that begins with a double quote is in
// presentation format; Text joins its strings.
func Text(value string) (string, error) {
	text := value
	if isQuoted(value) {
		var err error
		if text, err = Unquote(value); err != nil {
			return "", fmt.Errorf("value of TXT: %w", err)
		}
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

// Unquote returns the octets of a TXT record in presentation format, the inverse of Quote. Records
// of other services may contain octets that Text refuses.
func Unquote(value string) (string, error) {
	parts, err := parseStrings(value)
	return strings.Join(parts, ""), err
}

// normalizeTXT returns the text of a TXT record, or its presentation format if the text begins with
// a quote, or if it is not in normalization form C, which Terraform would convert it to.
func normalizeTXT(value string) (string, error) {
	text, err := Text(value)
	if err != nil {
		return "", err
	}
	if isQuoted(text) || !norm.NFC.IsNormalString(text) {
		return Quote(text), nil
	}
	return text, nil
}

// isQuoted reports whether a TXT value is in presentation format.
func isQuoted(value string) bool {
	return strings.HasPrefix(strings.TrimLeft(value, space), `"`)
}

var (
	// escape matches an escaped octet. Zone files may escape any punctuation, such as the
	// semicolon. \n is not supported: in RFC 1035 it is a plain n, which a user never means.
	escape = regexp.MustCompile(`\\(?:[01][0-9]{2}|2[0-4][0-9]|25[0-5]|[[:punct:]])`)
	// quoted matches a character-string and the white space after it.
	quoted = regexp.MustCompile(`^"((?:[^"\\]|` + escape.String() + `)*)"(?:[ \t\r\n]+|$)`)
)

// parseStrings parses quoted character-strings separated by white space (RFC 1035, section 5.1).
// They may be of any length, because the text is split again when it is sent.
func parseStrings(s string) ([]string, error) {
	var parts []string
	for rest := strings.TrimLeft(s, space); rest != ""; {
		m := quoted.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf(`the text from position %d is no string in double quotes, with \" for a quote, \\ for a backslash and \DDD for an octet; separate strings by spaces`, len(s)-len(rest)+1)
		}
		parts = append(parts, escape.ReplaceAllStringFunc(m[1], unescape))
		rest = rest[len(m[0]):]
	}
	return parts, nil
}

func unescape(escaped string) string {
	if n, err := strconv.ParseUint(escaped[1:], 10, 8); err == nil {
		return string([]byte{byte(n)})
	}
	return escaped[1:]
}

// checkText returns an error for text that mail software may not expect.
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

// maxString is the longest character-string (RFC 1035, section 3.3).
const maxString = 255

// Chunks splits a text into the character-strings of a TXT record (RFC 1035, section 3.3), of at
// most 255 octets each, between characters. An empty text is one empty string.
func Chunks(text string) []string {
	chunks := make([]string, 0, len(text)/maxString+1)
	for len(text) > maxString {
		n := chunkLen(text)
		chunks = append(chunks, text[:n])
		text = text[n:]
	}
	return append(chunks, text)
}

// Quote returns the presentation format of a text (RFC 1035, section 5.1): its Chunks in double
// quotes. A backslash escapes quotes and backslashes, and octets other than printable ASCII are
// written as \DDD.
func Quote(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/maxString*3 + 2)
	for i, chunk := range Chunks(text) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('"')
		for j := range len(chunk) {
			switch c := chunk[j]; {
			case c == '"' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c < ' ' || c > '~':
				fmt.Fprintf(&b, "\\%03d", c)
			default:
				b.WriteByte(c)
			}
		}
		b.WriteByte('"')
	}
	return b.String()
}

// chunkLen returns the length of the first chunk of a text of more than 255 octets.
func chunkLen(text string) int {
	// Invalid UTF-8 may contain no start of a sequence.
	for n := maxString; n > maxString-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return maxString
}

// rdataLen returns the length of a text as the RDATA of a TXT record: each string adds a length
// octet.
func rdataLen(text string) int { return len(text) + len(Chunks(text)) }
