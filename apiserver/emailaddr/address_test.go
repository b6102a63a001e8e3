package emailaddr

import (
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

var (
	local64   = strings.Repeat("a", 64)
	label63   = strings.Repeat("b", 63)
	domain189 = label63 + "." + label63 + "." + strings.Repeat("c", 57) + ".com"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   string
		want Address
	}{
		"plain":           {"jane@example.com", Address{"jane", "example.com"}},
		"upper case":      {"Jane.Doe@Example.COM", Address{"jane.doe", "example.com"}},
		"plus tag":        {"jane+news@example.com", Address{"jane+news", "example.com"}},
		"every special":   {"!#$%&'*+-/=?^_`{|}~@example.com", Address{"!#$%&'*+-/=?^_`{|}~", "example.com"}},
		"IDN":             {"jane@Bücher.example", Address{"jane", "xn--bcher-kva.example"}},
		"longest local":   {local64 + "@example.com", Address{local64, "example.com"}},
		"longest address": {local64 + "@" + domain189, Address{local64, domain189}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(tt.in)
			assert.NilError(t, err, "Parse(%q)", tt.in)
			assert.Check(t, is.DeepEqual(got, tt.want), "Parse(%q)", tt.in)
			again, err := Normalize(got.String())
			assert.Check(t, err == nil && again == got.String(), "Normalize(%q) = %q, %v; want it unchanged", got, again, err)
		})
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in, want string // want is a part of the message
	}{
		"empty":           {"", "must not be empty"},
		"no at":           {"jane.example.com", "must contain an @"},
		"no local part":   {"@example.com", "local part must not be empty"},
		"no domain":       {"jane@", "invalid domain: name must not be empty"},
		"two ats":         {"jane@home@example.com", "local part must not contain '@'"},
		"display name":    {"Jane <jane@example.com>", "display name"},
		"quoted":          {`"jane doe"@example.com`, "must not contain '\"'"},
		"comment":         {"jane(home)@example.com", "must not contain '('"},
		"space":           {"jane doe@example.com", "must not contain ' '"},
		"newline":         {"jane@example.com\n", `must not contain '\n'`},
		"leading dot":     {".jane@example.com", "begin or end with a dot"},
		"trailing dot":    {"jane.@example.com", "begin or end with a dot"},
		"doubled dot":     {"jane..doe@example.com", "two dots in a row"},
		"non-ASCII":       {"jürgen@example.com", "must not contain 'ü'; only ASCII letters, digits and"},
		"long local":      {local64 + "a@example.com", "64 characters"},
		"long address":    {local64 + "@" + domain189[:1] + domain189, "63 characters"},
		"long in all":     {local64 + "@a." + domain189, "254 characters"},
		"address literal": {"jane@[192.0.2.1]", "must not contain '['"},
		"long echo":       {"jane@" + strings.Repeat("x", 3000) + ".com", "…"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(tt.in)
			assert.Assert(t, err != nil, "Parse(%q) = %q; want an error", tt.in, got)
			assert.Check(t, got == (Address{}), "Parse(%q) = %q with an error; want the zero Address", tt.in, got)
			assert.Check(t, strings.Contains(err.Error(), tt.want), "Parse(%q): %v; want %q in it", tt.in, err, tt.want)
			assert.Check(t, len(err.Error()) <= 200, "message of %d bytes: %v", len(err.Error()), err)
			s, err := Normalize(tt.in)
			assert.Check(t, err != nil && s == "", "Normalize(%q) = %q, %v; want an error", tt.in, s, err)
		})
	}
}

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
