package dnsdata

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

var (
	// longestASCII fills the RDATA: 255 strings of 255 octets and one of 254, each with
	// a length octet, are 65535 octets.
	longestASCII = strings.Repeat("a", 255*255+254)
	// longestUmlauts fills the RDATA too: 257 strings of 254 octets.
	longestUmlauts = strings.Repeat("ü", 257*127)
)

func TestChunks(t *testing.T) {
	t.Parallel()
	a255 := strings.Repeat("a", 255)
	tests := map[string]struct {
		in   string
		want []int // lengths of the chunks
	}{
		"empty":               {"", []int{0}},
		"short":               {"a", []int{1}},
		"full":                {a255, []int{255}},
		"one more":            {a255 + "a", []int{255, 1}},
		"two full":            {a255 + a255, []int{255, 255}},
		"two octets across":   {a255[1:] + "ü", []int{254, 2}},
		"three octets across": {a255[2:] + "€", []int{253, 3}},
		"four octets across":  {a255[3:] + "👋", []int{252, 4}},
		"four octets fit":     {a255[4:] + "👋", []int{255}},
		"not UTF-8":           {a255[10:] + strings.Repeat("\x80", 20), []int{255, 10}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Chunks(tt.in)
			assert.Check(t, strings.Join(got, "") == tt.in, "joined chunks differ from the text")
			assert.Assert(t, len(got) == len(tt.want), "%d chunks; want %d", len(got), len(tt.want))
			for i, chunk := range got {
				assert.Check(t, len(chunk) == tt.want[i], "chunk %d has %d octets; want %d", i, len(chunk), tt.want[i])
			}
		})
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in, want string
	}{
		"empty":     {"", `""`},
		"plain":     {"v=spf1 -all", `"v=spf1 -all"`},
		"escapes":   {`a"b\c`, `"a\"b\\c"`},
		"non-ASCII": {"ü", `"\195\188"`},
		"control":   {"a\n\x7f", `"a\010\127"`},
		"two":       {strings.Repeat("a", 256), `"` + strings.Repeat("a", 255) + `" "a"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Check(t, is.Equal(Quote(tt.in), tt.want), "Quote(%q)", tt.in)
			got, err := Unquote(tt.want)
			assert.Check(t, err == nil && got == tt.in, "Unquote(%q) = %q, %v", tt.want, got, err)
		})
	}
}

func TestNormalizeType(t *testing.T) {
	t.Parallel()
	for _, want := range Types() {
		for _, in := range []string{want, strings.ToLower(want), want[:1] + strings.ToLower(want[1:])} {
			got, err := NormalizeType(in)
			assert.Check(t, err == nil && got == want, "NormalizeType(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", " A", "A ", "PTR", "SOA", "ANY", "\u017frv", "n\u017f", "AA", strings.Repeat("A", 1000)} {
		got, err := NormalizeType(in)
		if err == nil || got != "" {
			t.Errorf("NormalizeType(%q) = %q; want an error", in, got)
		} else if msg := err.Error(); !strings.Contains(msg, "A, AAAA, CAA, CNAME, MX, NS, SRV, TXT") || len(msg) > 120 {
			t.Errorf("NormalizeType(%q): %v", in, err)
		}
	}
}

func TestTypeNeedsPriority(t *testing.T) {
	t.Parallel()
	for _, rrType := range append(Types(), "mx", "Srv", "txt", "PTR", "") {
		want := slices.Contains([]string{"MX", "SRV"}, strings.ToUpper(rrType))
		got := TypeNeedsPriority(rrType)
		assert.Check(t, got == want, "TypeNeedsPriority(%q) = %t; want %t", rrType, got, want)
	}
}
