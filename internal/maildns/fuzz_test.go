package maildns

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// checkRecord fails unless a zone can contain the record.
func checkRecord(t *testing.T, record string) {
	t.Helper()
	if strings.ContainsFunc(record, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("%q has characters other than printable ASCII", record)
	}
	text, err := dnsdata.NormalizeValue(dnsdata.TypeTXT, record)
	if err != nil || text != record {
		t.Errorf("as a value of TXT %q is %q, %v", record, text, err)
	}
}

// FuzzSPF checks that building a record from a built record changes nothing.
func FuzzSPF(f *testing.F) {
	for _, s := range [][2]string{
		{"mx a:colo.example.com/28", "-all"}, {"exists:%{ir}.%{l1r+-}._spf.%{d}", "~all"}, {"ip6:2001:DB8::1/32 ip4:192.0.2.1/24", "?all"},
		{"exp=explain._spf.%{d} ~mx/24//64", "redirect=%{l1r+}._at_.%{o,=_/}._spf.%{d}"}, {"include:bücher.example", "-ALL"}, {"a:%{o/}/24 a/", "all"},
		{"ptr ip4=x -redirect=a", ""}, {"exists:%%%_%-.%{S}.EXAMPLE.", "+all"}, {"?ip4:0.0.0.0/0 a//0", "-all"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, terms, fallback string) {
		s := SPF{Terms: strings.Split(terms, " "), Default: fallback}
		if terms == "" {
			s.Terms = nil
		}
		record, err := s.Record()
		if err != nil {
			return
		}
		checkRecord(t, record)
		again := spfOf(strings.TrimPrefix(record, "v=spf1 "))
		if got, err := again.Record(); err != nil || got != record {
			t.Errorf("%q and %q became %q, then %q, %v", terms, fallback, record, got, err)
		}
		lookups := 0
		for _, term := range strings.Fields(record)[1:] {
			name := strings.TrimLeft(term, "+-~?")
			for _, prefix := range []string{"include:", "a:", "a/", "mx", "exists:", "redirect="} {
				if strings.HasPrefix(name, prefix) || name == "a" && prefix == "a:" {
					lookups++
				}
			}
		}
		if lookups > 10 {
			t.Errorf("%d lookups in %q", lookups, record)
		}
	})
}

func FuzzDMARC(f *testing.F) {
	for _, s := range [][3]string{
		{"reject", "dmarc@example.com", "1"}, {"none", "mailto:a%21b@Bücher.example!10M", "d"}, {"x", "a@b.c,d@e.f", ""}, {"quarantine", "mailto:%", "0"},
		{"none", "a!b%c=d;e@example.com", "s"}, {"none", "a@example.com!0", "s"}, {"none", "a@[192.0.2.1]", "s"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, policy, address, fo string) {
		record, err := DMARC{P: policy, RUA: []string{address}, FO: []string{fo}}.Record()
		if err != nil {
			return
		}
		checkRecord(t, record)
		tags := strings.Split(record, "; ")
		if len(tags) != 4 || tags[0] != "v=DMARC1" || tags[1] != "p="+policy || !strings.HasPrefix(tags[2], "rua=mailto:") || tags[3] != "fo="+fo {
			t.Fatalf("%q has other tags", record)
		}
		uri := strings.TrimPrefix(tags[2], "rua=")
		if strings.ContainsAny(uri, ",; ") || strings.Count(uri, "!") > 1 {
			t.Errorf("%q is not a single URI", uri)
		}
		if again, err := sizedMailtoURI(uri); err != nil || again != uri {
			t.Errorf("%q became %q, then %q, %v", address, uri, again, err)
		}
	})
}

func FuzzMTASTSPolicy(f *testing.F) {
	for _, s := range []string{rfc8461, "version: STSv1\nmode: none\nmax_age: 0", "", "version:STSv1\r\nx-y:\r\nmode:testing\nmx:*.Bücher.example\nmax_age:00001\n", "version: STSv1\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseMTASTSPolicy(text)
		if err != nil {
			return
		}
		written, err := p.Text()
		if err != nil {
			t.Fatalf("%q parses but can't be written: %v", text, err)
		}
		again, err := parseMTASTSPolicy(written)
		if err != nil {
			t.Fatalf("%q is written but does not parse: %v", written, err)
		}
		if twice, err := again.Text(); err != nil || twice != written || again.Mode != p.Mode || again.MaxAge != p.MaxAge || len(again.MX) != len(p.MX) {
			t.Errorf("%q became %q, then %q, %v", text, written, twice, err)
		}
		if third, err := parseMTASTSPolicy(written + written); err == nil {
			t.Errorf("a policy twice over reads as %+v", third)
		} else if !reflect.DeepEqual(third, MTASTSPolicy{}) {
			t.Errorf("%+v with an error", third)
		}
	})
}
