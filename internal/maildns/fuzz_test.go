package maildns

import (
	"reflect"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// checkRecord fails unless a zone can contain the record.
func checkRecord(t *testing.T, record string) {
	t.Helper()
	if strings.ContainsFunc(record, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Fatalf("%q has characters other than printable ASCII", record)
	}
	text, err := dnsdata.NormalizeValue(dnsdata.TypeTXT, record)
	if err != nil || text != record {
		t.Fatalf("as a value of TXT %q is %q, %v", record, text, err)
	}
	checkZone(t, dnsdata.Quote(record), dnsdata.Chunks(record))
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

func FuzzTLSRPT(f *testing.F) {
	for _, s := range []string{"tls@example.com", "https://Bücher.example:443/a!b,c;d?e#f", "https://u:p@a.example", "https://a.example/%zz", "https:a.example", "https://a.example/ü?ü"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		record, err := TLSRPT{RUA: []string{uri}}.Record()
		if err != nil {
			return
		}
		checkRecord(t, record)
		got := strings.TrimPrefix(record, "v=TLSRPTv1; rua=")
		if strings.ContainsAny(got, "!,; ") {
			t.Errorf("%q is not a single URI", got)
		}
		if again, err := (TLSRPT{RUA: []string{got}}).Record(); err != nil || again != record {
			t.Errorf("%q became %q, then %q, %v", uri, record, again, err)
		}
	})
}

func FuzzDKIM(f *testing.F) {
	f.Add(rsaPEM, "a note")
	f.Add(ed25519Base64, "ü;=\n ")
	f.Add("-----BEGIN PRIVATE KEY-----\n"+ed25519Seed+"\n-----END PRIVATE KEY-----", "")
	f.Fuzz(func(t *testing.T, key, note string) {
		record, err := DKIM{PublicKey: key, N: note}.Record()
		if err != nil {
			return
		}
		checkRecord(t, record)
		tags := strings.Split(record, "; ")
		p := strings.TrimPrefix(tags[len(tags)-1], "p=")
		if (note == "") != (len(tags) == 3) {
			t.Fatalf("%q has other tags", record)
		}
		if again, err := (DKIM{PublicKey: p, N: note}).Record(); err != nil || again != record {
			t.Errorf("%q became %q, then %q, %v", key, record, again, err)
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

// checkZone checks that the DNS library parses a value into the chunks.
func checkZone(t *testing.T, value string, chunks []string) {
	t.Helper()
	rr, err := dns.NewRR("x.example. 3600 IN TXT " + value)
	if err != nil {
		t.Fatalf("the DNS library refuses %.200q: %v", value, err)
	}
	buf := make([]byte, 1<<17)
	end, err := dns.PackRR(rr, buf, 0, nil, false)
	if err != nil {
		t.Fatalf("the DNS library does not pack %.200q: %v", value, err)
	}
	var want strings.Builder
	for _, chunk := range chunks {
		want.WriteByte(byte(len(chunk)))
		want.WriteString(chunk)
	}
	const header = len("\x01x\x07example\x00") + 10
	if got := string(buf[header:end]); got != want.String() {
		t.Errorf("sent as %.200q; want %.200q", got, want.String())
	}
}
