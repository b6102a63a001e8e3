// Package textfile decodes text files that other programs have written: UTF-8, UTF-16 as
// spreadsheets write it, and the code pages of older ones.
package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// ErrWorkbook reports a file in a spreadsheet's own format.
var ErrWorkbook = errors.New("is a workbook, not a CSV file")

// ErrNotUTF8 is wrapped by the error of a file whose encoding can't be recognized.
var ErrNotUTF8 = errors.New("the text is not in UTF-8")

// Decode returns the text of a file, and the name of its encoding. The named encoding is
// for a file without a byte order mark that is not in UTF-8: a code page with one byte for
// each character, such as windows-1252. Empty: such a file is an error.
func Decode(data []byte, named string) (text, encoding string, err error) {
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte{0xd0, 0xcf, 0x11, 0xe0}): // .xlsx and .ods, .xls
		return "", "", ErrWorkbook
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		decoded, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(data)
		return string(decoded), "UTF-16", err
	case named != "":
		page, err := codePage(named)
		if err != nil {
			return "", "", err
		}
		decoded, err := page.NewDecoder().Bytes(data)
		return string(decoded), page.String(), err
	case !utf8.Valid(data):
		return "", "", fmt.Errorf("line %d: %w", 1+bytes.Count(data[:bytes.IndexRune(data, utf8.RuneError)], []byte("\n")), ErrNotUTF8)
	}
	return string(data), "UTF-8", nil
}

// codePage returns the encoding of a name such as windows-1252, ibm850 or macintosh.
func codePage(named string) (*charmap.Charmap, error) {
	simple := func(s string) string {
		return strings.NewReplacer("code page", "", "cp125", "windows125", " ", "", "-", "", "_", "").Replace(strings.ToLower(s))
	}
	for _, e := range charmap.All {
		if page, ok := e.(*charmap.Charmap); ok && simple(page.String()) == simple(named) {
			return page, nil
		}
	}
	return nil, fmt.Errorf("the encoding %.40q is unknown; use a name such as windows-1252, iso-8859-2 or macintosh, or save the file as UTF-8", named)
}
