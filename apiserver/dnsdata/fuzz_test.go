package dnsdata

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/miekg/dns"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

func FuzzNormalizeName(f *testing.F) {
	for _, s := range [][2]string{
		{"", ""}, {"@", "example.com"}, {"www", "example.com"}, {"www.example.com.", "example.com"}, {"*.a", "a.a"},
		{"www.example.com", "Example.com."}, {"_dmarc.Bücher", "bücher.example"}, {"a.a.a", "a.a"}, {"a.a.a.a", "a.a"},
		{"www.example.org.", "example.com"}, {"*", ""}, {"*.", ""}, {"a..b", ""}, {name241, "example.com"}, {"-a", ""},
		{"例え。jp", ""}, {"xn--.a", ""}, {"@.a", "a.b"}, {"_dmarc.מבחן.example", "מבחן.example"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, name, zone string) {
		loose, looseErr := NormalizeName(name, "")
		if looseErr == nil {
			again, err := NormalizeName(loose, "")
			assert.Check(t, err == nil && again == loose, "%q became %q, then %q, %v", name, loose, again, err)
		}
		assert.Check(t, (ValidateName(name) == nil) == (looseErr == nil), "ValidateName(%q) differs from NormalizeName", name)
		got, err := NormalizeName(name, zone)
		if err != nil || zone == "" {
			return
		}
		again, err := NormalizeName(got, zone)
		assert.Check(t, err == nil && again == got, "%q in %q became %q, then %q, %v", name, zone, got, again, err)
		// A name that is valid in a zone is also valid without one, and equal.
		fromLoose, err := NormalizeName(loose, zone)
		assert.Check(t, looseErr == nil && err == nil && fromLoose == got, "%q in %q is %q; via %q (%v) it is %q, %v", name, zone, got, loose, looseErr, fromLoose, err)
		assert.Check(t, EqualNames(name, got, zone), "EqualNames(%q, %q, %q) = false", name, got, zone)
		z, err := domainname.Normalize(zone)
		assert.NilError(t, err, "zone %q", zone)
		full := got + "." + z + "."
		if got == apex {
			full = z + "."
		}
		assert.Check(t, EqualNames(full, got, zone), "EqualNames(%q, %q, %q) = false", full, got, zone)
		checkNameOracle(t, got, z)
	})
}

func FuzzNormalizeValue(f *testing.F) {
	for _, s := range [][2]string{
		{"A", "192.0.2.1"}, {"AAAA", "2001:DB8::1"}, {"AAAA", "fe80::1%eth0"}, {"AAAA", "::ffff:192.0.2.1"},
		{"CNAME", "Target.example.com."}, {"NS", "ns1.example.com"}, {"MX", "."}, {"MX", "10 mail.example.com"},
		{"MX", "mail.example.com"}, {"SRV", "5 443 sip.example.com"}, {"SRV", "0 0 ."}, {"SRV", "1 2 3 a.b"},
		{"CAA", `0 issue "ca.example.net; a=b"`}, {"CAA", `128 ISSUE ;`}, {"CAA", `0 issue a\032b`}, {"CAA", `0 a ""`},
		{"TXT", "v=spf1 -all"}, {"TXT", `"a" "b"`}, {"TXT", `"a\"\\\065\195\188"`}, {"TXT", `"\"a"`}, {"TXT", `"a`},
		{"TXT", `"  \"x"`}, {"TXT", "ü\u0085"}, {"TXT", " "}, {"TXT", `"` + strings.Repeat("ü", 200) + `"`}, {"PTR", "a"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, rrType, value string) {
		got, err := NormalizeValue(rrType, value)
		if err != nil {
			assert.Check(t, got == "", "%q with an error", got)
			return
		}
		again, err := NormalizeValue(rrType, got)
		assert.Check(t, err == nil && again == got, "%s %q became %q, then %q, %v", rrType, value, got, again, err)
		assert.Check(t, EqualValues(rrType, value, got), "EqualValues(%q, %q, %q) = false", rrType, value, got)
		checkOracle(t, rrType, got)
		recordType, _ := NormalizeType(rrType)
		rdata, err := FormatRDATA(rrType, 10, value)
		assert.Check(t, err, "FormatRDATA of %s %q", rrType, value)
		priority, same, err := ParseRDATA(recordType, rdata)
		assert.Check(t, err == nil && same == got && (priority == 10) == TypeNeedsPriority(recordType), "%s %q became %q in a zone file, and then %d %q, %v", rrType, got, rdata, priority, same, err)
		if strings.EqualFold(rrType, TypeTXT) {
			// The presentation format of the record has the same text.
			text := got
			if !isQuoted(got) {
				text = Quote(got)
			}
			same, err := NormalizeValue(TypeTXT, text)
			assert.Check(t, err == nil && same == got, "%q is %q, but quoted %q is %q, %v", value, got, text, same, err)
		}
	})
}

