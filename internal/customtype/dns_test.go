package customtype

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

var longText = "v=DKIM1; k=rsa; p=" + strings.Repeat("MIIBIjANBgkqhkiG9w0B", 20)

var dnsValueExamples = examples{
	valid: []string{"192.0.2.1", "2001:db8::1", `0 issue "ca.example.net"`, "Host.Example.", "5 443 sip.example.com", ".", "v=spf1 -all", `"v=spf1 -all"`, " text", longText, dnsdata.Quote(longText)},
	// Invalid for every type, even for TXT.
	invalid: []string{"", `""`, `"unbalanced`, `"a" b`, "line\nbreak", "a\x00b", "\xff", strings.Repeat("a", 65536)},
	equal: [][2]string{
		{`"v=spf1 -all"`, "v=spf1 -all"},
		{`"v=spf1 " "-all"`, "v=spf1 -all"},
		{`  "v=spf1 -all"  `, "v=spf1 -all"},
		{dnsdata.Quote(longText), longText},
		{`"` + longText[:100] + `"` + "\n\t" + `"` + longText[100:] + `"`, dnsdata.Quote(longText)},
		{`"gr\195\188n\; \"a\" \\"`, `grün; "a" \`},
		{`"Grün"`, "Grün"},
		{`"example.com"`, "example.com"},
		// A text must not end in a line break, as a heredoc does.
		{"192.0.2.1\n", "192.0.2.1"},
		{"Host.Example.com.\n", "host.example.com"},
		{"2001:DB8:0::1\n", "2001:db8::1"},
	},
	unequal: [][2]string{
		// Equal for one type, but not as TXT.
		{"Host.Example.com", "host.example.com"},
		{"host.example.com.", "host.example.com"},
		{"bücher.example", "xn--bcher-kva.example"},
		{"2001:DB8::1", "2001:db8::1"},
		{" 192.0.2.1", "192.0.2.1"},
		{"192.0.2.1 ", "192.0.2.1"},
		{`0 issue ca.example.net`, `0 issue "ca.example.net"`},
		{"05 443 sip.example.com", "5 443 sip.example.com"},
		// Equal for no type.
		{`"V=spf1 -all"`, "v=spf1 -all"},
		{`"v=spf1  -all"`, "v=spf1 -all"},
		{`"v=spf1 -all "`, "v=spf1 -all"},
		{`"a" "b"`, "a b"},
		{`"\097"`, `\097`},
		{longText, longText + "A"},
		{dnsdata.Quote(longText), strings.ToLower(longText)},
		{"192.0.2.1", "192.0.2.2"},
		{"a.example", "b.example"},
		{"Host.Example.com.\n", "other.example.com"},
	},
}

// spellings has values of every type in different spellings.
var spellings = []string{
	"192.0.2.1", "192.0.2.1 ", "192.0.2.1\n", "192.0.2.2", `"192.0.2.1"`, "2001:db8::1", "2001:DB8:0:0::1", " 2001:db8::1\n", "::ffff:192.0.2.1",
	"host.example.com", "Host.Example.COM", "host.example.com.", " host.example.com", `"host.example.com"`, `"Host.Example.com"`, "bücher.example", "xn--bcher-kva.example", "BÜCHER.example.", `"bücher.example"`,
	".", ` .`, `"."`, "10 mail.example.com",
	`0 issue "ca.example.net"`, "0 issue ca.example.net", "0 ISSUE ca.example.net", `0 issue "CA.example.net"`, `"0 issue ca.example.net"`, `00 issue "ca.example.net"`,
	"5 443 sip.example.com", "05 443 sip.example.com", "5 443 SIP.example.com.", "5  443  sip.example.com", `"5 443 sip.example.com"`,
	"v=spf1 -all", "V=SPF1 -ALL", `"v=spf1 -all"`, `"v=spf1" " -all"`, "v=spf1 -all ", `"v=spf1 -all "`, " v=spf1 -all", `\"v=spf1 -all\"`, `"\"v=spf1 -all\""`, `"\118=spf1 -all"`,
	longText, dnsdata.Quote(longText), `"` + longText + `"`, "", `""`, `"`, "\n", "\x00", "\xff",
}

// checkSound fails if two values are equal although they differ for some record type.
func checkSound(t *testing.T, a, b string) {
	t.Helper()
	equal := DNSValue.Same(a, b)
	assert.Check(t, equal == DNSValue.Same(b, a), "Equal(%q, %q) is not symmetric", a, b)
	if !equal || a == b {
		return
	}
	found := false
	for _, typ := range dnsdata.Types() {
		_, errA := dnsdata.NormalizeValue(typ, a)
		_, errB := dnsdata.NormalizeValue(typ, b)
		if errA != nil || errB != nil {
			continue
		}
		found = true
		assert.Check(t, dnsdata.EqualValues(typ, a, b), "%q and %q are equal, but not as %s", a, b, typ)
	}
	assert.Check(t, found, "%q and %q are equal, but as no type", a, b)
}

func TestDNSValueEqualityIsSound(t *testing.T) {
	t.Parallel()
	for _, a := range spellings {
		for _, b := range spellings {
			checkSound(t, a, b)
		}
	}
}

func FuzzDNSValueEqualityIsSound(f *testing.F) {
	for i, s := range spellings {
		f.Add(s, spellings[(i+1)%len(spellings)])
		f.Add(s, dnsdata.Quote(s))
		f.Add(s, strings.ToUpper(s))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		checkSound(t, a, b)
		checkSound(t, a, dnsdata.Quote(a))
		checkSound(t, a, a+"\n")
	})
}

func TestEqualFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typ, a, b string
		want      bool
	}{
		{"CNAME", "Host.Example.com.", "host.example.com", true},
		{"TXT", "Host.Example.com", "host.example.com", false},
		// For an unknown type, values are equal if they are equal for every known type.
		{"TLSA", "ABCD", "abcd", false},
		{"", `"a"`, "a", true},
	} {
		got := EqualFor(tt.typ, tt.a, tt.b)
		assert.Check(t, got == tt.want, "EqualFor(%q, %q, %q) = %v", tt.typ, tt.a, tt.b, got)
	}
}

