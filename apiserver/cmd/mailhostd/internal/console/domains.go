package console

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailcheck"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// domainsPerPage is small, because the page reads the DNS records of each domain.
const domainsPerPage = 25

type domainRow struct {
	api.Domain
	Mail part[[]mailcheck.Result]
}

func listDomains(v *visit) (view, error) {
	list, err := call(v, api.ListDomains, &api.ListDomainsRequest{Paged: v.page(domainsPerPage), Search: v.query("search"), Status: v.query("status")})
	return listView(v, "domains.html", "Domains", list, err, func(d api.Domain) domainRow {
		records, err := call(v, api.ListDNSRecords, recordsOf(d))
		if err != nil {
			return domainRow{d, partOf[[]mailcheck.Result](nil, err)}
		}
		checks := mailChecks(d.Name, records.Items)
		return domainRow{d, partOf(checks[:min(len(checks), requiredChecks)], nil)}
	}, vocab.DomainActive, vocab.DomainPending, vocab.DomainPendingPayment, vocab.DomainFailed)
}

type domainPage struct {
	api.Domain
	DedicatedIP string
	Mail        []mailcheck.Result
	Records     part[*api.Page[api.DNSRecord]]
	Mailboxes   part[int]
}

func showDomain(v *visit) (view, error) {
	d, err := call(v, api.GetDomain, &api.DomainRequest{Domain: v.PathValue("domain")})
	if err != nil {
		return view{}, err
	}
	p := domainPage{
		Domain: *d, Records: partOf(call(v, api.ListDNSRecords, recordsOf(*d))),
		Mailboxes: totalOf(call(v, api.ListMailboxes, &api.ListMailboxesRequest{Paged: api.Paged{Page: 1, PageSize: 1}, Domain: d.ID})),
	}
	if p.Records.Failure == nil {
		p.Mail = mailChecks(d.Name, p.Records.Content.Items)
	}
	if d.DedicatedIPID != nil {
		p.DedicatedIP = abbreviated(*d.DedicatedIPID)
		if ip, err := call(v, api.GetDedicatedIP, &api.DedicatedIPRequest{DedicatedIPID: *d.DedicatedIPID}); err == nil {
			p.DedicatedIP = ip.Name
		}
	}
	return view{Template: "domain.html", Title: d.Name, Up: link{"/domains", "Domains"}, Data: p}, nil
}

func recordsOf(d api.Domain) *api.ListDNSRecordsRequest {
	return &api.ListDNSRecordsRequest{Paged: api.Paged{Page: 1, PageSize: api.MaxPageSize}, Domain: d.ID}
}

func listMailboxes(v *visit) (view, error) {
	in := &api.ListMailboxesRequest{Paged: v.page(rowsPerPage), Search: v.query("search"), Domain: v.query("domain"), Status: v.query("status")}
	list, err := call(v, api.ListMailboxes, in)
	return listView(v, "mailboxes.html", "Mailboxes", list, err, same[api.Mailbox],
		vocab.MailboxActive, vocab.MailboxProvisioning, vocab.MailboxPaused, vocab.MailboxDeleting)
}

func showMailbox(v *visit) (view, error) {
	m, err := call(v, api.GetMailbox, &api.MailboxRequest{Mailbox: v.PathValue("mailbox")})
	if err != nil {
		return view{}, err
	}
	return view{Template: "mailbox.html", Title: m.PrimaryEmail, Up: link{"/mailboxes", "Mailboxes"}, Data: m}, nil
}

func listDedicatedIPs(v *visit) (view, error) {
	list, err := call(v, api.ListDedicatedIPs, &api.ListDedicatedIPsRequest{Paged: v.page(rowsPerPage)})
	return listView(v, "dedicated-ips.html", "Dedicated IPs", list, err, same[api.DedicatedIP])
}

// mailChecks checks the mail records of a domain as stored in the account, without the DNS. It returns
// no checks for a domain with an invalid record.
func mailChecks(domain string, records []api.DNSRecord) []mailcheck.Result {
	all := make([]mailcheck.Record, len(records))
	for i, r := range records {
		all[i] = mailcheck.Record{Name: r.Name, Type: r.Type, Value: r.Value, Priority: r.Priority}
	}
	zone, err := mailcheck.NewZone(domain, all)
	if err != nil {
		return nil
	}
	return mailcheck.Check(context.Background(), domain, zone.Selectors(), zone)
}

// requiredChecks is the number of checks in a list, the first of mailChecks: MX, SPF, DKIM and DMARC.
const requiredChecks = 4
