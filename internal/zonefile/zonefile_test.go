package zonefile_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/zonefile"
)

// lines returns records as lines, in order.
func lines(sets map[string]zonefile.Set) (all []string) {
	for _, key := range slices.Sorted(maps.Keys(sets)) {
		for _, v := range sets[key].Values {
			all = append(all, fmt.Sprintf("%s %d %s", key, sets[key].TTL, v))
		}
	}
	return all
}

// TestParse reads files in the formats of several hosts.
func TestParse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file string
		want []string
	}{
		"BIND": {`
$ORIGIN example.com.
$TTL 1h
@	IN	SOA	ns1 hostmaster (
		2026112401 ; serial
		1d 2h 4w 1h )
	IN	NS	ns1
	IN	MX	10 mx1
	IN	MX	20 mx2.example.net.
sub	IN	NS	ns.other.example.
ns1	300	A	192.0.2.1
	600	A	192.0.2.2
$ORIGIN dept.example.com.
WWW	CNAME	example.com.
_sip._tcp	SRV	0 5 5061 sip.example.net.
*	TXT	( "one \"quoted\"; "
		"two" )
$GENERATE 1-2 host-$ A 192.0.2.$
`, []string{
			"*.dept TXT 3600 one \"quoted\"; two", "@ MX 3600 10 mx1.example.com", "@ MX 3600 20 mx2.example.net",
			"_sip._tcp.dept SRV 3600 0 5 5061 sip.example.net", "host-1.dept A 3600 192.0.2.1", "host-2.dept A 3600 192.0.2.2",
			"ns1 A 300 192.0.2.1", "ns1 A 300 192.0.2.2", "sub NS 3600 ns.other.example", "www.dept CNAME 3600 example.com",
		}},
		"cPanel": {`; cPanel first:110.0.0 (update_time):1763990000 Cpanel::ZoneFile::VERSION:1.3
; Zone file for example.com
$TTL 14400
example.com.	86400	IN	SOA	ns1.host.example.	root.host.example.	(
						2026112401 ;Serial Number
						3600 ;refresh
						1800 ;retry
						1209600 ;expire
						86400 )

example.com.	86400	IN	NS	ns1.host.example.
example.com.	14400	IN	A	192.0.2.9
example.com.	14400	IN	MX	0	example.com.
default._domainkey	14400	IN	TXT	"v=DKIM1; k=rsa; p=AAAA" BBBB
_caldavs._tcp	14400	IN	SRV	0 0 2080 server.host.example.
_acme	14400	IN	CAA	0 issue "letsencrypt.org"
`, []string{
			"@ A 14400 192.0.2.9", "@ MX 14400 0 example.com", "_acme CAA 14400 0 issue \"letsencrypt.org\"",
			"_caldavs._tcp SRV 14400 0 0 2080 server.host.example", "default._domainkey TXT 14400 v=DKIM1; k=rsa; p=AAAABBBB",
		}},
		"Cloudflare": {`;;
;; Domain:     example.com.
;; Exported:   2026-11-24 10:00:00
;;
;; SOA Record
example.com	3600	IN	SOA	ada.ns.cloudflare.com. dns.cloudflare.com. 2050 10000 2400 604800 3600

;; NS Records
example.com.	86400	IN	NS	ada.ns.cloudflare.com.

;; A Records
example.com.	1	IN	A	192.0.2.7 ; cf_tags=cf-proxied:true
WWW.example.com.	1	IN	AAAA	2001:DB8::1 ; cf_tags=cf-proxied:false
`, []string{"@ A 60 192.0.2.7", "www AAAA 60 2001:db8::1"}},
		"Route 53": {`$ORIGIN example.com.
@	172800	IN	NS	ns-1.awsdns-01.org.
@	900	IN	SOA	ns-1.awsdns-01.org. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400
@	604800	IN	MX	10 inbound-smtp.eu-west-1.amazonaws.com.
@	604800	IN	MX	10 inbound-smtp.eu-west-1.amazonaws.com.
`, []string{"@ MX 86400 10 inbound-smtp.eu-west-1.amazonaws.com"}},
		"Windows, with a byte order mark": {"\ufeff@ A 192.0.2.1\r\nwww A (\r\n192.0.2.2 )\r\n", []string{"@ A 3600 192.0.2.1", "www A 3600 192.0.2.2"}},
		"DNSSEC and IDN": {"bücher A 192.0.2.1\n@ DNSKEY 257 3 13 AAAA\n@ NSEC www A\n", []string{"xn--bcher-kva A 3600 192.0.2.1"}},
		"the word alias": {"; Alias records\n$ORIGIN alias\n$ORIGIN example.com.\nalias A 192.0.2.1\nwww CNAME alias ; alias of it\nx IN 300 A 192.0.2.1;alias\ny TXT alias x\n",
			[]string{"alias A 3600 192.0.2.1", "www CNAME 3600 alias.example.com", "x A 300 192.0.2.1", "y TXT 300 aliasx"}},
	} {
		got, err := zonefile.Parse(tt.file, "Example.com.")
		assert.Check(t, err, name)
		assert.Check(t, is.DeepEqual(lines(got), tt.want), name)
	}
}

// TestRefused checks that each record that can't be carried over is named.
func TestRefused(t *testing.T) {
	t.Parallel()
	_, err := zonefile.Parse(`www 300 AWS ALIAS A d111.cloudfront.net. Z2FDTNDATAQYW2 false
@ ALIAS lb.example.net.
	1h in aname lb.example.net.
@ HTTPS 1 . alpn=h2
mail.example.net. A 192.0.2.1
version CH TXT "x"
ok A 192.0.2.1
`, "example.com")
	for _, want := range []string{
		"line 1, www: an alias", "line 2, @: an alias", "line 3, the name above: an alias", "example.com. HTTPS 1 . alpn=\"h2\": ", "mail.example.net. A 192.0.2.1: name ends in a dot but is outside", "its class is CH",
	} {
		assert.Check(t, err != nil && strings.Contains(err.Error(), want), "there is no %q in %v", want, err)
	}
	for file, want := range map[string]string{
		"www A 192.0.2.1\nwww A 192.0.2\n": "line: 2", "@ TXT \"open\n": "line:", "$INCLUDE /etc/passwd\n": "$INCLUDE", "www FOO bar\n": "FOO",
		"": "records = {}", "; nothing\n@ NS ns1.example.net.\n": "has no record",
		strings.Repeat("x HINFO a b\n", 30): "and 10 more",
	} {
		_, err := zonefile.Parse(file, "example.com")
		assert.Check(t, err != nil && strings.Contains(err.Error(), want), "%.40q: %v; want %q", file, err, want)
	}
	_, err = zonefile.Parse("", "localhost")
	assert.Check(t, errors.Is(err, zonefile.ErrDomain), "error = %v", err)
}
