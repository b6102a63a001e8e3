package console

import (
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func TestMailChecks(t *testing.T) {
	t.Parallel()
	priority := int64(10)
	var got []string
	for _, c := range mailChecks("example.com", []api.DNSRecord{
		{Name: "@", Type: "MX", Value: "mx.example.net", Priority: &priority}, {Name: "@", Type: "TXT", Value: "v=spf1 mx +all"}, {Name: "_dmarc", Type: "TXT", Value: "v=DMARC1; p=none; rua=mailto:a@example.com"},
	}) {
		got = append(got, c.Name+" "+c.State)
	}
	if text := strings.Join(got, ", "); text != "MX ok, SPF failed, DKIM failed, DMARC warning, MTA-STS warning, TLS-RPT warning, APEX ok, BULK-SENDERS failed" {
		t.Error(text)
	}
	if got := mailChecks("example.com", []api.DNSRecord{{Name: "a b", Type: "A", Value: "x"}}); got != nil {
		t.Errorf("an invalid record: %v", got)
	}
}

// TestRequestLogIsBounded checks that the log keeps the newest requests, in order, and
// those of each account apart.
func TestRequestLogIsBounded(t *testing.T) {
	l := new(requestLog)
	const added = 9 * requestsKept / 2
	for i := range added {
		l.add(request{Status: 200 + i, accountID: []string{"a", "b"}[i%2]})
	}
	last := l.of("a", false, requestsKept)
	if len(l.all) > 2*requestsKept || len(last) != requestsKept/2 || last[0].Status != 200+added-2 || last[len(last)-1].Status != 200+added-requestsKept {
		t.Errorf("%d requests are kept, %d of them of one account, from %d to %d", len(l.all), len(last), last[len(last)-1].Status, last[0].Status)
	}
}
