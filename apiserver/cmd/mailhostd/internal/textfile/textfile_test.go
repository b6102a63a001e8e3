package textfile_test

import (
	"errors"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/textfile"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	const want = "Zoë\n"
	for name, tc := range map[string]struct{ data, named, encoding string }{
		"UTF-8":                      {"Zoë\n", "", "UTF-8"},
		"UTF-16 of Excel":            {"\xff\xfeZ\x00o\x00\xeb\x00\n\x00", "", "UTF-16"},
		"UTF-16, big end first":      {"\xfe\xff\x00Z\x00o\x00\xeb\x00\n", "", "UTF-16"},
		"the ANSI file of Excel":     {"Zo\xeb\n", "windows-1252", "Windows 1252"},
		"the same in another form":   {"Zo\xeb\n", "CP1252", "Windows 1252"},
		"a Mac":                      {"Zo\x91\n", "macintosh", "Macintosh"},
		"DOS":                        {"Zo\x89\n", "ibm850", "IBM Code Page 850"},
		"UTF-16 with a named coding": {"\xff\xfeZ\x00o\x00\xeb\x00\n\x00", "windows-1252", "UTF-16"},
	} {
		text, encoding, err := textfile.Decode([]byte(tc.data), tc.named)
		assert.Check(t, err == nil && text == want && encoding == tc.encoding, "%s: %q in %s, %v; want %q in %s", name, text, encoding, err, want, tc.encoding)
	}
	_, _, err := textfile.Decode([]byte("a\nb\nZo\xeb\n"), "")
	assert.Check(t, errors.Is(err, textfile.ErrNotUTF8) && err.Error() == "line 3: the text is not in UTF-8", "a code page without its name: %v", err)
	_, _, err = textfile.Decode([]byte("a"), "utf-7")
	assert.Check(t, err != nil, "an unknown encoding is no error")
}
