// Package textfile decodes text files that other programs have written: UTF-8, UTF-16 as
// spreadsheets write it, and the code pages of older ones.
package textfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
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
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return decodeUTF16(data[2:], binary.LittleEndian), "UTF-16", nil
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return decodeUTF16(data[2:], binary.BigEndian), "UTF-16", nil
	case named != "":
		page, err := codePage(named)
		if err != nil {
			return "", "", err
		}
		decoded, err := page.NewDecoder().Bytes(data)
		return string(decoded), page.String(), err
	case !utf8.Valid(data):
		return "", "", fmt.Errorf("line %d: %w", 1+bytes.Count(data[:firstInvalid(data)], []byte("\n")), ErrNotUTF8)
	}
	return string(data), "UTF-8", nil
}

// firstInvalid returns the position of the first byte that is not UTF-8.
func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(data)
}

func decodeUTF16(data []byte, order binary.ByteOrder) string {
	units := make([]uint16, 0, len(data)/2)
	for ; len(data) >= 2; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	return string(utf16.Decode(units))
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
