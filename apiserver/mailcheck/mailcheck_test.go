package mailcheck_test

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailcheck"
)

// world is a resolver of all names except those below unseen.example, which are unknown, and below
// broken.example, which it fails to look up.
type world map[string][]string

func (w world) Lookup(_ context.Context, name, recordType string) ([]string, error) {
	if strings.HasSuffix(name, "unseen.example") {
		return nil, mailcheck.ErrUnknown
	}
	if strings.HasSuffix(name, "broken.example") {
		return nil, errors.New("SERVFAIL")
	}
	return w[name+" "+recordType], nil
}

// result returns one check of example.com.
func result(r mailcheck.Resolver, check string, selectors ...string) mailcheck.Result {
	all := mailcheck.Check(context.Background(), "example.com", selectors, r)
	i := slices.IndexFunc(all, func(r mailcheck.Result) bool { return r.Check == check })
	return all[i]
}

func key(bits int) string {
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&k.PublicKey)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

var good, short = key(2048), key(1024)

func edKey() string {
	public, _, _ := ed25519.GenerateKey(nil)
	return base64.StdEncoding.EncodeToString(public)
}

// base returns a domain without problems.
func base() world {
	w := world{
		"example.com MX": {"10 mx.example.com", "20 mx.unseen.example"}, "mx.example.com A": {"192.0.2.1"},
		"example.com TXT":                                {"unrelated", "v=spf1 mx include:_spf.example.net -all"},
		"_spf.example.net TXT":                           {"v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 a:h0.example ~all"},
		"s1._domainkey.example.com TXT":                  {"v=DKIM1; k=rsa; p=" + good},
		"_dmarc.example.com TXT":                         {"v=DMARC1; p=reject; rua=mailto:a@example.com,mailto:b@reports.example"},
		"_mta-sts.example.com TXT":                       {"v=STSv1; id=20261124"},
		"mta-sts.example.com A":                          {"192.0.2.2"},
		"_smtp._tls.example.com TXT":                     {"v=TLSRPTv1; rua=mailto:a@example.com,https://example.com/r"},
		"example.com._report._dmarc.reports.example TXT": {"v=DMARC1"},
	}
	for i := range 20 {
		w[fmt.Sprintf("h%d.example A", i)] = []string{"192.0.2.9"}
	}
	return w
}