func FuzzChunks(f *testing.F) {
	for _, s := range []string{"", "a", strings.Repeat("ü", 200), strings.Repeat("\x80", 600), strings.Repeat("a", 254) + "👋"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		chunks := Chunks(s)
		assert.Check(t, strings.Join(chunks, "") == s, "the chunks of %q differ from it", s)
		n := 0
		for i, chunk := range chunks {
			n += len(chunk) + 1
			assert.Check(t, len(chunk) <= maxString && (chunk != "" || len(chunks) <= 1), "chunk %d of %d has %d octets", i, len(chunks), len(chunk))
			assert.Check(t, !utf8.ValidString(s) || utf8.ValidString(chunk), "chunk %d of %q is not valid UTF-8", i, s)
		}
		assert.Check(t, is.Equal(rdataLen(s), n), "rdataLen")
		parts, err := parseStrings(Quote(s))
		assert.Check(t, err == nil && strings.Join(parts, "") == s && len(parts) == len(chunks), "Quote(%q) = %q, which parses as %q, %v", s, Quote(s), parts, err)
	})
}

// checkOracle checks that the DNS library accepts a canonical value, and that it packs a
// TXT record into the same chunks as this package.
func checkOracle(t *testing.T, rrType, canonical string) {
	t.Helper()
	rrType, err := NormalizeType(rrType)
	assert.NilError(t, err)
	text := canonical
	switch rrType {
	case TypeMX, TypeSRV:
		canonical = "10 " + canonical
	case TypeTXT:
		if isQuoted(text) {
			parts, err := parseStrings(text)
			assert.NilError(t, err)
			text = strings.Join(parts, "")
		}
		canonical = Quote(text)
	}
	// A separate line could be a directive that opens files.
	assert.Assert(t, !strings.ContainsAny(canonical, "\r\n"), "line break in the canonical value %.200q", canonical)
	rr, err := dns.NewRR("x.example. 3600 IN " + rrType + " " + canonical)
	assert.Assert(t, err == nil && rr != nil, "the DNS library rejects %s %.200q: %v", rrType, canonical, err)
	const maxMessage = 1 << 17 // large enough for records that exceed a real message
	buf := make([]byte, maxMessage)
	end, err := dns.PackRR(rr, buf, 0, nil, false)
	assert.NilError(t, err, "the DNS library does not pack %s %.200q", rrType, canonical)
	if rrType != TypeTXT {
		return
	}
	const header = len("\x01x\x07example\x00") + 10
	got := int(binary.BigEndian.Uint16(buf[header-2:]))
	assert.Check(t, got == rdataLen(text) && got == end-header, "RDATA of %d octets; rdataLen returns %d", got, rdataLen(text))
	rdata := buf[header:end]
	for i, want := range Chunks(text) {
		assert.Assert(t, len(rdata) != 0 && len(rdata) > int(rdata[0]), "RDATA ends before chunk %d", i)
		n := int(rdata[0])
		assert.Check(t, is.Equal(string(rdata[1:n+1]), want), "chunk %d is sent as", i)
		rdata = rdata[n+1:]
	}
	assert.Check(t, len(rdata) == 0, "%d octets after the last chunk", len(rdata))
}

// checkNameOracle checks that the DNS library accepts a canonical relative name.
func checkNameOracle(t *testing.T, canonical, zone string) {
	t.Helper()
	// Unlike NewRR, a ZoneParser ignores $INCLUDE by default.
	zp := dns.NewZoneParser(strings.NewReader(canonical+" 3600 IN A 192.0.2.1"), dns.Fqdn(zone), "")
	rr, ok := zp.Next()
	assert.Assert(t, ok, "the DNS library rejects %q in %q: %v", canonical, zone, zp.Err())
	_, err := dns.PackRR(rr, make([]byte, dns.MaxMsgSize), 0, nil, false)
	assert.NilError(t, err, "the DNS library does not pack %q in %q", canonical, zone)
	want := canonical + "." + dns.Fqdn(zone)
	if canonical == apex {
		want = dns.Fqdn(zone)
	}
	assert.Check(t, is.Equal(rr.Header().Name, want), "the DNS library parses %q in %q as", canonical, zone)
}
