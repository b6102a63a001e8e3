package userimport

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

// decode returns the text of the file and the name of its encoding: UTF-8, UTF-16 as written by
// spreadsheets, or for a file without a byte order mark the configured one, such as windows-1252.
func (c Command) decode(data []byte) (text, encoding string, err error) {
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte{0xd0, 0xcf, 0x11, 0xe0}): // .xlsx and .ods, .xls
		return "", "", fmt.Errorf(`%s is a workbook, not a CSV file; open it in the spreadsheet and save it as "CSV UTF-8"`, c.File)
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		decoded, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(data)
		return string(decoded), "UTF-16", err
	case c.Encoding != "":
		named, err := htmlindex.Get(c.Encoding)
		if err != nil {
			return "", "", cli.UsageError("--encoding: %.40q is unknown; use a name such as windows-1252, iso-8859-2 or macintosh, or save the file as UTF-8", c.Encoding)
		}
		name, _ := htmlindex.Name(named) // the encoding is in the index
		decoded, err := named.NewDecoder().Bytes(data)
		if i := bytes.IndexRune(decoded, utf8.RuneError); i >= 0 { // stands for bytes that can't be decoded
			return "", "", fmt.Errorf("%s, line %d: the text is not in %s; choose another --encoding", c.File, lineAt(decoded, i), name)
		}
		return string(decoded), name, err
	case !utf8.Valid(data):
		line := lineAt(data, bytes.IndexRune(data, utf8.RuneError))
		return "", "", fmt.Errorf(`%s, line %d: the text is not in UTF-8; save the file as "CSV UTF-8", or name its encoding, for instance --encoding windows-1252`, c.File, line)
	}
	return string(data), "UTF-8", nil
}

func lineAt(text []byte, offset int) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }
