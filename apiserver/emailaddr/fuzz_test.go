package emailaddr

import (
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// addrSpec is the grammar of RFC 5321 without the parts that this package rejects,
// independent of the code.
var addrSpec = regexp.MustCompile("^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*" +
	`@[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "@", "jane@example.com", "O'Brien+x@Bücher.example.", "<a@b.c>", `"a b"@example.com`, "a..b@example.com",
		".a@b.example", "a@[192.0.2.1]", "a@192.0.2.1", "jürgen@example.com", "a@b@c.example", "a@例え。jp",
		local64 + "@" + domain189, "\u212a@example.com", "a@\u212a.example", "!#$%&'*+-/=?^_`{|}~@example.com",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Parse(s)
		if err != nil {
			assert.Check(t, a == (Address{}), "%q with an error", a)
			return
		}
		canonical := a.String()
		b, err := Parse(canonical)
		assert.Check(t, err == nil && a == b, "%q became %q, then %q, %v", s, canonical, b, err)
		assert.Check(t, len(canonical) <= maxAddress, "%q became %d octets", s, len(canonical))
		assert.Check(t, addrSpec.MatchString(canonical), "%q became %q, which does not match the grammar", s, canonical)
	})
}

func FuzzParseLocalPart(f *testing.F) {
	for _, s := range []string{"", "jane", "Jane.Doe", "a..b", ".", "o'brien", "jürgen", local64, "\u017f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseLocalPart(s)
		if err != nil {
			return
		}
		again, err := ParseLocalPart(got)
		assert.Check(t, err == nil && again == got, "%q became %q, then %q, %v", s, got, again, err)
		assert.Check(t, strings.EqualFold(s, got), "%q became %q, which differs in more than case", s, got)
		a, err := Parse(s + "@example.com")
		assert.Check(t, err == nil && a.Local == got, "%q is a local part, but Parse returns %q, %v", s, a, err)
	})
}
