package console

import (
	"context"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailcheck"
)

// mailCheck is the state of one kind of record that mail needs.
type mailCheck struct {
	Name, State, Text string
}

// mailChecks checks the mail records of a domain, as the account publishes them. It looks
// nothing up in the DNS. A domain with an invalid record has no checks.
func mailChecks(domain string, records []api.DNSRecord) (checks []mailCheck) {
	all := make([]mailcheck.Record, len(records))
	for i, r := range records {
		all[i] = mailcheck.Record{Name: r.Name, Type: r.Type, Value: r.Value, Priority: r.Priority}
	}
	zone, err := mailcheck.NewZone(domain, all)
	if err != nil {
		return nil
	}
	for _, r := range mailcheck.Check(context.Background(), domain, zone.Selectors(), zone) {
		checks = append(checks, mailCheck{strings.ToUpper(strings.ReplaceAll(r.Check, "_", "-")), r.Status, r.Message + " (" + r.Reference + ")"})
	}
	return checks
}

// requiredChecks are the first of mailChecks, which a list shows: MX, SPF, DKIM and DMARC.
const requiredChecks = 4
