package maildns

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// spfOf parses a record into a policy. The default may be at any position.
func spfOf(record string) SPF {
	var s SPF
	for t := range strings.FieldsSeq(record) {
		if strings.HasSuffix(strings.ToLower(t), "all") || strings.HasPrefix(t, "redirect=") {
			s.Default = t
		} else {
			s.Terms = append(s.Terms, t)
		}
	}
	return s
}

// TestSPFRecord begins with the examples of RFC 7208 that don't use deprecated terms.
func TestSPFRecord(t *testing.T) {
	t.Parallel()
	tests := map[string]string{ // an empty want means the input
		"+mx a:colo.example.com/28 -all": "mx a:colo.example.com/28 -all",
		"a mx -all":                      "",
		"mx -all":                        "",
		"a -all":                         "",
		"-all":                           "",
		"a:example.org -all":             "",
		"mx:example.org -all":            "",
		"mx mx:example.org -all":         "",
		"mx/30 mx:example.org/30 -all":   "",
		"ip4:192.0.2.128/28 -all":        "",
		"include:example.com include:example.org -all":   "",
		"a:authorized-spf.example.com -all":              "",
		"mx:example.com include:_spf.%{d} -all":          "",
		"mx -all exp=explain._spf.%{d}":                  "",
		"exists:%{ir}.%{l1r+-}._spf.%{d} -all":           "",
		"exists:%{ir}.%{v}._spf.%{d2} ?all":              "",
		"exists:%{lr-}.lp.%{ir}.%{v}._spf.%{d2} ~all":    "",
		"include:%{d2}.trusted-domains.example.net -all": "",
		"redirect=%{l1r+}._at_.%{o,=_/}._spf.%{d}":       "",
		"redirect=_spf.example.com":                      "",
		"a:foo.example/24//64 mx//64 a/24 -all":          "",
		"ip6:2001:db8:0:0:0::/96 -all":                   "ip6:2001:db8::/96 -all",
		"ip4:192.0.2.17/24 ip6:2001:DB8::1/128 ~all":     "ip4:192.0.2.0/24 ip6:2001:db8::1 ~all",
		"ip4:192.0.2.1/32 a/32//128 ?all":                "ip4:192.0.2.1 a ?all",
		"INCLUDE:_SPF.Bücher.Example. -ALL":              "include:_spf.xn--bcher-kva.example -all",
		"exp=Explain.example.com mx -all":                "mx -all exp=explain.example.com",
		"exp=e.example.com mx redirect=_spf.example.com": "mx exp=e.example.com redirect=_spf.example.com",
		"?include:a.example -ip4:192.0.2.1 ~a +mx -all":  "?include:a.example -ip4:192.0.2.1 ~a mx -all",
		"?ip4:0.0.0.0/0 -all":                            "",
		"exists:%%.%_%-.%{S}.EXAMPLE. -all":              "exists:%%.%_%-.%{S}.example -all",
		"a:%{o/}/24 -all":                                "",
		"a:%{d}. -all":                                   "a:%{d} -all",
	}
	for in, want := range tests {
		t.Run(in, func(t *testing.T) {
			if want == "" {
				want = in
			}
			got, err := spfOf(in).Record()
			assert.Check(t, err == nil && got == "v=spf1 "+want, "got %q, %v", got, err)
		})
	}
}

