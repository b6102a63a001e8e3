package dnsdata

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

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
