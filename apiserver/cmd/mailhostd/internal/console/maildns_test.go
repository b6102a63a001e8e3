package console

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func TestMailChecks(t *testing.T) {
	record := func(name, typ, value string) api.DNSRecord { return api.DNSRecord{Name: name, Type: typ, Value: value} }
	for _, tt := range []struct {
		name    string
		records []api.DNSRecord
		want    [4]string // of MX, SPF, DKIM and DMARC
	}{
		{"nothing", nil, [4]string{"missing", "missing", "missing", "missing"}},
		{"elsewhere", []api.DNSRecord{record("www", "MX", "mx.example"), record("www", "TXT", "v=spf1 -all"), record("x", "TXT", "v=DKIM1; p=A"), record("@", "TXT", "v=DMARC1; p=reject")},
			[4]string{"missing", "missing", "missing", "missing"}},
		{"strict", []api.DNSRecord{record("@", "MX", "mx.example"), record("@", "TXT", `"v=spf1 mx" " -ALL"`), record("a._domainkey", "TXT", "v=DKIM1; k=rsa; p=AAAA"), record("_dmarc", "TXT", "v=DMARC1;p = Reject; pct=50")},
			[4]string{"ok", "ok", "ok", "ok"}},
		{"weak", []api.DNSRecord{record("@", "MX", "."), record("@", "TXT", "v=spf1 +all"), record("a._domainkey", "CNAME", "a.mail.example"), record("_dmarc", "TXT", "v=DMARC1; p=none; sp=reject")},
			[4]string{"warning", "warning", "ok", "warning"}},
		{"incomplete", []api.DNSRecord{record("@", "TXT", "v=spf1"), record("a._domainkey", "TXT", "v=DKIM1; p="), record("_dmarc", "TXT", "v=DMARC1")},
			[4]string{"missing", "warning", "missing", "warning"}},
		{"elsewhere by reference", []api.DNSRecord{record("@", "TXT", "v=spf1 redirect=_spf.example"), record("a._domainkey", "TXT", "v=DKIM1; p=; t=y"), record("_dmarc", "TXT", "v=dmarc1; p=quarantine")},
			[4]string{"missing", "ok", "missing", "ok"}},
	} {
		var got [4]string
		for i, c := range mailChecks(tt.records) {
			got[i] = c.State
			if c.Text == "" {
				t.Errorf("%s: %s has no text", tt.name, c.Name)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q; want %q", tt.name, got, tt.want)
		}
	}
}

// TestRequestLogIsBounded checks that the log keeps the newest requests, in order, and
// those of each account apart.
func TestRequestLogIsBounded(t *testing.T) {
	l := new(requestLog)
	for i := range 3 * requestsKept / 2 {
		l.add(request{Status: 200 + i, accountID: []string{"a", "b"}[i%2]})
	}
	last := l.of("a", false, requestsKept)
	if len(l.all) != requestsKept || len(last) != requestsKept/2 || last[0].Status != 200+3*requestsKept/2-2 || last[len(last)-1].Status != 200+requestsKept/2 {
		t.Errorf("%d requests are kept, %d of them of one account, from %d to %d", len(l.all), len(last), last[len(last)-1].Status, last[0].Status)
	}
}
