package dnsdata

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxString is the longest character-string (RFC 1035, section 3.3).
const maxString = 255

// Chunks splits a text into the character-strings of a TXT record (RFC 1035,
// section 3.3), of at most 255 octets each. It splits no UTF-8 sequence, so that
// every chunk of a valid text is valid by itself. An empty text is one empty
// string. The chunks joined are the text.
func Chunks(text string) []string {
	chunks := make([]string, 0, len(text)/maxString+1)
	for len(text) > maxString {
		n := chunkLen(text)
		chunks = append(chunks, text[:n])
		text = text[n:]
	}
	return append(chunks, text)
}

// Quote returns the presentation format of a text (RFC 1035, section 5.1): each
// of its Chunks in double quotes, separated by a space. Quotes and backslashes
// are escaped by a backslash, and octets other than printable ASCII as \DDD, so
// that every zone file parser reads it.
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

// chunkLen returns the length of the first chunk of a text of more than 255
// octets.
func chunkLen(text string) int {
	// In invalid UTF-8 there may be no start of a sequence to go back to.
	for n := maxString; n > maxString-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return maxString
}

// rdataLen returns the length of a text as the RDATA of a TXT record.
func rdataLen(text string) int {
	n := len(text)
	for len(text) > maxString {
		n++
		text = text[chunkLen(text):]
	}
	return n + 1
}