// TestChecks changes one name of a domain without problems.
func TestChecks(t *testing.T) {
	t.Parallel()
	const ok, warning, failed, skipped = mailcheck.OK, mailcheck.Warning, mailcheck.Failed, mailcheck.Skipped
	many := func(n int) (terms string) {
		for i := range n {
			terms += fmt.Sprintf(" a:h%d.example", i)
		}
		return terms
	}
	for _, r := range mailcheck.Check(t.Context(), "example.com", []string{"s1"}, base()) {
		assert.Check(t, r.Status == ok && r.Message != "" && r.Reference != "", "a domain without fault: %+v", r)
	}
	for _, tt := range []struct {
		check, name string // the name of the changed records
		values      []string
		status      string
		message     string
	}{
		{"mx", "example.com MX", nil, failed, "receives no mail"},
		{"mx", "example.com MX", []string{"0 ."}, ok, "null MX"},
		{"mx", "example.com MX", []string{"0 .", "10 mx.example.com"}, failed, "only MX record"},
		{"mx", "example.com MX", []string{"0 .", "10 ."}, failed, "the null MX must be the only MX record"},
		{"mx", "example.com MX", []string{"10 mx.broken.example"}, warning, "mx.broken.example can't be looked up: SERVFAIL"},
		{"mx", "example.com MX", []string{"10 192.0.2.1"}, failed, "must be a host name"},
		{"mx", "example.com MX", []string{"10 nothing.example"}, failed, "has no address"},
		{"mx", "mx.example.com CNAME", []string{"other.example"}, failed, "is an alias"},
		{"mta_sts", "example.com MX", []string{"0 ."}, ok, "accepts no mail"},
		{"apex", "example.com CNAME", []string{"site.example"}, failed, "alias of site.example"},

		{"spf", "example.com TXT", nil, failed, "there is no SPF record"},
		{"spf", "example.com TXT", []string{"v=spf10 -all"}, failed, "there is no SPF record"},
		{"spf", "example.com TXT", []string{"v=spf1 -all", "V=SPF1 mx -all"}, failed, "2 SPF records"},
		{"spf", "example.com TXT", []string{"v=spf1"}, warning, "says nothing about other servers"},
		{"spf", "example.com TXT", []string{"v=spf1 mx ALL ip4:x"}, failed, "+all"},
		{"spf", "example.com TXT", []string{"v=spf1" + many(10) + " -all"}, ok, "10 of at most 10 lookups"},
		{"spf", "example.com TXT", []string{"v=spf1" + many(11) + " -all"}, failed, "needs 11 lookups"},
		{"spf", "example.com TXT", []string{"v=spf1" + many(9) + " include:_spf.example.net -all"}, failed, "needs 11 lookups"},
		{"spf", "example.com TXT", []string{"v=spf1 redirect=_spf.example.net"}, ok, "2 of at most 10"},
		{"spf", "example.com TXT", []string{"v=spf1 include:_spf.unseen.example -all"}, ok, "1 of at most 10 lookups, beside those of include:_spf.unseen.example"},
		{"spf", "example.com TXT", []string{"v=spf1 include:%{d}.x.example exists:%{i}.x.example a:%{d}/24 -all"}, ok, "3 of at most 10"},
		{"spf", "example.com TXT", []string{"v=spf1 include:nothing.example -all"}, failed, "nothing.example has 0 SPF records"},
		{"spf", "example.com TXT", []string{"v=spf1 include:example.com -all"}, failed, "leads back"},
		{"spf", "example.com TXT", []string{"v=spf1 a:x1.example a:x2.example mx:x3.example -all"}, failed, "3 of its names do not exist, and receivers permit 2: a:x1.example"},
		{"spf", "example.com TXT", []string{"v=spf1 exists:x1.example exists:x2.example exists:x3.example -all"}, failed, "3 of its names do not exist"},
		{"spf", "example.com TXT", []string{"v=spf1 exists:h0.example -all"}, ok, "1 of at most 10"},
		{"spf", "example.com TXT", []string{"v=spf1 a:a.broken.example mx:b.broken.example exists:c.broken.example include:d.broken.example -all"}, warning, "a:a.broken.example can't be looked up: SERVFAIL; mx:b.broken.example can't be looked up: SERVFAIL; exists:c.broken.example can't be looked up: SERVFAIL; include:d.broken.example can't be"},
		{"spf", "_spf.example.net TXT", []string{"v=spf1 foo include:other.example ptr -all"}, failed, `include:_spf.example.net: "foo" is not an SPF term; expected`},
		{"spf", "_spf.example.net TXT", []string{"v=spf1 foo include:other.example ptr -all"}, failed, "include:_spf.example.net: include:other.example: other.example has 0 SPF records"},
		{"spf", "_spf.example.net TXT", []string{"v=spf1 foo include:other.example ptr -all"}, failed, "include:_spf.example.net: ptr must not"},
		{"spf", "example.com TXT", []string{"v=spf1 ptr ip4:192.0.2.1 -all"}, warning, "ptr must not"},
		{"spf", "example.com TXT", []string{"v=spf1 ip4:2001:db8::1 ip6:192.0.2.1/99 -all"}, failed, `ip4: "2001:db8::1" is no IPv4 address; expected one such as 192.0.2.0/24; ip6: "192.0.2.1"`},
		{"spf", "example.com TXT", []string{"v=spf1 inlcude:x.example -all"}, failed, `"inlcude:x.example" is not an SPF term`},
		{"spf", "example.com TXT", []string{"v=spf1 a/24 mx//64 exp=e.example ?all"}, warning, "says nothing about"},
		{"spf", "example.com TXT", []string{"v=spf1 " + strings.Repeat("ip4:192.0.2.100 ", 30) + "-all"}, warning, "octets"},

		{"dkim", "s1._domainkey.example.com TXT", nil, failed, "s1: there is no key"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=spf1 -all"}, failed, "s1: there is no key"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=spf1 -all", "v=DMARC1; p=reject"}, failed, "s1: there is no key"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"p=" + short}, warning, "1024 bits; use 2048"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=DKIM1; t=s : y; p=" + good}, warning, "only tested"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=DKIM1; p="}, failed, "nobody can verify"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=DKIM1; k=rsa"}, failed, "no key (p)"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=DKIM1; p=%%"}, failed, "base64"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=DKIM1; p=AAAA"}, failed, "not a public key"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=DKIM2; p=" + good}, failed, "version"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=DKIM1; k=x; p=" + good}, failed, `k is "x"`},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=DKIM1; k=ed25519; p=" + edKey()}, ok, "s1"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=DKIM1; p=" + edKey()}, failed, "of type ed25519"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=DKIM1; k=ed25519; p=MCowBQYDK2VwAyEA" + edKey()}, failed, "32 octets alone"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"p=" + good, "p=" + good}, failed, "2 records"},
		{"dkim", "s1._domainkey.example.com TXT", []string{"v=DKIM1; s=tlsrpt; p=" + good}, failed, "s1: s=tlsrpt excludes mail; there is no key"},

		{"dmarc", "_dmarc.example.com TXT", nil, failed, "there is no DMARC record"},
		{"dmarc", "_dmarc.example.com TXT", []string{"v=DMARC1; p=none", "v=DMARC1; p=reject"}, failed, "2 DMARC records"},
		{"dmarc", "_dmarc.example.com TXT", []string{"v=DMARC1; p=none; rua=mailto:a@example.com"}, warning, "p=none"},
		{"dmarc", "_dmarc.example.com TXT", []string{"v=DMARC1; p=rejct"}, failed, `"rejct"`},
		{"dmarc", "_dmarc.example.com TXT", []string{"v=dmarc1; p=reject"}, failed, "begin with v=DMARC1"},
		{"dmarc", "_dmarc.example.com TXT", []string{"v=DMARC1; p=reject; sp=none; t=y; pct=50; ri=1"}, warning, "sp=none lets forged mail from subdomains through; with t=y the policy is only tested; pct was removed by RFC 9989, and receivers ignore it; ri was removed by RFC 9989, and receivers ignore it; nobody receives reports"},
		{"dmarc", "_dmarc.example.com TXT", []string{"v=DMARC1; p=reject; rua=a@example.com"}, failed, "no mailto: address"},
		{"dmarc", "_dmarc.example.com TXT", []string{"v=DMARC1; p=reject; rua=mailto:a@example.com!10m"}, warning, "size of reports"},
		{"dmarc", "_dmarc.example.com TXT", []string{"v=DMARC1; p=reject; rua=mailto:a@other.example"}, warning, "example.com._report._dmarc.other.example"},
		{"dmarc", "_dmarc.example.com TXT", []string{"v=DMARC1; p=reject; rua=mailto:a@unseen.example"}, ok, "p=reject"},
		{"dmarc", "_dmarc.example.com TXT", []string{"v=DMARC1; p=reject; rua=mailto:a@broken.example"}, warning, "example.com._report._dmarc.broken.example can't be looked up"},
		{"dmarc", "_dmarc.example.com TXT", []string{"v=DMARC1; p=reject; rua=mailto:a@example.com; fo=1:2"}, failed, `fo is "1:2", and must be a list of 0, 1, d, s`},
		{"dmarc", "_dmarc.example.com TXT", []string{"v=DMARC1; p=reject; rua=mailto:a@example.com mailto:b@example.com"}, failed, "write a comma"},

		{"mta_sts", "_mta-sts.example.com TXT", nil, warning, "remove TLS"},
		{"mta_sts", "_mta-sts.example.com TXT", []string{"v=STSv1; id=a-b"}, failed, "letters and digits"},
		{"mta_sts", "_mta-sts.example.com TXT", []string{"v=STSv1; id=1", "v=STSv1; id=2"}, failed, "2 MTA-STS"},
		{"mta_sts", "mta-sts.example.com A", nil, failed, "has no address"},
		{"mta_sts", "_mta-sts.example.com TXT", []string{"v=STSv1; id=1; foo"}, failed, `"foo" is no tag`},
		{"tls_rpt", "_smtp._tls.example.com TXT", []string{"v=TLSRPTv1; rua=mailto:a@example.com; mailto:b@example.com"}, failed, `"mailto:b@example.com" is no tag`},
		{"tls_rpt", "_smtp._tls.example.com TXT", nil, warning, "nobody learns"},
		{"tls_rpt", "_smtp._tls.example.com TXT", []string{"v=TLSRPTv1; rua=ftp://x"}, failed, "neither"},
		{"bulk_senders", "_dmarc.example.com TXT", nil, failed, "DMARC is required"},
		{"bulk_senders", "_dmarc.example.com TXT", []string{"v=DMARC1; p=none"}, ok, "one-click"},
	} {
		w := base()
		w[tt.name] = tt.values
		r := result(w, tt.check, "s1")
		assert.Check(t, r.Status == tt.status && strings.Contains(r.Message, tt.message), "%s with %s %.120q: %+v; want %s: …%s…", tt.check, tt.name, tt.values, r, tt.status, tt.message)
		sentences := strings.Split(r.Message, "; ")
		slices.Sort(sentences)
		assert.Check(t, is.Len(slices.Compact(slices.Clone(sentences)), len(sentences)), "a sentence occurs twice: %s", r.Message)
	}
}

