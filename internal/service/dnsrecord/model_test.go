package dnsrecord

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestParseKey(t *testing.T) {
	t.Parallel()
	assert.Check(t, is.Equal((model{ID: types.StringValue("17")}).String(), "DNS record 17"), "a record of which only the id is known")
	for in, want := range map[string]recordKey{
		"example.com/TXT/@":                              {"example.com", "TXT", "@", ""},
		"example.com/txt/@/":                             {"example.com", "TXT", "@", ""},
		"example.com/CAA/@/0 issue \"https://ca/a\"":     {"example.com", "CAA", "@", "0 issue \"https://ca/a\""},
		"7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e/A/www/1.1": {"7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e", "A", "www", "1.1"},
	} {
		got, err := parseKey(in)
		assert.Check(t, got == want && err == nil, "parseKey(%q) = %+v, %v; want %+v", in, got, err, want)
	}
	for in, want := range map[string]string{
		"www.example.com": "expected <domain>/<type>/<name>", "example.com/www/A": "unsupported record type", "": "expected",
	} {
		_, err := parseKey(in)
		assert.Check(t, err != nil && strings.Contains(err.Error(), want), "parseKey(%q): %v; want %q", in, err, want)
	}
}
