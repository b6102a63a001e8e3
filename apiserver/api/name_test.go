package api

import (
	"regexp"
	"testing"
	"unicode"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// TestNamePattern checks that the document's pattern accepts each name that CheckName does, and
// refuses control characters.
func TestNamePattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(NamePattern)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if 0xd800 <= r && r <= 0xdfff {
			continue
		}
		for _, s := range []string{string(r), "a" + string(r), string(r) + "\u200b", string(r) + "b"} {
			if matches, valid := pattern.MatchString(s), text.CheckName(s) == nil; valid && !matches || matches == unicode.IsControl(r) {
				t.Errorf("%+q: the pattern accepts: %t, CheckName accepts: %t", s, matches, valid)
			}
		}
	}
}
