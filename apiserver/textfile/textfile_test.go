package textfile_test

import (
	"errors"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/textfile"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	const want = "Zoë\nü\n"
	for name, tc := range map[string]struct {
		data     string
		fallback encoding.Encoding
		detected string
	}{
		"UTF-8":                           {"Zoë\nü\n", nil, textfile.UTF8},
		"UTF-8 of Excel":                  {"\ufeffZoë\r\nü\r\n", nil, textfile.UTF8},
		"two byte order marks":            {"\ufeff\ufeffZoë\nü\n", nil, textfile.UTF8},
		"a byte order mark and a default": {"\ufeffZoë\nü\n", charmap.Windows1252, textfile.UTF8},
		"an old Mac's line ends":          {"Zoë\rü\r", nil, textfile.UTF8},
		"UTF-16 of Excel":                 {"\xff\xfeZ\x00o\x00\xeb\x00\r\x00\n\x00\xfc\x00\n\x00", nil, textfile.UTF16},
		"UTF-16, big end first":           {"\xfe\xff\x00Z\x00o\x00\xeb\x00\n\x00\xfc\x00\n", charmap.Windows1252, textfile.UTF16},
		"UTF-16 without a mark":           {"Z\x00o\x00\xeb\x00\n\x00\xfc\x00\n\x00", nil, textfile.UTF16},
		"the same, big end first":         {"\x00Z\x00o\x00\xeb\x00\n\x00\xfc\x00\n", nil, textfile.UTF16},
		"ANSI":                            {"Zo\xeb\n\xfc\n", charmap.Windows1252, ""},
		"a Mac":                           {"Zo\x91\n\x9f\n", charmap.Macintosh, ""},
	} {
		text, detected, err := textfile.Decode([]byte(tc.data), tc.fallback)
		assert.Check(t, err == nil && text == want && detected == tc.detected, "%s: %q in %q, %v; want %q in %q", name, text, detected, err, want, tc.detected)
		assert.Equal(t, textfile.Normalize(text), text)
	}
	_, _, err := textfile.Decode([]byte("a\nb\nZo\xeb\n"), nil)
	broken, ok := errors.AsType[*textfile.EncodingError](err)
	assert.Check(t, ok && broken.Line == 3, "error = %v", err)
	text, _, err := textfile.Decode([]byte("a \ufffd b"), nil)
	assert.Check(t, err == nil && text == "a \ufffd b", "the replacement character in UTF-8: %q, %v", text, err)
	for data, want := range map[string]error{"PK\x03\x04...": textfile.ErrWorkbook, "\xd0\xcf\x11\xe0": textfile.ErrWorkbook, "ab\x00c": textfile.ErrBinary} {
		_, _, err := textfile.Decode([]byte(data), nil)
		assert.Check(t, errors.Is(err, want), "%q: %v; want %v", data, err, want)
	}
}