var (
	zones = []string{"example.com", "Example.COM.", "example.org", "bücher.example", "xn--bcher-kva.example", "www.example.com"}
	nodes = []string{"@", "www", "WWW", "www.", "www.example.com", "www.example.com.", "WWW.Example.com.", "example.com", "example.com.", "example.org.", "bücher", "xn--bcher-kva",
		"www.bücher.example", "www.bücher.example.", "www.xn--bcher-kva.example.", "*", "*.www", "*.example.com", "*.Example.com.", "_dmarc", "_dmarc.example.com.", "www.example.com.example.com", "", ".", "a b"}
)

// TestDNSNameEqualityIsSound checks that names which are equal without a zone are equal
// in every zone in which both are valid.
func TestDNSNameEqualityIsSound(t *testing.T) {
	t.Parallel()
	for _, zone := range zones {
		for _, a := range nodes {
			for _, b := range nodes {
				_, errA := dnsdata.NormalizeName(a, zone)
				_, errB := dnsdata.NormalizeName(b, zone)
				if errA != nil || errB != nil || !DNSName.Same(a, b) {
					continue
				}
				assert.Check(t, EqualInZone(zone, a, b), "%q and %q are equal, but not in %s", a, b, zone)
			}
		}
	}
}

func TestEqualInZone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		zone, a, b string
		want       bool
	}{
		{"example.com.", "www", "WWW.example.com.", true},
		{"example.org", "www", "www.example.com", false},
		{"", "www.example.com.", "WWW.example.com", true},
		{"", "www", "www.example.com", false},
	} {
		got := EqualInZone(tt.zone, tt.a, tt.b)
		assert.Check(t, got == tt.want, "EqualInZone(%q, %q, %q) = %v", tt.zone, tt.a, tt.b, got)
	}
}
