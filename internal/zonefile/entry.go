package zonefile

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// entry is a record or a directive of a zone file. Parentheses continue it on further lines.
type entry struct {
	// line is the number of its first line.
	line int
	// omitsName reports whether the first line begins with a blank.
	omitsName bool
	fields    []field
	// comments contains the comments of all its lines.
	comments []string
	err      error
}

// field is a field of an entry, with its escapes and without its quotes.
type field struct {
	text     string
	isQuoted bool
}

var (
	errQuote       = errors.New("a double quote is not closed on its line")
	errParenthesis = errors.New("an opening parenthesis is not closed")
	errEscape      = errors.New(`a backslash before a digit begins an octet in decimal, from \000 to \255; write the character itself, or \\ for a backslash`)
	errClosing     = errors.New("a closing parenthesis was not opened")
)

// split returns the entries of a zone file (RFC 1035, section 5.1).
func split(text string) []entry {
	var all []entry
	e, line, depth := entry{line: 1}, 1, 0
	end := func() {
		for _, f := range e.fields {
			for _, escaped := range escape.FindAllString(f.text, -1) {
				if digit := escaped[1]; digit >= '0' && digit <= '9' && len(escaped) < len(`\DDD`) {
					e.err = errEscape
				}
			}
		}
		if depth > 0 {
			e.err = errParenthesis
		}
		if len(e.fields) > 0 || e.err != nil {
			all = append(all, e)
		}
		e = entry{line: line}
	}
	for i := 0; i < len(text); {
		n := 1
		switch c := text[i]; c {
		case '\n':
			line++
			if depth == 0 {
				end()
			}
		case ' ', '\t', '\r':
			e.omitsName = e.omitsName || len(e.fields) == 0 && depth == 0
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				e.err, depth = errClosing, 0
			}
		case ';':
			n = lengthOf(text[i:], "\n")
			e.comments = append(e.comments, text[i:i+n])
		case '"':
			n = 1 + lengthOf(text[i+1:], "\"\n")
			e.fields = append(e.fields, field{text[i+1 : i+n], true})
			if i+n < len(text) && text[i+n] == '"' {
				n++
			} else {
				e.err = errQuote
			}
		default:
			n = lengthOf(text[i:], " \t\r\n();\"")
			e.fields = append(e.fields, field{text[i : i+n], false})
		}
		i += n
	}
	end()
	return all
}

// lengthOf returns the length of the text before the first of the ending characters. A backslash escapes
// every character but a line feed.
func lengthOf(text, ending string) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case strings.IndexByte(ending, c) >= 0:
			return i
		case c == '\\' && i+1 < len(text) && text[i+1] != '\n' && ending != "\n":
			i++
		}
	}
	return len(text)
}

// escape matches an escaped octet or character (RFC 1035, section 5.1).
var escape = regexp.MustCompile(`\\(?:[01][0-9]{2}|2[0-4][0-9]|25[0-5]|.)`)

// unescape decodes the escapes of a field.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(escaped string) string {
		if octet, err := strconv.ParseUint(escaped[1:], 10, 8); err == nil && len(escaped) == len(`\DDD`) {
			return string([]byte{byte(octet)})
		}
		return escaped[1:]
	})
}

// unescapeName decodes the escapes of a domain name, except of a dot or an @, which have another meaning
// without the backslash.
func unescapeName(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(escaped string) string {
		if c := unescape(escaped); c != "." && c != "@" {
			return c
		}
		return escaped
	})
}

// String returns the field as in the file.
func (f field) String() string {
	if f.isQuoted {
		return `"` + f.text + `"`
	}
	return f.text
}

// textOf returns fields as in the file, separated by blanks.
func textOf(fields []field) string {
	words := make([]string, len(fields))
	for i, f := range fields {
		words[i] = f.String()
	}
	return strings.Join(words, " ")
}