func TestSPFProblems(t *testing.T) {
	t.Parallel()
	tests := []struct{ term, want string }{
		{"", "a term must not be empty"},
		{"v=spf1", "the record gets v=spf1"},
		{"mx a", "white space"},
		{"mx\t", "white space"},
		{"-all", "-all belongs in default"},
		{"all", "all belongs in default"},
		{"redirect=example.com", "redirect=example.com belongs in default"},
		{"all:example.com", "nothing may follow its name"},
		{"ptr", "ptr must not be used"},
		{"ptr:example.com", "ptr must not be used"},
		{"exists:%{p}.example.com", "exists: the macro p must not be used"},
		{"include", "include: the domain name is missing"},
		{"include:", "the domain name is missing"},
		{"a:", "the domain name is missing"},
		{"include:localhost", "two labels"},
		{"include:https://example.com", "URL"},
		{"include:_spf.example.com/24", "a URL, a path"},
		{"include=_spf.example.com", "include needs a colon, as in include:_spf.example.com"},
		{"ip4=192.0.2.1", "ip4 needs a colon"},
		{"exp:example.com", "exp needs an equals sign"},
		{"redirect:example.com", "redirect needs an equals sign"},
		{"-exp=example.com", "has no qualifier"},
		{"foo=bar", "is not an SPF term"},
		{"inlcude:example.com", `"inlcude:example.com" is not an SPF term; expected include, a,`},
		{"ipv4:192.0.2.1", "or ip4:192.0.2.0/24"},
		{"_spf.example.com", "is not an SPF term"},
		{"192.0.2.1", "is not an SPF term"},
		{"!all", "is not an SPF term"},
		{"a:192.0.2.1", "as in an IP address"},
		{"mx:2001:db8::1", "or an address"},
		{"ip4", `ip4: "" is no IPv4 address; expected one such as 192.0.2.0/24`},
		{"ip4:", `"" is no IPv4 address`},
		{"ip4:192.0.2.256", "is no IPv4 address"},
		{"ip4:192.0.2/24", "is no IPv4 address"},
		{"ip4:2001:db8::1", "is no IPv4 address"},
		{"ip6:192.0.2.1", "is no IPv6 address"},
		{"ip6:::ffff:192.0.2.1", "write ip4:192.0.2.1"},
		{"ip6:fe80::1%eth0", "is no IPv6 address"},
		{"ip4:192.0.2.0/33", "from 0 to 32"},
		{"ip4:192.0.2.0/024", "without leading zeros"},
		{"ip4:192.0.2.0/-1", "from 0 to 32"},
		{strings.Repeat("ü", 60), strings.Repeat("ü", 60) + `"`},
		{strings.Repeat("ü", 61), strings.Repeat("ü", 60) + `"`},
		{"ip4:192.0.2.0/", "must be a number"},
		{"ip4:192.0.2.0/+24", "must be a number"},
		{"ip4:192.0.2.0/255.255.255.0", "must be a number"},
		{"ip6:2001:db8::/129", "from 0 to 128"},
		{"ip4:0.0.0.0/0", "every host of the internet"},
		{"a/0", "every host of the internet"},
		{"mx//0", "every host of the internet"},
		{"a/33", "from 0 to 32"},
		{"a//129", "from 0 to 128"},
		{"mx/24/64", "is not of the form"},
		{"mx/x", "is not of the form"},
		{"mx/24//64/1", "is not of the form"},
		{"a/", "must be a number"},
		{"exists:%{i", "no domain name with macros"},
		{"exists:%x.example.com", "no domain name with macros"},
		{"exists:%{c}.example.com", "no domain name with macros"},
		{"exists:%{d0}.example.com", "no domain name with macros"},
		{"exists:%{dr2}.example.com", "no domain name with macros"},
		{"exists:%{d}x", "must end in a macro"},
		{"exists:%{i}._spf", "must not contain an underscore"},
		{"exists:%{i}.1", "must not be a number"},
		{"exists:%{i}.com-", "must not begin or end with a hyphen"},
		{"exists:%{i}..example.com", "empty label"},
		{"exists:.%{i}.example.com", "empty label"},
		{"exists:%{i}.bücher.example", "no domain name with macros"},
		{"exists:%{i}." + strings.Repeat("a", 64) + ".com", "longer than 63"},
	}
	for _, tt := range tests {
		t.Run(tt.term, func(t *testing.T) {
			got, err := SPF{Terms: []string{"mx:example.net", tt.term}, Default: "-all"}.Record()
			wantProblem(t, got, err, "terms[1]: ", tt.want)
		})
	}
}

// TestPublishedSPFTerms checks terms that receivers know or ignore, but nobody should publish.
func TestPublishedSPFTerms(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"ptr", "ptr:b.example", "foo=bar", "foo=", "foo=%{i}:%%,%{c}"} {
		term, err := ParseSPFTerm(s)
		assert.Check(t, err == nil && term.String() == s, "%s reads as %s, %v", s, term, err)
	}
	for _, s := range []string{"ptr:", "foo=%abc", "foo=50%", "foo=%{z}", "foo=a b", "foo=\u00a0"} {
		_, err := ParseSPFTerm(s)
		assert.Check(t, err != nil, s)
	}
}

