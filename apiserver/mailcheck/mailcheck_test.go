package mailcheck_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailcheck"
)

// world is a resolver of all names except those below unseen.example.
type world map[string][]string

func (w world) Lookup(_ context.Context, name, recordType string) ([]string, error) {
	if strings.HasSuffix(name, "unseen.example") {
		return nil, mailcheck.ErrUnknown
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
		{"spf", "example.com TXT", []string{"v=spf1 ptr ip4:192.0.2.1 -all"}, warning, "ptr must not"},
		{"spf", "example.com TXT", []string{"v=spf1 ip4:2001:db8::1 ip6:192.0.2.1/99 -all"}, failed, `ip4: "2001:db8::1" is no IPv4 address; expected one such as 192.0.2.0/24; ip6: "192.0.2.1"`},
		{"spf", "example.com TXT", []string{"v=spf1 inlcude:x.example -all"}, failed, `"inlcude:x.example" is not an SPF term`},
		{"spf", "example.com TXT", []string{"v=spf1 a/24 mx//64 exp=e.example ?all"}, warning, "says nothing about"},
		{"spf", "example.com TXT", []string{"v=spf1 " + strings.Repeat("ip4:192.0.2.100 ", 30) + "-all"}, warning, "octets"},

		{"dkim", "s1._domainkey.example.com TXT", nil, failed, "s1: there is no key"},
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

		{"mta_sts", "_mta-sts.example.com TXT", nil, warning, "remove TLS"},
		{"mta_sts", "_mta-sts.example.com TXT", []string{"v=STSv1; id=a-b"}, failed, "letters and digits"},
		{"mta_sts", "_mta-sts.example.com TXT", []string{"v=STSv1; id=1", "v=STSv1; id=2"}, failed, "2 MTA-STS"},
		{"mta_sts", "mta-sts.example.com A", nil, failed, "has no address"},
		{"tls_rpt", "_smtp._tls.example.com TXT", nil, warning, "nobody learns"},
		{"tls_rpt", "_smtp._tls.example.com TXT", []string{"v=TLSRPTv1; rua=ftp://x"}, failed, "neither"},
		{"bulk_senders", "_dmarc.example.com TXT", nil, failed, "DMARC is required"},
		{"bulk_senders", "_dmarc.example.com TXT", []string{"v=DMARC1; p=none"}, ok, "one-click"},
	} {
		w := base()
		w[tt.name] = tt.values
		r := result(w, tt.check, "s1")
		assert.Check(t, r.Status == tt.status && strings.Contains(r.Message, tt.message), "%s with %s %.120q: %+v; want %s: …%s…", tt.check, tt.name, tt.values, r, tt.status, tt.message)
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
				"v=spf1 -all MS=1", "v=spf1 -all ip4:192.0.2.1", "v=spf1 ptr -all", "v=spf1 ptr:%{d} -all", "v=spf1 exists:%{p}.x.example -all", "v=spf1 mx:nothing.example -all", "v=spf1 a:nothing.example -all", "v=spf1 ?all",
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
			},
		},
		"dmarc": {
			ok: {
				"v=DMARC1;p=ReJect;rua=mailto:a@example.com", "v = DMARC1\t;\tp = reject\t; rua=mailto:a@example.com;", "V=DMARC1; p=reject; sp=quarantine; np=reject; psd=n; t=n; adkim=s; aspf=R; fo=1:d; rua=mailto:A%2Cb@example.com",
			},
			warning: {
				"v=DMARC1", "v=DMARC1;", "v=DMARC1; rua=mailto:a@example.com", "v=DMARC1; p=reject", "v=DMARC1; p=reject; pct=100; rua=mailto:a@example.com", "v=DMARC1; p=reject; rf=afrf; rua=mailto:a@example.com",
				"v=DMARC1; p=reject; ri=1; rua=mailto:a@example.com", "v=DMARC1; p=reject; t=y; rua=mailto:a@example.com", "v=DMARC1; p=reject; rua=https://example.com/submit",
				"v=DMARC1; p=reject; foobar=baz; rua=mailto:a@example.com", "v=DMARC1; p=reject; rau=mailto:a@example.com",
			},
			failed: {
				"v=DMARC1; p=foo", "v=dmarc1; p=reject", "v=DMARC2; p=reject", "v=DMARC1 p=reject", "p=reject; v=DMARC1", "v=spf1 -all", "v=DMARC1; p=reject; np=invalid", "v=DMARC1; p=reject; sp=x",
				"v=DMARC1; p=reject; psd=x", "v=DMARC1; p=reject; t=x", "v=DMARC1; p=reject; adkim=x", "v=DMARC1; p=none; rua=a@example.com,mailto:b@example.com", "v=DMARC1; p=none; rua=__mailto:a@example.com",
			},
		},
		"mta_sts": {
			ok:      {"v=STSv1; id=20261125T0101", "v=STSv1 ; id=abc;", "v=STSv1; id=foo; id=b-r", "v=STSv1; id=abc; extension=x"},
			warning: {"v =STSv1; id=abc", "v= STSv1; id=abc", "V=STSv1; id=abc", "v=STSv1", "v=spf1 -all", "v=STSv12; id=abc"},
			failed:  {"v=STSv1;", "v=STSv1; id =abc", "v=STSv1; id= abc", "v=STSv1; ID=abc", "v=STSv1; id=" + strings.Repeat("a", 33)},
		},
		"tls_rpt": {
			ok:      {"v=TLSRPTv1; rua=mailto:a@example.com;", "v=TLSRPTv1;rua=mailto:a@example.com, https://example.com/r", "v=TLSRPTv1; rua=mailto:a@example.com; rua=x; 1ext=foo"},
			warning: {"v = TLSRPTv1; rua=mailto:a@example.com", "v=TLSRPTv1extra; rua=mailto:a@example.com", "v=TLSRPTv1", "v=spf1 -all"},
			failed:  {"v=TLSRPTv1;", "v=TLSRPTv1; rua =mailto:a@example.com", "v=TLSRPTv1; RUA=mailto:a@example.com", "v=TLSRPTv1; rua=xhttps://example.com", "v=TLSRPTv1; rua=a@example.com"},
		},
	}
	names := map[string]string{"spf": "example.com TXT", "dmarc": "_dmarc.example.com TXT", "mta_sts": "_mta-sts.example.com TXT", "tls_rpt": "_smtp._tls.example.com TXT"}
	for check, byStatus := range rules {
		for status, records := range byStatus {
			for _, record := range records {
				w := base()
				w[names[check]] = []string{"a verification", record}
				for i := range 11 {
					w["many.example MX"] = append(w["many.example MX"], fmt.Sprintf("10 h%d.example", i))
				}
				r := result(w, check, "s1")
				assert.Check(t, r.Status == status, "%s %q: %+v; want %s", check, record, r, status)
			}
		}
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
	values, err := z.Lookup(t.Context(), "loop.example.com", "A")
	assert.Check(t, values == nil && err == nil, "a loop of aliases: %v, %v", values, err)
	for _, r := range []mailcheck.Record{{Name: "a b", Type: "A", Value: "192.0.2.1"}, {Name: "@", Type: "X", Value: "1"}, {Name: "@", Type: "A", Value: "x"}, {Name: "@", Type: "MX", Value: "mx.example.com."}} {
		_, err := mailcheck.NewZone("example.com", []mailcheck.Record{r})
		assert.Check(t, err != nil, "%+v is accepted", r)
	}
}