// TestRules contains a record for each rule that checkdmarc (github.com/domainaware/checkdmarc)
// tests. A record that checkdmarc refuses fails here, and a record that it warns of is at least a
// warning.
func TestRules(t *testing.T) {
	t.Parallel()
	const ok, warning, failed = mailcheck.OK, mailcheck.Warning, mailcheck.Failed
	rules := map[string]map[string][]string{
		"spf": {
			ok: {
				"v=spf1 -ALL", "V=SPF1 Ip4:192.0.2.1 -all", "v=spf1 -all  ", "v=spf1 ~all exp=why.h0.example", "v=spf1 ip6:2001:db8::1 ~all",
				"v=spf1 exists:%{i}.x.example -all", "v=spf1 a:%{l}.example.com mx:%{d} -all", "v=spf1 include:%{ir}.%{v}.%{d}.x.example -all", "v=spf1 redirect=%{d}._spf.example",
				"v=spf1 -all exp=%{D2r.}.x.example", "v=spf1 a:h0.example/24 a:h1.example//64 a:h2.example/24//64 mx/24 -all", "v=spf1 a:%{d}%%%_%-/24 -all", "v=spf1 unknown=x -all",
			},
			warning: {
				"v=spf1 -all MS=1", "v=spf1 -all redirect=_spf.example.net", "v=spf1 redirect=_spf.example.net -all", "v=spf1 -all mx mx", "v=spf1 -all ip4:192.0.2.1", "v=spf1 ptr -all", "v=spf1 ptr:%{d} -all", "v=spf1 exists:%{p}.x.example -all", "v=spf1 mx:nothing.example -all", "v=spf1 a:nothing.example -all", "v=spf1 ?all",
				"v=spf1 " + strings.Repeat("ip4:192.0.2.10 ", 36) + "-all",
			},
			failed: {
				"v=spf10 -all", "v=spf2.0/pra -all", " v=spf1 -all", "v=spf1; -all", "v=spf1 include: x.example -all", "v=spf1 include:nothing.example -all", "v=spf1 include:example.com -all",
				"v=spf1 redirect=example.com", "v=spf1 ip4:mail.example.com -all", "v=spf1 ip4:2001:db8::1 -all", "v=spf1 ip4:192.0.2.1/33 -all", "v=spf1 ip6:2001:db8::O1 -all",
				"v=spf1 ip6:192.0.2.1 -all", "v=spf1 ip6:2001:db8::/129 -all", "v=spf1 ip4:192.0.2.1~all", "v=spf1 ip4:%{i} -all", "v=spf1 ip6:%{i} -all", "v=spf1 ip4 -all",
				"v=spf1 a:%{?} -all", "v=spf1 mx:%{z} -all", "v=spf1 ptr:%{d -all", "v=spf1 include:%d.x.example -all", "v=spf1 exists:%{?}.x.example -all", "v=spf1 redirect=%{?}.x.example",
				"v=spf1 -all exp=%{?}", "v=spf1 exists -all", "v=spf1 exists: -all", "v=spf1 a/33 -all", "v=spf1 mx//129 -all", "v=spf1 -all:x", "v=spf1 all/24", "v=spf1 -all;",
				"v=spf1 redirect=_spf.example.net redirect=_spf.example.net", "v=spf1 -all exp=a.example exp=b.example", "v=spf1 mx:many.example -all",
				"v=spf1 a:n1.example mx:n2.example a:n3.example -all", "v=spf1 ip4:0.0.0.0/0 -all", "v=spf1 ip4=192.0.2.1 -all", "v=spf1 -all ip4:x", "v=spf1 exp:h0.example -all",
				"v=spf1 -all redirect=_spf.example.net redirect=_spf.example.net", "v=spf1 redirect=_spf.example.net -all redirect=_spf.example.net", "v=spf1 -all exp=a.example exp=a.example",
				"v=spf1 -all include:", "v=spf1 -all foo=%abc", "v=spf1 foo=50% -all", "v=spf1 mx\t-all", "v=spf1\t-all", "v=spf1 -all -redirect=x.example", "v=spf1 -all foo:bar",
			},
		},
		"dkim": {
			ok: {
				"p=" + good, "v=DKIM1; p=" + good + ";", "v=DKIM1;;k=rsa; p=" + good, " v = DKIM1\t; k = rsa; p = " + good[:40] + " \t" + good[40:], "v=DKIM1;\r\n k=rsa; p=" + good,
				"v=DKIM1; h=sha256; s=email; t=s; n=of=20you; p=" + good, "v=DKIM1; h = sha1 : sha256; s=tlsrpt:email; p=" + good, "v=DKIM1; s=*; p=" + good, "v=DKIM1; unknown=x=y; g=*; p=" + good,
				"v=DKIM1; k=ed25519; p=" + edKey(), "v=DKIM1; t=; p=" + good,
			},
			warning: {"v=DKIM1; t=s:y; p=" + good, "v=DKIM1; g=; p=" + good, "v=DKIM1; h=SHA256; p=" + good, "v=DKIM1; k=RSA; p=" + good},
			failed: {
				"v=DKIM1; h=rsa-sha256; p=" + good, "v=DKIM1; h=sha1; p=" + good, "v=DKIM1; h=; p=" + good, "v=DKIM1; s=tlsrpt; p=" + good, "v=DKIM1; s=; p=" + good,
				"v=DKIM1; p=" + good + "; p=" + good, "v=DKIM1; v=DKIM1; p=" + good, "v=DKIM1; k=rsa; k=rsa; p=" + good, "k=rsa; v=DKIM1; p=" + good, "p=" + good + "; v=DKIM1",
				"v=dkim1; p=" + good, "v=DKIM1.0; p=" + good, "v=; p=" + good, "v=DKIM1 k=rsa; p=" + good, "v=DKIM1; k=; p=" + good, "v=DKIM1; k=dsa; p=" + good, "v=DKIM1; P=" + good,
				"v=DKIM1; rsa; p=" + good, "v=DKIM1; 1k=rsa; p=" + good, "v=DKIM1\\; k=rsa\\; p=" + good, good, "v=DKIM1; =x; p=" + good, "v=DKIM1; p=" + good[:40] + "\u00a0" + good[40:], "v=DKIM1; n=ü; p=" + good,
			},
		},
		"dmarc": {
			ok: {
				"v=DMARC1;p=ReJect;rua=mailto:a@example.com", "v = DMARC1\t;\tp = reject\t; rua=mailto:a@example.com;", "V=DMARC1; p=reject; sp=quarantine; np=reject; psd=n; t=n; adkim=s; aspf=R; fo=1:d; rua=mailto:A%2Cb@example.com",
				"v=DMARC1; p=reject; rua=mailto:a@example.com?subject=y", "v=DMARC1; p=reject; rua=mailto:a@example.com.", "v=DMARC1; p=reject; rua=MAILTO:a%40Example.com", "v=DMARC1; p=reject; rua=mailto:a+b@example.com , mailto:a!b@sub.example.com; fo=0 : 1:D:s",
			},
			warning: {
				"v=DMARC1", "v=DMARC1;", "v=DMARC1; rua=mailto:a@example.com", "v=DMARC1; p=reject", "v=DMARC1; p=reject; pct=100; rua=mailto:a@example.com", "v=DMARC1; p=reject; rf=afrf; rua=mailto:a@example.com",
				"v=DMARC1; p=reject; ri=1; rua=mailto:a@example.com", "v=DMARC1; p=reject; t=y; rua=mailto:a@example.com", "v=DMARC1; p=reject; rua=https://example.com/submit",
				"v=DMARC1; p=reject; foobar=baz; rua=mailto:a@example.com", "v=DMARC1; p=reject; rau=mailto:a@example.com", "v=DMARC1; p=reject; strict; rua=mailto:a@example.com",
				"v=DMARC1; p=reject; rua=mailto:a@example.com,", "v=DMARC1; p=reject; rua=mailto:a@example.com; mailto:b@example.com",
			},
			failed: {
				"v=DMARC1; p=foo", "v=dmarc1; p=reject", "v=DMARC2; p=reject", "v=DMARC1 p=reject", "p=reject; v=DMARC1", "v=spf1 -all", "v=DMARC1; p=reject; np=invalid", "v=DMARC1; p=reject; sp=x",
				"v=DMARC1; p=reject; psd=x", "v=DMARC1; p=reject; t=x", "v=DMARC1; p=reject; adkim=x", "v=DMARC1; p=none; rua=a@example.com,mailto:b@example.com", "v=DMARC1; p=none; rua=__mailto:a@example.com",
				"v=DMARC1; p=none; p=reject; rua=mailto:a@example.com",
				"v=DMARC1; p=reject; rua=mailto:a@odd..test", "v=DMARC1; p=reject; rua=mailto:a@@example.com", "v=DMARC1; p=reject; rua=mailto: a@example.com", "v=DMARC1; p=reject; rua=mailto://a@example.com",
				"v=DMARC1; p=reject; rua=mailto:a@", "v=DMARC1; p=reject; rua=mailto:@example.com", "v=DMARC1; p=reject; rua=mailto:", "v=DMARC1; p=reject; rua=mailto:<a@example.com>", "v=DMARC1; p=reject; ruf=mailto:a@local host",
				"v=DMARC1; p=reject; ruf=mailto:a", "v=DMARC1; p=reject; rua=mailto:a%@example.com", "v=DMARC1; p=reject; rua=mailto:a@example.com!x", "v=DMARC1; p=reject; rua=mailto:a%20b@example.com", "v=DMARC1; p=reject; rua=https://",
				"v=DMARC1; p=reject; rua=mailto:a@example.com; fo=x", "v=DMARC1; p=reject; rua=mailto:a@example.com; fo=", "v=DMARC1; p=reject; rua=mailto:a@example.com; fo=0,1",
			},
		},
		"mta_sts": {
			ok:      {"v=STSv1; id=20261125T0101", "v=STSv1 ; id=abc;", "v=STSv1; id=foo; id=b-r", "v=STSv1; id=abc; extension=x"},
			warning: {"v =STSv1; id=abc", "v= STSv1; id=abc", "V=STSv1; id=abc", "v=STSv1", "v=spf1 -all", "v=STSv12; id=abc"},
			failed:  {"v=STSv1;", "v=STSv1; id =abc", "v=STSv1; id= abc", "v=STSv1; ID=abc", "v=STSv1; id=" + strings.Repeat("a", 33), "v=STSv1; id=1; foo", "v=STSv1;; id=1", "v=STSv1; id=1; foo=", "v=STSv1; id=1; a b=c", "v=STSv1; id=1; foo=b c", "v=STSv1; id=1 2"},
		},
		"tls_rpt": {
			ok:      {"v=TLSRPTv1; rua=mailto:a@example.com;", "v=TLSRPTv1; rua=mailto:a@example.com?subject=TLS,https://example.com:8443/r?x=y ; ", "v=TLSRPTv1; x-y.z=1; rua=mailto:a%40example.com", "v=TLSRPTv1;rua=mailto:a@example.com, https://example.com/r", "v=TLSRPTv1; rua=mailto:a@example.com; rua=x; 1ext=foo"},
			warning: {"v = TLSRPTv1; rua=mailto:a@example.com", "v=TLSRPTv1extra; rua=mailto:a@example.com", "v=TLSRPTv1", "v=spf1 -all"},
			failed: {"v=TLSRPTv1;", "v=TLSRPTv1; rua =mailto:a@example.com", "v=TLSRPTv1; RUA=mailto:a@example.com", "v=TLSRPTv1; rua=xhttps://example.com", "v=TLSRPTv1; rua=a@example.com",
				"v=TLSRPTv1; rua=mailto:", "v=TLSRPTv1; rua=mailto:a", "v=TLSRPTv1; rua=https://", "v=TLSRPTv1; rua=https://x y", "v=TLSRPTv1; rua=https://example.com/a b", "v=TLSRPTv1; rua=mailto:a@example.com mailto:b@example.com",
				"v=TLSRPTv1; rua=mailto:a@example.com; mailto:b@example.com", "v=TLSRPTv1; rua=mailto:a@example.com,", "v=TLSRPTv1; rua=mailto:a@example.com!10m", "v=TLSRPTv1; rua=http://example.com/r", "v=TLSRPTv1; rua=", "v=TLSRPTv1; rua=mailto:a@example.com; foo"},
		},
	}
	names := map[string]string{"spf": "example.com TXT", "dmarc": "_dmarc.example.com TXT", "mta_sts": "_mta-sts.example.com TXT", "tls_rpt": "_smtp._tls.example.com TXT", "dkim": "s1._domainkey.example.com TXT"}
	for check, byStatus := range rules {
		for status, records := range byStatus {
			for _, record := range records {
				w := base()
				w[names[check]] = []string{"a verification", record}
				if check == "dkim" {
					w[names[check]] = []string{record}
				}
				for i := range 11 {
					w["many.example MX"] = append(w["many.example MX"], fmt.Sprintf("10 h%d.example", i))
				}
				r := result(w, check, "s1")
				assert.Check(t, r.Status == status, "%s %q: %+v; want %s", check, record, r, status)
			}
		}
	}
}

