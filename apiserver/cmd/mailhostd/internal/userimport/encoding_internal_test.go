package userimport

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	const want = "Zoë\n"
	for name, tc := range map[string]struct{ data, named, encoding string }{
		"UTF-8":                      {"Zoë\n", "", "UTF-8"},
		"UTF-16 of Excel":            {"\xff\xfeZ\x00o\x00\xeb\x00\n\x00", "", "UTF-16"},
		"UTF-16, big end first":      {"\xfe\xff\x00Z\x00o\x00\xeb\x00\n", "", "UTF-16"},
		"the ANSI file of Excel":     {"Zo\xeb\n", "windows-1252", "windows-1252"},
		"the same in another form":   {"Zo\xeb\n", "CP1252", "windows-1252"},
		"a Mac":                      {"Zo\x91\n", "macintosh", "macintosh"},
		"UTF-16 with a named coding": {"\xff\xfeZ\x00o\x00\xeb\x00\n\x00", "windows-1252", "UTF-16"},
	} {
		text, encoding, err := Command{Encoding: tc.named}.decode([]byte(tc.data))
		assert.Check(t, err == nil && text == want && encoding == tc.encoding, "%s: %q in %s, %v; want %q in %s", name, text, encoding, err, want, tc.encoding)
	}
	_, _, err := Command{File: "a.csv"}.decode([]byte("a\nb\nZo\xeb\n"))
	assert.ErrorContains(t, err, "a.csv, line 3: the text is not in UTF-8; save the file")
	for _, named := range []string{"utf-8", "shift_jis"} {
		_, _, err = Command{File: "a.csv", Encoding: named}.decode([]byte("a\nb\nZo\xeb\n"))
		assert.ErrorContains(t, err, "a.csv, line 3: the text is not in "+named)
	}
	_, _, err = Command{Encoding: "utf-7"}.decode([]byte("a"))
	assert.Check(t, err != nil, "an unknown encoding is no error")
}
