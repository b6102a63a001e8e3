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
		"DNSSEC and IDN":                  {"bücher A 192.0.2.1\n@ DNSKEY 257 3 13 AAAA\n@ NSEC www A\n", []string{"xn--bcher-kva A 3600 192.0.2.1"}},
		"the word alias": {"; Alias records\n$ORIGIN alias\n$ORIGIN example.com.\nalias A 192.0.2.1\nwww CNAME alias ; alias of it\nx IN 300 A 192.0.2.1;alias\ny TXT alias x\n",
			[]string{"alias A 3600 192.0.2.1", "www CNAME 3600 alias.example.com", "x A 300 192.0.2.1", "y TXT 300 aliasx"}},
	} {
		got, err := zonefile.Parse(tt.file, "Example.com.")
		assert.Check(t, err, name)
		assert.Check(t, is.DeepEqual(lines(got), tt.want), name)
	}
}

// TestSpellings reads one record or directive in each spelling.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		// Unicode in names and targets, also in the decimal escapes of other programs.
		"@ MX 10 mail.bücher.example.\n":                                  {"@ MX 3600 10 mail.xn--bcher-kva.example"},
		"b\\195\\188cher CNAME b\\195\\188cher.example.\n":                {"xn--bcher-kva CNAME 3600 xn--bcher-kva.example"},
		"bücher NS ns.bücher\n":                                           {"xn--bcher-kva NS 3600 ns.xn--bcher-kva.example.com"},
		"_sip._tcp SRV 0 5 5060 sip.bücher\n":                             {"_sip._tcp SRV 3600 0 5 5060 sip.xn--bcher-kva.example.com"},
		"$ORIGIN bücher\nwww A 192.0.2.1\n":                               {"www.xn--bcher-kva A 3600 192.0.2.1"},
		"\\*.a A 192.0.2.1\n":                                             {"*.a A 3600 192.0.2.1"},
		"\ufeff; a comment\r\n@ TXT \"ü\" \"\\195\\188\"\r\n":             {"@ TXT 3600 üü"},
		"@ A 192.0.2.1\rwww A 192.0.2.2\r":                                {"@ A 3600 192.0.2.1", "www A 3600 192.0.2.2"},
		"\tA 192.0.2.1\nwww A 192.0.2.2\n AAAA 2001:db8::1\n":             {"@ A 3600 192.0.2.1", "www A 3600 192.0.2.2", "www AAAA 3600 2001:db8::1"},
		"$ORIGIN .\nexample.com A 192.0.2.1\n":                            {"@ A 3600 192.0.2.1"},
		"$origin com.\n$ttl 1h30m\nexample A 192.0.2.1\n":                 {"@ A 5400 192.0.2.1"},
		"_sip._tcp.@ 600 IN SRV 0 5 5060 @\n":                             {"_sip._tcp SRV 600 0 5 5060 example.com"}, // GoDaddy
		"www [AGE:3693210] 1200 A 192.0.2.1\n":                            {"www A 1200 192.0.2.1"},                   // Windows
		"www IN 1d A 192.0.2.1\nftp 2D IN A 192.0.2.1\n":                  {"ftp A 86400 192.0.2.1", "www A 86400 192.0.2.1"},
		"( www A\n192.0.2.1 ) ; (\n":                                      {"www A 3600 192.0.2.1"},
		"www type1 192.0.2.1\n":                                           {"www A 3600 192.0.2.1"},
		"www CLASS1 A \\# 4 c0000201\n":                                   {"www A 3600 192.0.2.1"},
		"@ TYPE257 \\# 22 000569737375656c657473656e63727970742e6f7267\n": {`@ CAA 3600 0 issue "letsencrypt.org"`},
		"@ CAA 0 issue letsencrypt.org\n@ CAA 0 iodef \";\"\n":            {`@ CAA 3600 0 issue "letsencrypt.org"`, `@ CAA 3600 0 iodef ";"`},
		"@ MX 0 .\n_imap._tcp SRV 0 0 0 .\n":                              {"@ MX 3600 0 .", "_imap._tcp SRV 3600 0 0 0 ."},

		// The strings of TXT are joined, also those of adjacent quotes.
		`@ TXT "v=DKIM1; p=AAAA""BBBB"` + "\n":     {"@ TXT 3600 v=DKIM1; p=AAAABBBB"},
		`@ TXT v=DMARC1\; p=none` + "\n":           {"@ TXT 3600 v=DMARC1;p=none"},
		`@ TXT "v=spf1 a" "include:b -all"` + "\n": {"@ TXT 3600 v=spf1 ainclude:b -all"},
		`@ TXT "\"MS=ms123\""` + "\n":              {`@ TXT 3600 "\"MS=ms123\""`},
		`@ TXT "a\032b\\c\;d"` + "\n":              {`@ TXT 3600 a b\c;d`},
		"@ IN SOA ns h ( 17 900 600 86400 7200 )\na A 192.0.2.1\nb 1200 A 192.0.2.2\nc A 192.0.2.3\n": {"a A 7200 192.0.2.1", "b A 1200 192.0.2.2", "c A 7200 192.0.2.3"},
		"@ TXT ( \"a;b\" ; comment\n \"(c)\" )\n":                                                     {"@ TXT 3600 a;b(c)"},
		"@ TXT " + strings.Repeat("a", 600) + "\n":                                                    {"@ TXT 3600 " + strings.Repeat("a", 600)},
		"@ TXT \"a\\\\\" ; \"comment\"\nb TXT c;d\n":                                                  {`@ TXT 3600 a\`, "b TXT 3600 c"},

		// A comment may contain what does not concern the record.
		"a A 192.0.2.1 ; disabled:false, routing of the old host\n":                                             {"a A 3600 192.0.2.1"},
		"a A 192.0.2.1 ; IPv6 is disabled here\n":                                                               {"a A 3600 192.0.2.1"},
		"a 1 IN A 192.0.2.1 ; tunnel cf_tags=region:eu,cf-proxied:true\nb CNAME a ; cf_tags=cf-flatten-cname\n": {"a A 60 192.0.2.1", "b CNAME 60 a.example.com"},

		// Everything that signing a zone creates is left out.
		"@ SOA a b 1 2 3 4 5\n@ NS ns1\n@ DNSKEY 257 3 13 AAAA\n@ CDS 0 0 0 00\n@ CDNSKEY 0 3 0 AA==\n@ CSYNC 1 3 A NS\n@ ZONEMD 1 1 1 AA\n@ TYPE65534 \\# 5 0D1D310001\n" +
			"@ 0 NSEC3PARAM 1 0 0 -\nABC NSEC3 1 0 0 - ABC A\nwww NSEC @ A RRSIG\nwww RRSIG A 13 3 60 (\n2026 2025 1 example.com. AAAA== )\nwww KEY 0 3 1 AA==\nwww SIG A 1 3 60 2026 2025 1 @ AA==\nwww NXT @ A\n@ TYPE63 \\# 0\nwww 60 A 192.0.2.1\n": {"www A 60 192.0.2.1"},

		// Names without a dot outside the domain are relative, and all are absolute below the root.
		"x CNAME ghs.example.net\n$ORIGIN .\ny.example.com MX 10 mail.example.com\n": {"x CNAME 3600 ghs.example.net.example.com", "y MX 3600 10 mail.example.com"},

		// Sentences and other keys in comments.
		`a A 192.0.2.1 ; IPv6 disabled: yes, see wiki
a A 192.0.2.2 ; monitoring active = no idea
a A 192.0.2.3 ; old host disabled 2024, enabled again cf_tags=cf-proxied:false
a A 192.0.2.4 ; failover = 2nd datacenter
a A 192.0.2.5 ; geo location = Berlin
a A 192.0.2.6 ; do not disable
a A 192.0.2.7 ; {"disabled": false, "weight": null}, status: active, enabled=1
a A 192.0.2.8 ; Routing policy: Simple, routing=simple, healthCheckId: none
a A 192.0.2.9 ;{id = 1}
_a._tcp SRV 1 2 3 a ; priority: 1, weight: 2
`: {
			"_a._tcp SRV 3600 1 2 3 a.example.com", "a A 3600 192.0.2.1", "a A 3600 192.0.2.2", "a A 3600 192.0.2.3", "a A 3600 192.0.2.4", "a A 3600 192.0.2.5", "a A 3600 192.0.2.6",
			"a A 3600 192.0.2.7", "a A 3600 192.0.2.8", "a A 3600 192.0.2.9",
		},

		// $GENERATE
		"$GENERATE 0-18/18 h${0,3,n}.x-${10,0,N}-${0,1,n} A 192.0.2.1\n":                                          {"h0.0.x-a-0 A 3600 192.0.2.1", "h2.1.x-c.1-2.1 A 3600 192.0.2.1"},
		"$TTL 600\n$GENERATE 1-2 h$ A 192.0.2.$\n":                                                                {"h1 A 600 192.0.2.1", "h2 A 600 192.0.2.2"},
		"$GENERATE 1-1 h$ A 192.0.2.$\n$TTL 600\n":                                                                {"h1 A 3600 192.0.2.1"},
		"$TTL 600\n$GENERATE 0-4/2 h${10,3} 60 IN A 192.0.2.$ ; comment\na A 192.0.2.1\n":                         {"a A 600 192.0.2.1", "h010 A 60 192.0.2.0", "h012 A 60 192.0.2.2", "h014 A 60 192.0.2.4"},
		"$TTL 600\n$GENERATE 1-2 h$ MX \"0 .\"\n":                                                                 {"h1 MX 600 0 .", "h2 MX 600 0 ."},
		"$GENERATE 1-1 @ MX \"1$ mail$\"\n$GENERATE 2-2 @ MX 1$ mail$\n":                                          {"@ MX 3600 11 mail1.example.com", "@ MX 3600 12 mail2.example.com"},
		"$GENERATE 1-1 $.a CNAME $.b\n":                                                                           {"1.a CNAME 3600 1.b.example.com"},
		"$GENERATE 10-10 h${0,4,x}-${-1,0,d}-${5,2,X}-${0,0,o} A 192.0.2.1\n":                                     {"h000a-9-0f-12 A 3600 192.0.2.1"},
		`$GENERATE 1-1 h$ TXT "a b$ \$ $$"` + "\n":                                                                {"h1 TXT 3600 a b1 $ $"},
		`$GENERATE 1-1 h$ TXT "\"a b$\" c"` + "\n":                                                                {"h1 TXT 3600 a b1c"},
		`$GENERATE 1-1 h$ CAA 0 issue "ca$.example"` + "\n$GENERATE 2-2 h$ CAA \"0 issue \\\"ca$.example\\\"\"\n": {`h1 CAA 3600 0 issue "ca1.example"`, `h2 CAA 3600 0 issue "ca2.example"`},
		"www A 192.0.2.1\n$GENERATE 1-1 h$ 60 A 192.0.2.$\n AAAA 2001:db8::1\n":                                   {"h1 A 60 192.0.2.1", "www A 3600 192.0.2.1", "www AAAA 3600 2001:db8::1"},
	} {
		got, err := zonefile.Parse(file, "example.com")
		assert.Check(t, err, "%q", file)
		assert.Check(t, is.DeepEqual(lines(got), want), "%q", file)
	}
}

// TestRefused checks that the error names each record that can't be carried over.
func TestRefused(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		`www 300 AWS ALIAS A d111.cloudfront.net. Z2FDTNDATAQYW2 false
@ ALIAS lb.example.net.
	1h in aname lb.example.net.
@ HTTPS 1 . alpn=h2
mail.example.net. A 192.0.2.1
version CH TXT "x"
ok A 192.0.2.1
`: {
			"line 1: www.example.com. ALIAS A d111.cloudfront.net. Z2FDTNDATAQYW2 false: an alias", "line 2: example.com. ALIAS lb.example.net.: an alias", "line 3: example.com. ANAME lb.example.net.: an alias",
			`line 4: example.com. HTTPS 1 . alpn=h2: unsupported record type "HTTPS"`, "line 5: mail.example.net. A 192.0.2.1: name ends in a dot but is outside", `line 6: version.example.com. TXT "x": its class is CH`,
		},
		`$TTL 1h
@ IN A Parked ; GoDaddy
@ 1800 IN URL301 https://www.example.com/
old IN FRAME http://example.net/
x REDIRECT https://example.net
y CLOUDNS_WR http://example.net
geo LUA A "ifportup(443, {'192.0.2.1'})"
@ WINS L1 C900 ( 192.0.2.1 )
app CNAME lb.example.net:8080
n NETLIFY site.netlify.app
s SPF "v=spf1 -all"
d DS 1 13 2 AA
@ CNAME lb.example.net. ; cf_tags=cf-flatten-cname,cf-proxied:true
@ MX mail.example.net.
`: {
			"line 2: example.com. A Parked: value of A must be an IPv4 address", "line 3: example.com. URL301 https://www.example.com/: a web redirect", "line 4: old.example.com. FRAME http://example.net/: a web redirect",
			"line 5: x.example.com. REDIRECT https://example.net: a web redirect", "line 6: y.example.com. CLOUDNS_WR", `line 7: geo.example.com. LUA A "ifportup(443, {'192.0.2.1'})": unsupported record type "LUA"`,
			"line 8: example.com. WINS L1 C900 192.0.2.1: unsupported", "line 9: app.example.com. CNAME lb.example.net:8080: invalid target: ", "line 10: n.example.com. NETLIFY site.netlify.app: an alias",
			`line 11: s.example.com. SPF "v=spf1 -all": the type SPF is obsolete`, `line 12: d.example.com. DS 1 13 2 AA: unsupported record type "DS"`, "line 13: example.com. CNAME lb.example.net.: the domain itself can't be a CNAME",
			"line 14: example.com. MX mail.example.net.: the value of MX must begin with a priority",
		},
		// Routing, as cli53 writes it for Route 53, and disabled records.
		`a 60 IN A 192.0.2.1 ; AWS routing="FAILOVER" failover="PRIMARY" healthCheckId="6bb57c41" identifier="The First"
a 60 IN A 192.0.2.2 ; AWS routing="WEIGHTED" weight=1 identifier="Two"
b 60 IN A 192.0.2.2 ; AWS routing="GEOLOCATION" continentCode="AF" identifier="Africa"
c 60 IN A 192.0.2.2 ; AWS routing="LATENCY" region="us-west-1" identifier="West"
d 60 IN A 192.0.2.2 ; AWS routing="MULTIVALUE" identifier="One"
e 60 IN A 192.0.2.2 ;disabled:true
f 60 IN A ( ; {"disabled": true, "comments": "old"}
192.0.2.2 )
g 60 IN A 192.0.2.2 ; enabled=no
h 60 IN A 192.0.2.2 ; (disabled)
i 60 IN A 192.0.2.2 ; AWS healthCheckId="6bb57c41" identifier="x"
j 60 IN A 192.0.2.2 ; set_identifier = x
`: {
			`line 1: a.example.com. A 192.0.2.1: its comment gives it a routing that only its host has (AWS routing="FAILOVER")`, "line 2: a.example.com. A 192.0.2.2: its comment", `line 3: b.example.com. A 192.0.2.2: its comment gives it a routing that only its host has (AWS routing="GEOLOCATION")`,
			"line 4: c.example.com.", "line 5: d.example.com.", "line 6: e.example.com. A 192.0.2.2: its comment says that it is disabled (disabled:true)", "line 7: f.example.com. A 192.0.2.2: its comment says that it is disabled",
			"line 9: g.example.com. A 192.0.2.2: its comment says that it is disabled (enabled=no)", "line 10: h.example.com. A 192.0.2.2: its comment says that it is disabled ((disabled))",
			`line 11: i.example.com. A 192.0.2.2: its comment gives it a routing that only its host has (AWS healthCheckId="6bb57c41")`, "line 12: j.example.com.",
		},
		`@ MX 10 mail.example.com
www CNAME example.com
_sip._tcp SRV 0 0 5060 sip.example.com
sub NS ns1.Example.com
$ORIGIN com.
x.example CNAME www.example.com
`: {
			"line 1: example.com. MX 10 mail.example.com: the name mail.example.com lacks the dot at its end, and so means mail.example.com.example.com.; write mail.example.com.",
			"line 2: www.example.com. CNAME example.com: the name example.com lacks", "line 3: _sip._tcp.example.com. SRV", "line 4: sub.example.com. NS", "line 6: x.example.com. CNAME www.example.com: the name www.example.com lacks",
		},
		"example.org. IN SOA ns.example.org. h.example.org. 1 2 3 4 5\nwww A 192.0.2.1\n@ CH NS ns1\n@ SOA a b 1 2 3 4 5\n": {
			"line 1: example.org. SOA ns.example.org. h.example.org. 1 2 3 4 5: the file is the zone of example.org, not of example.com", "line 3: example.com. NS ns1: its class is CH",
		},
		`f A 192.0.2.1 ; status=disabled
g A 192.0.2.1 ; status: inactive
i A 192.0.2.1 ; active=N
m A 192.0.2.1 ; is_active=false
n A 192.0.2.1 ; isActive:false
j A 192.0.2.1 ; disabled record
o A 192.0.2.1 ; isDisabled=true
p A 192.0.2.1 ; is_disabled:true
q A 192.0.2.1 ; deaktiviert
r A 192.0.2.1 ; old server. Record status: Paused (see ticket)
s A 192.0.2.1 ;%inactive
t A 192.0.2.1 ; old server record_disabled=1
`: {
			"(status=disabled)", "(status: inactive)", "(active=N)", "(is_active=false)", "(isActive:false)", "(disabled record)", "(isDisabled=true)", "(is_disabled:true)", "(deaktiviert)", "line 10:", "(%inactive)", "(record_disabled=1)",
		},
		`a A 192.0.2.1 ; SetIdentifier: eu, weight: 10
a A 192.0.2.2 ; weight=20
b A 192.0.2.1 ; {"geolocation":"DE"}
c A 192.0.2.1 ; failover: SECONDARY
d A 192.0.2.1 ; routing: weighted
e A 192.0.2.1 ; eu, routing_policy = Latency
f A 192.0.2.1 ; {"routing_policy":{"wrr":[]}}
g A 192.0.2.1 ; policy=failover pool=a
`: {
			"(SetIdentifier: eu)", "(weight=20)", `("geolocation":"DE")`, "(failover: SECONDARY)", "(routing: weighted)", "(routing_policy = Latency)", "line 7:", "(policy=failover)",
		},
		// Escapes, as Route 53 writes them.
		`\052.example.com. A 192.0.2.1
x CNAME a\057b
\119 A 192.0.2.1
b\303\274cher A 192.0.2.1
c TXT "\999"
@ TYPE65535 \# 1 00
`: {
			`line 1: 4.example.com. A 192.0.2.1: the name \052.example.com. contains \052, which is 4, because a zone file escapes in decimal; Route 53 escapes in octal, where it is *`, `line 2: x.example.com. CNAME a\057b: the name a\057b contains \057, which is 9`,
			`line 3: w.example.com. A 192.0.2.1: the name`, "line 4: ", `line 5: c.example.com. TXT "\999": a backslash before a digit`, `unsupported record type "TYPE65535"`,
		},
		// Lines that are no records.
		"name,type,value\nwww,A,192.0.2.1\n@,TXT,v=spf1 mx -all\n": {"is no zone file, because no line is a record"}, "@ 60 IN LB x\n": {"these records", "line 1: example.com. LB x"},
		"www:\n  type: A\n  value: 192.0.2.1\n": {"is no zone file", "line 1: www:"}, "+www.example.com:192.0.2.1:300\n": {"is no zone file", "line 1: +www"},
		"www A 192.0.2.1\nwww A 192.0.2\n@ TXT \"open\nx A 192.0.2 )\n$INCLUDE /etc/passwd\nwww FOO bar\nwww 300\n$TTL x\n$FOO\n$ORIGIN\n  www A 192.0.2.1\n@ TXT (\n\"a\"\n": {
			"line 2: www.example.com. A 192.0.2: value of A", "line 3: example.com. TXT \"open\": a double quote is not closed", "line 4: x.example.com. A 192.0.2: a closing parenthesis", `line 5: $INCLUDE of another file, "/etc/passwd"`, `line 6: www.example.com. FOO bar: unsupported record type "FOO"`,
			"line 7: www 300: the record has no type", "line 8: $TTL needs a time", "line 9: unknown directive $FOO", "line 10: $ORIGIN needs a name", "line 11: www.example.com. WWW A 192.0.2.1: unsupported record type",
			"The line begins with a blank, so it has no name", "line 12: example.com. TXT \"a\": an opening parenthesis is not closed",
		},
		// Names.
		"0/25 NS ns.example.net.\n$ORIGIN example.com\nwww A 192.0.2.1\n$ORIGIN example.com.\nwww.example.com A 192.0.2.1\na\\.b A 192.0.2.1\n\\@ A 192.0.2.1\nx A 192.0.2.1\\\n\x1b[2J A 192.0.2.1\n": {
			"line 1: 0/25.example.com. NS ns.example.net.: the name has a slash", "line 2: the name example.com lacks the dot at its end, and so means example.com.example.com.; write example.com.",
			"line 5: www.example.com.example.com. A 192.0.2.1: the name www.example.com lacks the dot", "line 6: a\\.b.example.com. A 192.0.2.1: ", "line 7: \\@.example.com. A", `line 8: x.example.com. A 192.0.2.1\: value of A`, `line 9: \u001b[2J.example.com. A`,
		},
		"$GENERATE 1-2 h$\n$GENERATE 2-1 h$ A 192.0.2.$\n$GENERATE 0-65536 h$ A 192.0.2.1\n$GENERATE 1-2/0 h$ A 192.0.2.1\n$GENERATE a-b h$ A 192.0.2.1\n$GENERATE 1-2 h${0,3,y} A 192.0.2.1\n$GENERATE 1-2 h${-3} A 192.0.2.1\n$GENERATE 255-257 h$ A 192.0.2.$\n": {
			"line 1: $GENERATE needs a range", "line 2: the range 2-1 of $GENERATE is empty", "line 3: $GENERATE makes more than 65536 records", "line 4: the range 1-2/0", `line 5: the range "a-b"`,
			"line 6: the modifier ${0,3,y} of", "line 7: the offset of ${-3} in $GENERATE makes 1 negative", "line 8: h256.example.com. A 192.0.2.256: ",
		},
		"": {"records = {}"}, "; nothing\n@ NS ns1.example.net.\n": {"contains no record"}, " <html>": {`begins with "<"`}, "{\"a\": 1}": {`begins with "{"`},
		strings.Repeat("x HINFO a b\n", 30): {"line 20: ", "and 10 more"},
	} {
		_, err := zonefile.Parse(file, "example.com")
		for _, w := range want {
			assert.Check(t, err != nil && strings.Contains(err.Error(), w), "there is no %q in %v", w, err)
		}
		if len(want) > 2 { // one problem for each
			assert.Check(t, is.Equal(strings.Count(err.Error(), "\nline "), len(want)-strings.Count(strings.Join(want, ""), "The line")))
		}
	}
	_, err := zonefile.Parse("", "localhost")
	assert.Check(t, errors.Is(err, zonefile.ErrDomain), "error = %v", err)
}
