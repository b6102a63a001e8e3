package console

import (
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// domainsPerPage is less than elsewhere, because each domain's DNS records are read.
const domainsPerPage = 25

type domainRow struct {
	api.Domain
	Workspace string
	Mail      part[[]mailCheck]
}

type domainsPage struct {
	Rows           []domainRow
	Pager          pager
	Search, Status string
	Statuses       []string
}

func listDomains(v *visit) (view, error) {
	p := domainsPage{
		Search: v.query("search"), Status: v.query("status"),
		Statuses: []string{vocab.DomainActive, vocab.DomainPending, vocab.DomainPendingPayment, vocab.DomainFailed},
	}
	list, err := call(v, api.ListDomains, &api.ListDomainsRequest{Paged: v.page(domainsPerPage), Search: p.Search, Status: p.Status})
	if err != nil {
		return view{}, err
	}
	names := namesFor(v)
	for _, d := range list.Items {
		p.Rows = append(p.Rows, domainRow{d, names.Workspace(d.WorkspaceID), partOf(checkMail(v, d))})
	}
	p.Pager = pagerOf(v, *list)
	return view{Template: "domains.html", Title: "Domains", Data: p}, nil
}

type domainPage struct {
	api.Domain
	Workspace   string
	DedicatedIP string
	Mail        part[[]mailCheck]
	Records     part[*api.Page[api.DNSRecord]]
	Mailboxes   part[int]
}

func showDomain(v *visit) (view, error) {
	d, err := call(v, api.GetDomain, &api.DomainRequest{Domain: v.PathValue("domain")})
	if err != nil {
		return view{}, err
	}
	records, recordsErr := call(v, api.ListDNSRecords, recordsOf(*d))
	p := domainPage{
		Domain: *d, Workspace: namesFor(v).Workspace(d.WorkspaceID), Records: partOf(records, recordsErr),
		Mailboxes: totalOf(call(v, api.ListMailboxes, &api.ListMailboxesRequest{Paged: api.Paged{Page: 1, PageSize: 1}, Domain: d.ID})),
	}
	if p.Mail.Failure = p.Records.Failure; recordsErr == nil {
		p.Mail.Content = mailChecks(records.Items)
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

// checkMail checks the mail records of a domain in a list.
func checkMail(v *visit, d api.Domain) ([]mailCheck, error) {
	records, err := call(v, api.ListDNSRecords, recordsOf(d))
	if err != nil {
		return nil, err
	}
	return mailChecks(records.Items), nil
}

type mailboxesPage struct {
	Mailboxes              []api.Mailbox
	Pager                  pager
	Search, Domain, Status string
	Statuses               []string
}

func listMailboxes(v *visit) (view, error) {
	p := mailboxesPage{
		Search: v.query("search"), Domain: v.query("domain"), Status: v.query("status"),
		Statuses: []string{vocab.MailboxActive, vocab.MailboxProvisioning, vocab.MailboxPaused, vocab.MailboxDeleting},
	}
	list, err := call(v, api.ListMailboxes, &api.ListMailboxesRequest{Paged: v.page(rowsPerPage), Search: p.Search, Domain: p.Domain, Status: p.Status})
	if f := failureOf(err); f != nil && f.Status == http.StatusUnprocessableEntity && p.Domain != "" { // a domain that does not exist
		list, err = &api.Page[api.Mailbox]{Page: 1, PageSize: rowsPerPage}, nil
	}
	if err != nil {
		return view{}, err
	}
	p.Mailboxes, p.Pager = list.Items, pagerOf(v, *list)
	return view{Template: "mailboxes.html", Title: "Mailboxes", Data: p}, nil
}

func showMailbox(v *visit) (view, error) {
	m, err := call(v, api.GetMailbox, &api.MailboxRequest{Mailbox: v.PathValue("mailbox")})
	if err != nil {
		return view{}, err
	}
	return view{Template: "mailbox.html", Title: m.PrimaryEmail, Up: link{"/mailboxes", "Mailboxes"}, Data: m}, nil
}

// rowsPerPage is the page size of lists.
const rowsPerPage = 50

func listDedicatedIPs(v *visit) (view, error) {
	list, err := call(v, api.ListDedicatedIPs, &api.ListDedicatedIPsRequest{Paged: v.page(rowsPerPage)})
	if err != nil {
		return view{}, err
	}
	return view{Template: "dedicated-ips.html", Title: "Dedicated IPs", Data: struct {
		IPs   []api.DedicatedIP
		Pager pager
	}{list.Items, pagerOf(v, *list)}}, nil
}
