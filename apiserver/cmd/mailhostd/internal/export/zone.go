package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// The parts of a zone file. Its SOA record is a placeholder in the reserved domain invalid (RFC 6761), because
// the API does not know the real one.
const (
	zoneHead = `; Zone file of %[1]s, written by mailhostd export.
;
; Name servers need an SOA and an NS record to load the file. Those with the name ns.invalid are placeholders:
; replace them if you run a name server of your own. DNS hosts that import the file set their own.
%[3]s
$ORIGIN %[1]s.
$TTL %[2]d

@	%[2]d	IN	SOA	ns.invalid. hostmaster.invalid. 1 7200 3600 1209600 3600
`
	// zoneUnderscore is part of the head. BIND's check-names refuses the names by default.
	zoneUnderscore = `;
; BIND loads addresses and mail servers at names with an underscore, such as %s, only with the option
; "check-names ignore;" in the zone's configuration.
`
	zonePlaceholder = "@	%d	IN	NS	ns.invalid.\n"
	zoneBuiltIn     = `
; Built-in records of this mail host: they lead mail to it and allow it to send. If you move to another mail
; host, use its records instead.

`
)

// zoneRecord is a record with its RDATA as in a zone file.
type zoneRecord struct {
	api.DNSRecord
	rdata string
}

// printZone prints the zone file of the domain --zone.
func (c Command) printZone(ctx context.Context, p cli.Program) error {
	domain, err := domainname.Normalize(c.Zone)
	if err != nil {
		return cli.UsageError("--zone: %w", err)
	}
	t, err := c.OpenTarget(ctx, p, cli.OpenOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	listed, err := apiclient.Collect(apiclient.All(ctx, t.Client, api.ListDNSRecords, &api.ListDNSRecordsRequest{Domain: domain}))
	switch {
	case apiclient.Missing(err):
		return errors.New("this API offers only the published operations, none of which lists DNS records; take the zone file from the service's own control panel")
	case err != nil:
		return err
	case len(listed) == 0:
		return fmt.Errorf("%s is not a domain of the account, or does not contain DNS records yet; mailhostd call list-domains lists the domains of the account", domain)
	}
	records := make([]zoneRecord, len(listed))
	for i, r := range listed {
		if records[i], err = readZoneRecord(r, domain); err != nil {
			return fmt.Errorf("the %s record %d of %s can't be written: %w", cli.Printable(r.Type), r.ID, domain, err)
		}
	}
	return cli.PrintText(p, func(w io.Writer) { writeZone(w, domain, records) })
}

// readZoneRecord validates a record of the API, which could otherwise add lines to the file.
func readZoneRecord(r api.DNSRecord, domain string) (_ zoneRecord, err error) {
	if r.Type, err = dnsdata.NormalizeType(r.Type); err != nil {
		return zoneRecord{}, err
	}
	if r.Name, err = dnsdata.NormalizeName(r.Name, domain); err != nil {
		return zoneRecord{}, err
	}
	rdata, err := dnsdata.FormatRDATA(r.Type, api.Value(r.Priority), r.Value)
	return zoneRecord{r, rdata}, err
}

// writeZone writes the records in a stable order, the domain itself first. Records with the same name and type
// get the lowest of their TTLs, because the DNS has one for all (RFC 2181, section 5.2).
func writeZone(w io.Writer, domain string, records []zoneRecord) {
	slices.SortFunc(records, func(a, b zoneRecord) int {
		return cmp.Or(strings.Compare(strings.TrimPrefix(a.Name, "@"), strings.TrimPrefix(b.Name, "@")), strings.Compare(a.Type, b.Type),
			cmp.Compare(api.Value(a.Priority), api.Value(b.Priority)), strings.Compare(a.rdata, b.rdata))
	})
	type set struct{ name, recordType string }
	ttls := map[set]int64{}
	own, builtIn, underscore := "", "", ""
	for _, r := range records {
		of := set{r.Name, r.Type}
		if ttl, ok := ttls[of]; !ok || r.TTL < ttl {
			ttls[of] = r.TTL
		}
		switch r.Type {
		case dnsdata.TypeA, dnsdata.TypeAAAA, dnsdata.TypeMX:
			if underscore == "" && strings.Contains(r.Name, "_") {
				underscore = fmt.Sprintf(zoneUnderscore, r.Name)
			}
		}
	}
	for _, r := range records {
		of := set{r.Name, r.Type}
		line := fmt.Sprintf("%s\t%d\tIN\t%s\t%s\n", r.Name, ttls[of], r.Type, r.rdata)
		if r.IsSystemManaged {
			builtIn += line
		} else {
			own += line
		}
	}
	fmt.Fprintf(w, zoneHead, domain, api.DefaultDNSTTL, underscore)
	if _, ok := ttls[set{"@", dnsdata.TypeNS}]; !ok {
		fmt.Fprintf(w, zonePlaceholder, api.DefaultDNSTTL)
	}
	fmt.Fprint(w, own)
	if builtIn != "" {
		fmt.Fprint(w, zoneBuiltIn+builtIn)
	}
}