// TestForeignCharacters inserts characters that programs show like ASCII, or not at all, at each
// place of a record. Receivers refuse the record then, so the check fails and names the character.
func TestForeignCharacters(t *testing.T) {
	t.Parallel()
	base, checks := base(), map[string]string{
		"example.com TXT": "spf", "s1._domainkey.example.com TXT": "dkim", "_dmarc.example.com TXT": "dmarc", "_mta-sts.example.com TXT": "mta_sts", "_smtp._tls.example.com TXT": "tls_rpt",
	}
	base["s1._domainkey.example.com TXT"] = []string{"v=DKIM1; k=ed25519; p=" + edKey()}
	for name, check := range checks {
		record := base[name][len(base[name])-1]
		for foreign, want := range map[string]string{
			"\u00a0": "a space that is not ASCII (U+00A0)", "\u2003": "a space that is not ASCII (U+2003)", "\u3000": "a space that is not ASCII (U+3000)",
			"\u200b": "an invisible character (U+200B)", "\u00ad": "an invisible character (U+00AD)", "\ufeff": "an invisible character (U+FEFF)", "\u202e": "an invisible character (U+202E)",
			"\u0085": "an invisible character (U+0085)", "\v": "an invisible character (U+000B)", "\n": "an invisible character (U+000A)", "\u2028": "an invisible character (U+2028)",
			"\u2013": "a dash that is not ASCII (U+2013)", "\u2011": "a dash that is not ASCII (U+2011)", "\u201c": "a quotation mark that is not ASCII (U+201C)", "\u2212": "a dash that is not ASCII (U+2212)", "\u00ab": "a quotation mark that is not ASCII (U+00AB)",
			"\u201e": "a quotation mark that is not ASCII (U+201E)", "ü": "'ü' (U+00FC)", "\uff1b": "'；' (U+FF1B)", "\u0430": "'а' (U+0430)", "\xa0": "the octet 0xA0",
		} {
			for i := range len(record) + 1 {
				w := world{}
				maps.Copy(w, base)
				w[name] = []string{record[:i] + foreign + record[i:]}
				r := result(w, check, "s1")
				assert.Check(t, r.Status == mailcheck.Failed && strings.Contains(r.Message, want), "%q: %+v, want %s", w[name], r, want)
			}
		}
	}
	for text, want := range map[string]string{
		"v=spf1 include:_spf.example.net –all":       `(U+2013) after "de:_spf.example.net "`,
		"\ufeffv=spf1 -all":                          "(U+FEFF) at its beginning",
		"“v=spf1 -all”":                              "(U+201C) at its beginning",
		"v=spf1 include:foreign.example -all":        `include:foreign.example: the record contains a space`,
		"v=spf1 -all":                                "",
		"v=spf1 include:_spf.example.net -all\u00a0": `after "spf.example.net -all"`,
	} {
		w := base
		w["example.com TXT"], w["foreign.example TXT"] = []string{"über uns", text}, []string{"v=spf1 mx\u00a0-all"}
		r := result(w, "spf", "s1")
		assert.Check(t, strings.Contains(r.Message, want) && (r.Status == mailcheck.Failed) == (want != ""), "%q: %+v", text, r)
	}
}

