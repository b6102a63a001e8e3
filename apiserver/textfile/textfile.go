// Package textfile reads text files that people bring, such as lists of users, zone files and JSON,
// regardless of byte order mark, encoding and line ends. Every reader of such files uses it.
//
// Stability: none. The package is exported for other packages of this repository only.
package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// ErrWorkbook is the error for a spreadsheet's own file format.
var ErrWorkbook = errors.New("the file is a workbook, not text")

// ErrBinary is the error for a file with NUL characters.
var ErrBinary = errors.New("the file is not text")

// EncodingError reports text that is not in UTF-8, or not in the encoding that the caller chose.
type EncodingError struct {
	// Line is the line of the first undecodable bytes.
	Line int
}

func (e *EncodingError) Error() string {
	return fmt.Sprintf("line %d: the text is not in UTF-8", e.Line)
}

// The encodings that Decode detects.
const (
	UTF8  = "UTF-8"
	UTF16 = "UTF-16"
)

const byteOrderMark = "\ufeff"

// Decode returns the text of a file as [Normalize] does, and the name of its encoding: UTF8, UTF16
// with or without a byte order mark, or "" for fallback. The encoding of text that is not UTF-16 is
// fallback, or UTF-8 if fallback is nil. Errors are ErrWorkbook, ErrBinary and *EncodingError.
func Decode(data []byte, fallback encoding.Encoding) (text, detected string, err error) {
	switch order, isUTF16 := utf16Order(data); {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte{0xd0, 0xcf, 0x11, 0xe0}): // .xlsx and .ods, .xls
		return "", "", ErrWorkbook
	case isUTF16:
		detected, fallback = UTF16, unicode.UTF16(order, unicode.UseBOM)
	case fallback == nil || bytes.HasPrefix(data, []byte(byteOrderMark)):
		detected = UTF8
	}
	if detected != UTF8 {
		if data, err = fallback.NewDecoder().Bytes(data); err != nil {
			return "", "", err
		}
	}
	// Decoders replace bytes that they can't decode.
	if i := bytes.IndexRune(data, utf8.RuneError); i >= 0 && (detected != UTF8 || !utf8.Valid(data)) {
		return "", "", &EncodingError{1 + bytes.Count(data[:i], []byte("\n"))}
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", "", ErrBinary
	}
	return Normalize(string(data)), detected, nil
}

// utf16Order reports whether data is UTF-16. Without a byte order mark, the first character decides,
// which is ASCII in all files that we read.
func utf16Order(data []byte) (unicode.Endianness, bool) {
	switch {
	case len(data) < 2:
		return unicode.LittleEndian, false
	case data[0] == 0xff && data[1] == 0xfe, data[0] != 0 && data[1] == 0:
		return unicode.LittleEndian, true
	}
	return unicode.BigEndian, data[0] == 0xfe && data[1] == 0xff || data[0] == 0 && data[1] != 0
}

// Normalize returns text without byte order marks at its start, and with line feeds as line ends. It
// is idempotent. A carriage return alone ends a line only in a text without line feeds, such as one of
// an old Mac.
func Normalize(text string) string {
	text = strings.TrimLeft(text, byteOrderMark)
	if !strings.Contains(text, "\n") {
		return strings.ReplaceAll(text, "\r", "\n")
	}
	return strings.ReplaceAll(text, "\r\n", "\n")
}
