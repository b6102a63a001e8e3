package account

import (
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// TestExclusion checks in both orders which records at one name exclude each other.
func TestExclusion(t *testing.T) {
	record := func(typ, value string) store.DNSRecord { return store.DNSRecord{Type: typ, Value: value} }
	system := func(typ, value string) store.DNSRecord {
		return store.DNSRecord{Type: typ, Value: value, SystemManaged: true}
	}
	mx := func(value string, priority int64) store.DNSRecord {
		return store.DNSRecord{Type: "MX", Value: value, Priority: &priority}
	}
	for _, tt := range []struct {
		a, b store.DNSRecord
		want string // a part of the rule
	}{
		{record("CNAME", "a.example"), record("TXT", "a.example"), "CNAME"},
		{record("CNAME", "a.example"), record("CNAME", "b.example"), "CNAME"},
		{record("CNAME", "a.example"), record("CNAME", "a.example"), ""},
		{record("A", "192.0.2.1"), record("A", "192.0.2.2"), ""},
		{record("A", "192.0.2.1"), record("AAAA", "2001:db8::1"), ""},
		{mx("mx.example", 1), mx(".", 0), "null MX"},
		{mx(".", 0), mx(".", 1), "null MX"},
		{mx("mx.example", 1), mx("mx.example", 2), ""},
		{record("TXT", "v=spf1 -all"), record("TXT", "v=spf1 mx -all"), "at most one spf record"},
		{record("TXT", "v=DMARC1; p=none"), record("TXT", "v=DMARC1; p=reject"), "at most one dmarc record"},
		{record("TXT", "v=spf1 -all"), record("TXT", "hello"), ""},
		{record("TXT", "v=spf1 -all"), system("TXT", "v=spf1 mx -all"), ""},
		{system("MX", "mx.host.example"), mx(".", 0), ""},
		{system("TXT", "v=DKIM1; p=x"), record("TXT", "v=DKIM1; p=y"), "two DKIM keys"},
		{record("TXT", "v=DKIM1; p=x"), record("TXT", "v=DKIM1; p=y"), ""},
		{system("TXT", "v=DKIM1; p=x"), record("MX", "mx.example"), ""},
	} {
		for _, got := range []string{exclusion(tt.a, tt.b), exclusion(tt.b, tt.a)} {
			if (got == "") != (tt.want == "") || !strings.Contains(strings.ToLower(got), strings.ToLower(tt.want)) {
				t.Errorf("%s %s beside %s %s: %q, want %q", tt.a.Type, tt.a.Value, tt.b.Type, tt.b.Value, got, tt.want)
			}
		}
	}
}