// TestInheritedDMARC checks domains without an own record (RFC 9989, section 4.10).
func TestInheritedDMARC(t *testing.T) {
	t.Parallel()
	const rua = "; rua=mailto:a@example.com"
	w := world{
		"_dmarc.example.com TXT": {"v=DMARC1; p=reject; sp=quarantine; np=reject" + rua}, "_dmarc.own.example.com TXT": {"v=DMARC1; p=none" + rua},
		"_dmarc.none.example TXT": {"v=DMARC1; p=reject; sp=none; rua=mailto:a@none.example"}, "_dmarc.plain.example TXT": {"v=DMARC1; p=reject; rua=mailto:a@other.example"},
		"_dmarc.mid.example TXT": {"v=DMARC1; p=reject; rua=mailto:a@mid.example"}, "_dmarc.b.mid.example TXT": {"v=DMARC1; p=quarantine; rua=mailto:a@mid.example"}, "_dmarc.n.mid.example TXT": {"v=DMARC1; p=none; psd=n; rua=mailto:a@mid.example"},
		"_dmarc.bank TXT": {"v=DMARC1; p=reject; psd=y; rua=mailto:a@bank.example"}, "_dmarc.own.bank TXT": {"v=DMARC1; p=quarantine; rua=mailto:a@own.bank"}, "_dmarc.c.deep.bank TXT": {"v=DMARC1; p=none; rua=mailto:a@deep.bank"},
		"_dmarc.two.mid.example TXT": {"v=DMARC1; p=none", "v=DMARC1; p=quarantine"}, "_dmarc.bad.mid.example TXT": {"v=dmarc1; p=none"},
	}
	for domain, want := range map[string]string{
		"example.com":                "ok: forged mail is treated by p=reject",
		"news.example.com":           "ok: forged mail is treated by sp=quarantine in the record of example.com",
		"a.b.c.d.e.f.g.example.com":  "ok: forged mail is treated by sp=quarantine in the record of example.com",
		"own.example.com":            "warning: with p=none, forged mail",
		"a.own.example.com":          "ok: forged mail is treated by sp=quarantine in the record of example.com", // the organization's, not the one between
		"a.none.example":             "warning: with sp=none in the record of none.example, forged mail is delivered",
		"a.plain.example":            "warning: rua: other.example does not agree to receive reports; it needs a TXT record v=DMARC1 at plain.example._report",
		"a.b.mid.example":            "ok: forged mail is treated by p=reject in the record of mid.example",
		"a.n.mid.example":            "warning: with p=none in the record of n.mid.example",
		"a.two.mid.example":          "ok: forged mail is treated by p=reject in the record of mid.example",
		"two.mid.example":            "failed: there are 2 DMARC records",
		"a.bad.mid.example":          "ok: forged mail is treated by p=reject in the record of mid.example",
		"other.bank":                 "warning: rua: bank.example does not agree",
		"a.own.bank":                 "ok: forged mail is treated by p=quarantine in the record of own.bank",
		"a.c.deep.bank":              "warning: rua: bank.example does not agree",
		"nothing.example.net":        "failed: there is no DMARC record at _dmarc.nothing.example.net, so that",
		"news.unseen.example":        "skipped: _dmarc.news.unseen.example: it can't",
		"a.b.c.d.e.f.g.h.i.mid.test": "failed: there is no DMARC record at _dmarc.a.b",
	} {
		all := mailcheck.Check(t.Context(), domain, nil, w)
		r := all[slices.IndexFunc(all, func(r mailcheck.Result) bool { return r.Check == "dmarc" })]
		assert.Check(t, strings.HasPrefix(r.Status+": "+r.Message, want), "%s: %+v, want %s", domain, r, want)
	}

	// With the records of one domain alone, the names above it are unknown, except that a registry
	// has no policy.
	for domain, want := range map[string]string{
		"news.example.com":      "skipped: there is no record at _dmarc.news.example.com, so that another one applies; _dmarc.example.com: it can't be seen",
		"news.example.co.uk":    "skipped: ",
		"example.com":           "failed: there is no DMARC record",
		"example.co.uk":         "failed: there is no DMARC record",
		"example.github.io":     "skipped: there is no record at _dmarc.example.github.io, so that another one applies; _dmarc.github.io: ",
		"example.internal.test": "skipped: ",
	} {
		z, err := mailcheck.NewZone(domain, nil)
		assert.NilError(t, err)
		all := mailcheck.Check(t.Context(), domain, nil, z)
		assert.Check(t, strings.HasPrefix(all[3].Status+": "+all[3].Message, want), "%s: %+v, want %s", domain, all[3], want)
		bulk := all[len(all)-1]
		assert.Check(t, bulk.Status == mailcheck.Failed, "%s: %+v", domain, bulk) // without SPF
	}
}

