package dnsdata

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestNormalizeValue(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rrType, in, want string
	}{
		"A":                      {"A", "192.0.2.1", "192.0.2.1"},
		"A, white space":         {"A", " 192.0.2.1\n", "192.0.2.1"},
		"AAAA":                   {"AAAA", "2001:DB8:0:0::1", "2001:db8::1"},
		"AAAA, mapped":           {"AAAA", "::ffff:192.0.2.1", "::ffff:192.0.2.1"},
		"CNAME":                  {"CNAME", "Target.Example.com.", "target.example.com"},
		"CNAME, IDN":             {"CNAME", "bücher.example", "xn--bcher-kva.example"},
		"NS":                     {"NS", "NS1.example.net.", "ns1.example.net"},
		"MX":                     {"MX", "Mail.Example.com.", "mail.example.com"},
		"MX, null":               {"MX", ".", "."},
		"SRV":                    {"SRV", "5 443 Sip.example.com.", "5 443 sip.example.com"},
		"SRV, white space":       {"SRV", "\t005   0443 sip.example.com ", "5 443 sip.example.com"},
		"SRV, no service":        {"SRV", "0 0 .", "0 0 ."},
		"CAA":                    {"CAA", `0 issue "ca.example.net"`, `0 issue "ca.example.net"`},
		"CAA, unquoted":          {"CAA", `0 issue ca.example.net`, `0 issue "ca.example.net"`},
		"CAA, tag in upper case": {"CAA", `128  IssueWild	"ca.example.net"`, `128 issuewild "ca.example.net"`},
		"CAA, unquoted ;":        {"CAA", `0 issue ;`, `0 issue ";"`},
		"CAA, parameters": {
			"CAA", `0 issue "ca.example.net; accounturi=https://ca.example.net/Acct/1"`,
			`0 issue "ca.example.net; accounturi=https://ca.example.net/Acct/1"`,
		},
		"CAA, escapes":                   {"CAA", `000 issue "a\"b\\c\059"`, `0 issue "a\"b\\c;"`},
		"CAA, escape unquoted":           {"CAA", `0 issue a\032b\;`, `0 issue "a b;"`},
		"CAA, longest tag":               {"CAA", "0 " + strings.Repeat("a", 255) + " b", "0 " + strings.Repeat("a", 255) + ` "b"`},
		"CAA, longest property":          {"CAA", "0 issue " + strings.Repeat("a", 255), `0 issue "` + strings.Repeat("a", 255) + `"`},
		"CAA, ends in backslash":         {"CAA", `0 issue "a\\"`, `0 issue "a\\"`},
		"TXT, literal":                   {"TXT", "v=spf1 include:_spf.example.com -all", "v=spf1 include:_spf.example.com -all"},
		"TXT, inner quotes":              {"TXT", `say "hi"`, `say "hi"`},
		"TXT, literal backslash":         {"TXT", `a\b\"c\000`, `a\b\"c\000`},
		"TXT, space only":                {"TXT", " ", " "},
		"TXT, quoted":                    {"TXT", `"v=spf1 -all"`, "v=spf1 -all"},
		"TXT, quoted, white space":       {"TXT", "\n  \"v=spf1 -all\"\t\r\n", "v=spf1 -all"},
		"TXT, joined":                    {"TXT", `"v=DKIM1; p=AB" "CD"`, "v=DKIM1; p=ABCD"},
		"TXT, empty strings among":       {"TXT", `"" "a" ""`, "a"},
		"TXT, escapes":                   {"TXT", `"a\"b\\c\065\;"`, `a"b\cA;`},
		"TXT, UTF-8 by octets":           {"TXT", `"\195\188"`, "ü"},
		"TXT, UTF-8 over strings":        {"TXT", `"\195" "\188"`, "ü"},
		"TXT, string beyond 255":         {"TXT", `"` + strings.Repeat("a", 300) + `"`, strings.Repeat("a", 300)},
		"TXT, text is quoted":            {"TXT", `"\"a\""`, `"\"a\""`},
		"TXT, text is a quote":           {"TXT", `"\034"`, `"\""`},
		"TXT, text is space and a quote": {"TXT", `"  \"x"`, `"  \"x"`},
		"TXT, quoted text, not ASCII":    {"TXT", `"\"ü\\"`, `"\"\195\188\\"`},
		"TXT, not in NFC":                {"TXT", "u\u0308", `"u\204\136"`},
		"TXT, quoted text, long": {
			"TXT", `"\"` + strings.Repeat("a", 300) + `"`,
			`"\"` + strings.Repeat("a", 254) + `" "` + strings.Repeat("a", 46) + `"`,
		},
		"TXT, longest":            {"TXT", longestASCII, longestASCII},
		"TXT, longest in umlauts": {"TXT", longestUmlauts, longestUmlauts},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			checkValue(t, tt.rrType, tt.in, tt.want)
		})
	}
}

func TestNormalizeValueErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rrType, in, want string // want is a part of the message
	}{
		"type":                        {"PTR", "a.example.com", "unsupported record type"},
		"empty":                       {"A", " \n", "value of A must not be empty"},
		"A, IPv6":                     {"A", "2001:db8::1", "must be an IPv4 address"},
		"A, mapped":                   {"A", "::ffff:192.0.2.1", "must be an IPv4 address"},
		"A, leading zero":             {"A", "192.0.2.01", "must be an IPv4 address"},
		"AAAA, IPv4":                  {"AAAA", "192.0.2.1", "must be an IPv6 address"},
		"AAAA, zone":                  {"AAAA", "fe80::1%eth0", "without a zone"},
		"CNAME, one label":            {"CNAME", "www", "invalid target: name must have at least two labels"},
		"CNAME, root":                 {"CNAME", ".", "invalid target"},
		"NS, root":                    {"NS", ".", "invalid target"},
		"MX, preference":              {"MX", "10 mail.example.com", "preference belongs in the priority"},
		"MX, preference too large":    {"MX", "70000 mail.example.com", "preference belongs in the priority"},
		"SRV, priority":               {"SRV", "10 5 443 sip.example.com", "has 4 fields, not three"},
		"SRV, two fields":             {"SRV", "443 sip.example.com", "has 2 fields, not three"},
		"SRV, weight":                 {"SRV", "65536 443 sip.example.com", "weight of SRV must be a number from 0 to 65535"},
		"SRV, signed weight":          {"SRV", "+5 443 sip.example.com", "weight of SRV"},
		"SRV, port":                   {"SRV", "5 https sip.example.com", "port of SRV must be a number from 0 to 65535"},
		"CAA, two fields":             {"CAA", `0 issue`, "must be flags, tag and value"},
		"CAA, no flags":               {"CAA", `issue "ca.example.net" x`, "must be flags, tag and value"},
		"CAA, flags too large":        {"CAA", `256 issue "ca.example.net"`, "flags of CAA"},
		"CAA, tag":                    {"CAA", `0 issue-wild "ca.example.net"`, "must be flags, tag and value"},
		"CAA, non-ASCII tag":          {"CAA", "0 i\u017f\u017fue ca.example.net", "must be flags, tag and value"},
		"CAA, tag too long":           {"CAA", "0 " + strings.Repeat("a", 256) + " b", "must be flags, tag and value"},
		"CAA, spaces unquoted":        {"CAA", `0 issue ca.example.net; a=b`, "from position 1 is no string"},
		"CAA, two strings":            {"CAA", `0 issue "a" "b"`, "one quoted string"},
		"CAA, no closing quote":       {"CAA", `0 issue "ca.example.net`, "from position 1 is no string"},
		"CAA, control":                {"CAA", `0 issue "a\000"`, "control character U+0000"},
		"CAA, property too long":      {"CAA", "0 issue " + strings.Repeat("a", 256), "255 octets"},
		"CAA, lone backslash":         {"CAA", `0 issue a\`, "from position 1 is no string"},
		"long input is not echoed":    {"CNAME", strings.Repeat("a", 9000), "253 characters"},
		"control is not echoed raw":   {"CNAME", "a\x1b[31m.example.com", `"a\x1b[31m"`},
		"TXT, empty":                  {"TXT", "", "must not be empty"},
		"TXT, empty quoted":           {"TXT", `""`, "must not be empty"},
		"TXT, no closing quote":       {"TXT", `"abc`, "from position 1 is no string"},
		"TXT, no second closing":      {"TXT", `"abc" "d`, "from position 7 is no string"},
		"TXT, text after":             {"TXT", `"abc" def`, "from position 7 is no string"},
		"TXT, text after, no space":   {"TXT", `"abc"def`, "from position 1 is no string"},
		"TXT, no space between":       {"TXT", `"abc""def"`, "from position 1 is no string"},
		"TXT, lone backslash":         {"TXT", `"\`, "from position 1 is no string"},
		"TXT, two digits":             {"TXT", `"\12"`, "from position 1 is no string"},
		"TXT, beyond an octet":        {"TXT", `"\256"`, "from position 1 is no string"},
		"TXT, letter escape":          {"TXT", `"a\nb"`, "from position 1 is no string"},
		"TXT, escaped space":          {"TXT", `"a\ b"`, "from position 1 is no string"},
		"TXT, escaped non-ASCII":      {"TXT", `"\ü"`, "from position 1 is no string"},
		"TXT, line break":             {"TXT", "abc\n", "line break"},
		"TXT, line break quoted":      {"TXT", "\"abc\n\"", "line break"},
		"TXT, tab":                    {"TXT", "a\tb", "control character U+0009"},
		"TXT, NUL by escape":          {"TXT", `"\000"`, "control character U+0000"},
		"TXT, DEL by escape":          {"TXT", `"\127"`, "control character U+007F"},
		"TXT, C1 by escape":           {"TXT", `"\194\133"`, "control character U+0085"},
		"TXT, not UTF-8":              {"TXT", "\xff", "valid UTF-8"},
		"TXT, not UTF-8 by escape":    {"TXT", `"\255"`, "valid UTF-8"},
		"TXT, half a sequence":        {"TXT", `"a\195"`, "valid UTF-8"},
		"TXT, one too long":           {"TXT", longestASCII + "a", "65535 octets"},
		"TXT, too long in characters": {"TXT", longestUmlauts + "a", "65535 octets"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			checkValueError(t, tt.rrType, tt.in, tt.want)
		})
	}
}

func TestEqualValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rrType, a, b string
		want         bool
	}{
		{"AAAA", "2001:DB8::1", "2001:db8:0:0:0:0:0:1", true},
		{"cname", "Target.example.com.", "target.example.com", true},
		{"SRV", "5 443 sip.example.com.", "5  443  SIP.example.com", true},
		{"CAA", "0 ISSUE ca.example.net", `0 issue "ca.example.net"`, true},
		{"CAA", "0 issue ca.example.net", "0 issue CA.example.net", false},
		{"TXT", "v=spf1 -all", `"v=spf1 " "-all"`, true},
		{"TXT", "v=spf1 -all", "V=spf1 -all", false},
		{"TXT", "a", "a ", false},
		{"A", "192.0.2.1", "192.0.2.2", false},
		{"A", "192.0.2.1", "x", false},
		{"A", "x", "192.0.2.1", false},
		{"A", "x", "x", true},
		{"PTR", "a.example.com", "A.example.com", false},
	}
	for _, tt := range tests {
		got := EqualValues(tt.rrType, tt.a, tt.b)
		assert.Check(t, got == tt.want, "EqualValues(%q, %q, %q) = %t; want %t", tt.rrType, tt.a, tt.b, got, tt.want)
	}
}

// checkValue checks the canonical form of a value, that it is stable, and that the DNS
// library accepts it.
func checkValue(t *testing.T, rrType, in, want string) {
	t.Helper()
	got, err := NormalizeValue(rrType, in)
	assert.Assert(t, err == nil && got == want, "NormalizeValue(%q, %.200q) = %.200q, %v; want %.200q", rrType, in, got, err, want)
	again, err := NormalizeValue(rrType, got)
	assert.Check(t, err == nil && again == got, "NormalizeValue(%q, %.200q) = %.200q, %v; want it unchanged", rrType, got, again, err)
	assert.Check(t, EqualValues(rrType, in, got), "EqualValues(%q, %.200q, %.200q) = false", rrType, in, got)
	checkOracle(t, rrType, got)
}

func checkValueError(t *testing.T, rrType, in, want string) {
	t.Helper()
	got, err := NormalizeValue(rrType, in)
	assert.Assert(t, err != nil && got == "", "NormalizeValue(%q, %.200q) = %.200q, %v; want an error", rrType, in, got, err)
	assert.Check(t, strings.Contains(err.Error(), want) && len(err.Error()) <= 200, "NormalizeValue(%q, %.200q): %v; want %q in it", rrType, in, err, want)
}