func TestSPFDefaultProblems(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "must have a result for all other hosts", "all": "every host of the internet", "+all": "every host of the internet", "mx": "mx does not cover",
		"redirect=": "the domain name is missing", "-al": "is not an SPF term", "-all ": "white space",
	} {
		got, err := SPF{Terms: []string{"mx"}, Default: in}.Record()
		wantProblem(t, got, err, "default: ", want)
	}
}

func TestSPFLookupLimit(t *testing.T) {
	t.Parallel()
	terms := []string{"a", "mx", "exists:%{i}.example.com", "ip4:192.0.2.1", "ip6:2001:db8::1", "exp=e.example.com"}
	for _, c := range "abcdefg" {
		terms = append(terms, "include:"+string(c)+".example.com")
	}
	if got, err := (SPF{Terms: terms, Default: "-all"}).Record(); err != nil {
		t.Errorf("ten lookups: %q, %v", got, err)
	}
	got, err := SPF{Terms: terms, Default: "redirect=_spf.example.com"}.Record()
	wantProblem(t, got, err, "terms: 11 terms need a DNS lookup", "after 10", "a, mx, exists:%{i}.example.com, include:a.example.com", "redirect=_spf.example.com")
	assert.Check(t, !strings.Contains(err.Error(), "192.0.2.1") && !strings.Contains(err.Error(), "exp="), "the error lists terms without a lookup: %v", err)
}

func TestSPFDuplicates(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a +A":                                 "terms[1]: a never matches, because element 0 is the same",
		"ip4:192.0.2.7/24 -ip4:192.0.2.0/24":   "terms[1]: -ip4:192.0.2.0/24 never matches",
		"include:b.example include:B.Example.": "terms[1]: include:b.example never matches",
		"exp=a.example exp=a.example":          "exp must not occur twice",
		"exp=a.example exp=b.example":          "exp must not occur twice",
	} {
		got, err := SPF{Terms: strings.Fields(in), Default: "-all"}.Record()
		wantProblem(t, got, err, want)
	}
}

// TestSPFAllProblems checks that all mistakes are reported at once.
func TestSPFAllProblems(t *testing.T) {
	t.Parallel()
	got, err := SPF{Terms: []string{"ptr", "mx", "ip4:x"}}.Record()
	wantProblem(t, got, err, "terms[0]: ptr", "\nterms[2]: ip4", "\ndefault: ")
}

func TestSPFLength(t *testing.T) {
	t.Parallel()
	var terms []string
	for i := range 1 << 13 {
		terms = append(terms, fmt.Sprintf("ip4:198.51.%d.%d", i>>8, i&0xff))
	}
	_, err := SPF{Terms: terms, Default: "-all"}.Record()
	assert.Check(t, err != nil && strings.Contains(err.Error(), "65535 octets"), "%.200v", err)
}

// wantProblem fails unless err contains all parts and there is no result.
func wantProblem(t *testing.T, got string, err error, parts ...string) {
	t.Helper()
	assert.Assert(t, err != nil && got == "", "got %q, %v; want an error", got, err)
	for _, part := range parts {
		assert.Check(t, strings.Contains(err.Error(), part), "%q is missing in: %v", part, err)
	}
}

// recordTests maps the name of a test to a record, with its text or a part of its problem.
type recordTests map[string]struct {
	in   interface{ Record() (string, error) }
	want string
}

func (tests recordTests) check(t *testing.T) {
	t.Helper()
	for name, tt := range tests {
		got, err := tt.in.Record()
		assert.Check(t, err == nil && got == tt.want, "%s: got %q, %v; want %q", name, got, err, tt.want)
		checkRecord(t, got)
	}
}

func (tests recordTests) checkProblems(t *testing.T) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.in.Record()
			wantProblem(t, got, err, tt.want)
		})
	}
}