// TestParked checks domains that send no mail.
func TestParked(t *testing.T) {
	t.Parallel()
	parked := func(records ...string) map[string]string {
		z, err := mailcheck.NewZone("example.com", append(recordsOf("@ MX 0 .", "@ TXT v=spf1 -all", "_dmarc TXT v=DMARC1; p=reject"), recordsOf(records...)...))
		assert.NilError(t, err)
		got := map[string]string{}
		for _, selectors := range [][]string{z.Selectors(), append(z.Selectors(), "mailhost")} { // as mailhostd check
			for _, r := range mailcheck.Check(t.Context(), "example.com", selectors, z) {
				got[r.Check] += r.Status + " "
			}
		}
		return got
	}
	for _, records := range [][]string{
		nil, {"*._domainkey TXT v=DKIM1; p="}, {"mailhost._domainkey TXT v=DKIM1; p="}, {"* TXT v=spf1 -all"}, {"* MX 0 .", "* TXT v=DKIM1; p="}, {"@ A 192.0.2.1", "www CNAME example.com."},
	} {
		for check, status := range parked(records...) {
			assert.Check(t, status == "ok ok ", "%s with %q: %s", check, records, status)
		}
	}
	// With the key of a sender, or another SPF or MX record, the domain may send.
	assert.Check(t, is.Equal(parked("s1._domainkey TXT v=DKIM1; p=" + good)["dkim"], "ok failed "))
	for _, changed := range []string{"v=spf1 ip4:192.0.2.1 -all", "v=spf1 ~all", "v=spf1 ~all include:_spf.example.net", "v=spf1 +all", "v=spf1 include:spf.example.com -all"} {
		z, err := mailcheck.NewZone("example.com", recordsOf("@ MX 0 .", "@ TXT "+changed, "_dmarc TXT v=DMARC1; p=reject; rua=mailto:a@example.com", "spf TXT v=spf1 a:mx.example.com -all", "mx A 192.0.2.1"))
		assert.NilError(t, err)
		assert.Check(t, is.Equal(result(z, "dkim").Status, mailcheck.Failed), changed)
		assert.Check(t, is.Equal(result(z, "bulk_senders").Status, mailcheck.Failed), changed)
	}
	// A policy that lets nobody send needs no key, without null MX as well. If the null MX names a
	// policy that can't be seen, it is unknown whether the domain sends.
	for records, want := range map[string]string{
		"@ MX 10 mx.example.net.; @ TXT v=spf1 -all":                              "ok ok",
		"@ TXT v=spf1 -all; *._domainkey TXT v=DKIM1; p=":                         "ok ok",
		"@ TXT v=spf1 -include:p.example.com -all; p TXT v=spf1 mx -all":          "ok ok",
		"@ TXT v=spf1 -include:_spf.example.net ?mx -all":                         "ok ok",
		"@ TXT v=spf1 redirect=p.example.com; p TXT v=spf1 -all":                  "ok ok",
		"@ MX 0 .; @ TXT v=spf1 redirect=_spf.example.net":                        "skipped skipped",
		"@ MX 0 .; @ TXT v=spf1 include:_spf.example.net -all":                    "skipped skipped",
		"@ MX 0 .; @ TXT v=spf1 mx -include:_spf.example.net -all":                "failed failed",
		"@ MX 10 mx.example.net.; @ TXT v=spf1 include:_spf.example.net -all":     "failed failed",
		"@ MX 10 mx.example.net.; @ TXT v=spf1 -all mx":                           "ok ok",
		"@ MX 10 mx.example.net.; @ TXT v=spf1 include:p -all; p TXT v=spf1 -all": "failed failed",
	} {
		z, err := mailcheck.NewZone("example.com", recordsOf(append(strings.Split(strings.ReplaceAll(records, "; p=", ";p="), "; "), "_dmarc TXT v=DMARC1; p=reject; rua=mailto:a@example.com")...))
		assert.NilError(t, err)
		assert.Check(t, is.Equal(result(z, "dkim", "mailhost").Status+" "+result(z, "bulk_senders").Status, want), records)
	}
}

