package dnsrecord

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestParseKey(t *testing.T) {
	t.Parallel()
	if got := (model{ID: types.StringValue("17")}).String(); got != "DNS record 17" {
		t.Errorf("a record of which only the id is known is a %q", got)
	}
	for in, want := range map[string]recordKey{
		"example.com/TXT/@":                              {"example.com", "TXT", "@", ""},
		"example.com/txt/@/":                             {"example.com", "TXT", "@", ""},
		"example.com/CAA/@/0 issue \"https://ca/a\"":     {"example.com", "CAA", "@", "0 issue \"https://ca/a\""},
		"7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e/A/www/1.1": {"7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e", "A", "www", "1.1"},
	} {
		if got, err := parseKey(in); got != want || err != nil {
			t.Errorf("parseKey(%q) = %+v, %v; want %+v", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"www.example.com": "expected <domain>/<type>/<name>", "example.com/www/A": "unsupported record type", "": "expected",
	} {
		if _, err := parseKey(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseKey(%q): %v; want %q", in, err, want)
		}
	}
}
