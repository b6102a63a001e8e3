package dnsdata

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

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