// recordsOf parses records, each as name, type and value.
func recordsOf(lines ...string) (records []mailcheck.Record) {
	for _, line := range lines {
		parts := strings.SplitN(line, " ", 3)
		records = append(records, mailcheck.Record{Name: parts[0], Type: parts[1], Value: parts[2]})
	}
	return records
}

// TestLookup checks the rules of name servers, with the zone of RFC 4592, section 2.2.1, and more.
// Package commands compares random zones with a name server.
func TestLookup(t *testing.T) {
	t.Parallel()
	z, err := mailcheck.NewZone("example.com", recordsOf(
		"* TXT this is a wildcard", "* MX 10 host1.example.com.", "host1 A 192.0.2.1", "_ssh._tcp.host1 SRV 0 0 22 host1.example.com.", "_ssh._tcp.host2 SRV 0 0 22 host2.example.com.",
		"subdel NS ns.example.net.", "ns.subdel A 192.0.2.9", "*.alias CNAME target.example.net.", "*.inner CNAME Host1.Example.com.", "chain CNAME chain2.example.com.", "chain2 CNAME host1.example.com.", "dangling CNAME host1.none.inner2.example.com.", "x.inner2 A 192.0.2.3",
	))
	assert.NilError(t, err)
	const unknown = "unknown"
	for query, want := range map[string]string{
		"host3.example.com MX": "10 host1.example.com", "host3.example.com A": "", "foo.bar.example.com TXT": "this is a wildcard",
		"host1.example.com MX": "", "ghost.*.example.com MX": "", "_telnet._tcp.host1.example.com SRV": "", "host.subdel.example.com A": unknown, "subdel.example.com TXT": unknown, "ns.subdel.example.com A": unknown,
		"_tcp.host2.example.com TXT": "", "host2.example.com TXT": "", "x.host2.example.com TXT": "", "*.example.com TXT": "this is a wildcard", "HOST3.Example.COM. TXT": "this is a wildcard",
		"x.alias.example.com A": unknown, "x.alias.example.com CNAME": "target.example.net", "alias.example.com A": "", "a.b.inner.example.com A": "192.0.2.1", "inner.example.com A": "",
		"chain.example.com A": "192.0.2.1", "dangling.example.com A": "", "example.com TXT": "", "www.example.net A": unknown, "com TXT": unknown, "xexample.com A": unknown,
	} {
		name, recordType, _ := strings.Cut(query, " ")
		values, err := z.Lookup(t.Context(), name, recordType)
		got := strings.Join(values, ", ")
		if err != nil {
			got = unknown
		}
		assert.Check(t, is.Equal(got, want), query)
	}
	for name, want := range map[string]bool{"example.com": true, "host1.example.com": true, "x.host1.example.com": false, "_tcp.host2.example.com": true, "any.example.com": true, "a.subdel.example.com": true, "none.x.inner2.example.com": false} {
		assert.Check(t, is.Equal(z.Exists(t.Context(), name), want), name)
	}
}

// TestWildcards checks mail whose hosts and policies exist by wildcards only.
func TestWildcards(t *testing.T) {
	t.Parallel()
	z, err := mailcheck.NewZone("example.com", recordsOf(
		"@ MX 10 mail.example.com.", "* A 192.0.2.1", "@ TXT v=spf1 a:out.example.com mx:list.example.com -all", "list MX 10 mail.example.com.", "_dmarc TXT v=DMARC1; p=reject; rua=mailto:a@example.com",
		"s1._domainkey TXT v=DKIM1; p="+good, "*._domainkey TXT v=DKIM1; p=", "_mta-sts TXT v=STSv1; id=1;", "_smtp._tls TXT v=TLSRPTv1; rua=mailto:a@example.com",
	))
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(z.Selectors(), []string{"s1"}))
	for _, r := range mailcheck.Check(t.Context(), "example.com", z.Selectors(), z) {
		assert.Check(t, r.Status == mailcheck.OK, "%+v", r)
	}
	// A name below mta-sts keeps the wildcard from it.
	z, err = mailcheck.NewZone("example.com", recordsOf("* A 192.0.2.1", "_mta-sts TXT v=STSv1; id=1;", "x.mta-sts TXT x"))
	assert.NilError(t, err)
	assert.Check(t, strings.Contains(result(z, "mta_sts").Message, "has no address"))
}

// TestSelectors checks the names below _domainkey that are no selectors.
func TestSelectors(t *testing.T) {
	t.Parallel()
	for records, want := range map[string]string{
		"s1._domainkey TXT": "s1", "A.B._domainkey CNAME": "a.b", "k_1-x._domainkey TXT": "k_1-x", "s1._domainkey NS": "s1", "2024._domainkey TXT": "2024",
		"_adsp._domainkey TXT": "", "_report._domainkey TXT": "", "_policy._domainkey TXT": "", "_ssp._domainkey TXT": "", "a._report._domainkey TXT": "", "_domainkey TXT": "", "*._domainkey TXT": "", "*.a._domainkey CNAME": "",
		"s1._domainkey.sub TXT": "", "s1._domainkey A": "", "_domainkey.s1 TXT": "",
	} {
		name, recordType, _ := strings.Cut(records, " ")
		value := map[string]string{"TXT": "v=DKIM1; p=", "A": "192.0.2.1"}[recordType]
		z, err := mailcheck.NewZone("example.com", []mailcheck.Record{{Name: name, Type: recordType, Value: cmp.Or(value, "host.example.net.")}})
		assert.NilError(t, err)
		assert.Check(t, is.Equal(strings.Join(z.Selectors(), " "), want), records)
	}
	for records, want := range map[string]string{
		"_domainkey NS ns.example.net.": "skipped: *._domainkey.example.com: it can't be seen", "*._domainkey TXT v=DKIM1; p=" + good: "ok: there are keys for *", "*._domainkey TXT v=DKIM1; p=": "failed: there is no key", "_adsp._domainkey TXT dkim=all": "failed: there is no key",
	} {
		z, err := mailcheck.NewZone("example.com", recordsOf(records))
		assert.NilError(t, err)
		r := result(z, "dkim", z.Selectors()...)
		assert.Check(t, strings.HasPrefix(r.Status+": "+r.Message, want), "%s: %+v", records, r)
	}
}

