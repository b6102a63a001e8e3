package api

import (
	"regexp"
	"testing"
	"unicode"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// The pattern of the contract and the function that clients check with are the same
// rule.
func TestNamePattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(NamePattern)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if 0xd800 <= r && r <= 0xdfff {
			continue
		}
		for _, s := range []string{string(r), "a" + string(r), string(r) + "\u200b", string(r) + "b"} {
			if matches, valid := pattern.MatchString(s), text.CheckName(s) == nil; matches != valid {
				t.Errorf("%+q: the pattern says %t, CheckName %t", s, matches, valid)
			}
		}
	}
}
