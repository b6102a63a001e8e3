package maildns

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// checkRecord fails unless a zone can contain the record.
func checkRecord(t *testing.T, record string) {
	t.Helper()
	assert.Check(t, !strings.ContainsFunc(record, func(r rune) bool { return r < ' ' || r > '~' }), "%q has characters other than printable ASCII", record)
	text, err := dnsdata.NormalizeValue(dnsdata.TypeTXT, record)
	assert.Check(t, err == nil && text == record, "as a value of TXT %q is %q, %v", record, text, err)
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
		got, err := again.Record()
		assert.Check(t, err == nil && got == record, "%q and %q became %q, then %q, %v", terms, fallback, record, got, err)
		lookups := 0
		for _, term := range strings.Fields(record)[1:] {
			name := strings.TrimLeft(term, "+-~?")
			for _, prefix := range []string{"include:", "a:", "a/", "mx", "exists:", "redirect="} {
				if strings.HasPrefix(name, prefix) || name == "a" && prefix == "a:" {
					lookups++
				}
			}
		}
		assert.Check(t, lookups <= 10, "%d lookups in %q", lookups, record)
	})
}