// TestZone checks a domain by its zone, which does not contain names elsewhere.
func TestZone(t *testing.T) {
	t.Parallel()
	ten := int64(10)
	z, err := mailcheck.NewZone("example.com", []mailcheck.Record{
		{Name: "@", Type: "MX", Value: "MX.example.com.", Priority: &ten}, {Name: "@", Type: "mx", Value: "20 mx.example.net"}, {Name: "mx.example.com.", Type: "A", Value: "192.0.2.1"},
		{Name: "@", Type: "TXT", Value: `"v=spf1 include:_spf.exam" "ple.net include:sub.example.com -all"`},
		{Name: "a._domainkey", Type: "CNAME", Value: "a.host.example."}, {Name: "b._domainkey", Type: "CNAME", Value: "c._domainkey.example.com"}, {Name: "c._domainkey", Type: "TXT", Value: "v=DKIM1; p=" + good},
		{Name: "_dmarc", Type: "TXT", Value: "v=DMARC1; p=quarantine; rua=mailto:a@example.net"},
		{Name: "sub", Type: "NS", Value: "ns.example.net"}, {Name: "loop", Type: "CNAME", Value: "loop2.example.com"}, {Name: "loop2", Type: "CNAME", Value: "loop.example.com"},
	})
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(z.Selectors(), []string{"a", "b", "c"}), "selectors")
	for check, want := range map[string]string{
		"mx": "ok: mail is received by 10 mx.example.com, 20 mx.example.net", "spf": "ok: 2 of at most 10 lookups, beside those of include:_spf.example.net, include:sub.example.com",
		"dkim": "ok: there are keys for a (elsewhere), b, c", "dmarc": "ok: forged mail is treated by p=quarantine", "apex": "ok: ", "bulk_senders": "ok: ", "mta_sts": "warning: ",
	} {
		r := result(z, check, z.Selectors()...)
		assert.Check(t, strings.HasPrefix(r.Status+": "+r.Message, want), "%s: %+v, want %s", check, r, want)
	}
	// Records that mail does not need only make their names exist.
	z2, err := mailcheck.NewZone("example.com", recordsOf("@ SOA ns.example.com. a.example.com. 1 2 3 4 5", "_25._tcp.mx TLSA 3 1 1 00", "www HTTPS 1 .", "@ SPF v=spf1 mx", "@ CAA x", "_sip SRV x", "www.example.net. A x", "a b TLSA x", "* A 192.0.2.1"))
	assert.NilError(t, err)
	assert.Check(t, !z2.Exists(t.Context(), "x._tcp.mx.example.com") && z2.Exists(t.Context(), "mx.example.com"))
	noAddress, err := z2.Lookup(t.Context(), "mx.example.com", "A")
	assert.Check(t, len(noAddress) == 0 && err == nil)
	values, err := z.Lookup(t.Context(), "loop.example.com", "A")
	assert.Check(t, values == nil && err == nil, "a loop of aliases: %v, %v", values, err)
	for _, r := range []mailcheck.Record{{Name: "a b", Type: "A", Value: "192.0.2.1"}, {Name: "@", Type: "A", Value: "x"}, {Name: "@", Type: "A", Value: "192.0.2.1", Domain: "a b"}, {Name: "@", Type: "MX", Value: "mx.example.com."}} {
		_, err := mailcheck.NewZone("example.com", []mailcheck.Record{r})
		assert.Check(t, err != nil, "%+v is accepted", r)
	}
}

// TestDomains checks domains with the records of several ones.
func TestDomains(t *testing.T) {
	t.Parallel()
	var records []mailcheck.Record
	for domain, lines := range map[string][]string{
		"Example.com": {
			"@ MX 10 mx.example.com.", "mx A 192.0.2.1", "@ TXT v=spf1 mx -all", "_dmarc TXT v=DMARC1; p=quarantine; sp=reject; rua=mailto:a@example.com", "s1._domainkey TXT v=DKIM1; p=" + good,
			"news TXT v=spf1 -all", "s2._domainkey.news TXT v=DKIM1; p=" + good, "own NS ns.example.net.",
		},
		"own.example.com": {"@ MX 10 mx.example.com.", "@ TXT v=spf1 mx -all", "s3._domainkey TXT v=DKIM1; p=" + good},
		"example.org":     {"@ MX 0 .", "@ TXT v=spf1 +all", "@ TXT v=spf1 -all", "_dmarc TXT v=DMARC1; p=none", "s4._domainkey TXT v=DKIM1; p=", "a b A x"},
	} {
		for _, r := range recordsOf(lines...) {
			r.Domain = domain
			records = append(records, r)
		}
	}
	for domain, want := range map[string][]string{
		"example.com":      {"s1", "mx ok: mail is received by 10 mx.example.com", "spf ok: 1 of", "dkim ok: there are keys for s1", "dmarc ok: forged mail is treated by p=quarantine"},
		"news.example.com": {"s2", "mx failed: there is no MX record", "spf ok: 0 of", "dkim ok: there are keys for s2", "dmarc ok: forged mail is treated by sp=reject in the record of example.com"},
		"own.example.com":  {"s3", "mx ok: mail is received by 10 mx.example.com", "spf ok: 1 of", "dkim ok: there are keys for s3", "dmarc ok: forged mail is treated by sp=reject in the record of example.com"},
		"example.org":      {"s4", "", "spf failed: there are 2 SPF records"},
	} {
		z, err := mailcheck.NewZone(domain, slices.DeleteFunc(slices.Clone(records), func(r mailcheck.Record) bool { return domain == "example.org" && r.Name == "a b" }))
		assert.NilError(t, err)
		assert.Check(t, is.DeepEqual(z.Selectors(), want[:1]), domain)
		results := mailcheck.Check(t.Context(), domain, z.Selectors(), z)
		for i, prefix := range want[1:] {
			assert.Check(t, strings.HasPrefix(results[i].Check+" "+results[i].Status+": "+results[i].Message, prefix), "%s: %+v, want %s", domain, results[i], prefix)
		}
	}
}
