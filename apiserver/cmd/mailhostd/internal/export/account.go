package export

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// account is what a configuration can have of an account.
type account struct {
	client *apiclient.Client
	id     string
	// defaultWorkspace is "" if it can't be read.
	defaultWorkspace string
	workspaces       map[string]string // names by id
	domains          []*domain
	// others write what does not belong to a domain's file.
	others []func(*configuration)
	// leftOut says what is missing, and why: a line each.
	leftOut []string
}

type domain struct {
	api.Domain
	mailboxes []api.Mailbox
	records   []api.DNSRecord
}

// leave notes what the configuration leaves out.
func (a *account) leave(format string, args ...any) {
	a.leftOut = append(a.leftOut, cli.Printable(fmt.Sprintf(format, args...)))
}

// list returns a list in a stable order. If the caller may not read it, or the API has no such
// operation, it returns none, and notes what is missing.
func list[Req, Item any](ctx context.Context, a *account, what string, op api.Operation[Req, api.Page[Item]], in *Req, key func(Item) string) ([]Item, error) {
	items, err := apiclient.Collect(apiclient.All(ctx, a.client, op, in))
	switch {
	case apiclient.Missing(err):
		a.leave("%s: this API offers only the published operations, none of which lists them.", what)
	case apiclient.Denied(err):
		a.leave("%s: the token may not read them; it needs `%s`.", what, op.Capability)
	case err != nil:
		return nil, err
	default:
		slices.SortFunc(items, func(x, y Item) int { return strings.Compare(key(x), key(y)) })
		return items, nil
	}
	return nil, nil
}

func readAccount(ctx context.Context, t *cli.Target, progress func(done, total int64)) (*account, error) {
	a := &account{client: t.Client, id: t.AccountID, workspaces: map[string]string{}}
	domains, err := apiclient.Collect(apiclient.All(ctx, a.client, api.ListDomains, &api.ListDomainsRequest{}))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(domains, func(a, b api.Domain) int { return strings.Compare(a.Name, b.Name) })
	for _, d := range domains {
		if name, err := domainname.Normalize(d.Name); err != nil || name != d.Name { // it names a file
			return nil, fmt.Errorf("the API lists a domain with an invalid name, %.300q", d.Name)
		}
		a.domains = append(a.domains, &domain{Domain: d})
	}
	for _, read := range []func(context.Context) error{a.readWorkspaces, a.readMailboxes} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	for _, read := range kinds {
		write, err := read(ctx, a)
		if err != nil {
			return nil, err
		}
		a.others = append(a.others, write)
	}
	return a, a.readRecords(ctx, progress)
}

func (a *account) readWorkspaces(ctx context.Context) error {
	current, err := apiclient.Call(ctx, a.client, api.GetAccount, &api.InAccount{})
	if err != nil && !apiclient.Denied(err) {
		return err
	} else if err == nil {
		a.defaultWorkspace = current.DefaultWorkspaceID
	}
	// The ids suffice where the names can't be read.
	for w, err := range apiclient.All(ctx, a.client, api.ListWorkspaces, &api.ListRequest{}) {
		if apiclient.Denied(err) {
			return nil
		} else if err != nil {
			return err
		}
		a.workspaces[w.ID] = w.Name
	}
	return nil
}

func (a *account) readMailboxes(ctx context.Context) error {
	mailboxes, err := list(ctx, a, "Mailboxes", api.ListMailboxes, &api.ListMailboxesRequest{}, func(m api.Mailbox) string { return m.LocalPart })
	aliases := 0
	for _, m := range mailboxes {
		i := slices.IndexFunc(a.domains, func(d *domain) bool { return d.ID == m.DomainID })
		switch {
		case i < 0:
			a.leave("Mailbox `%s`: the token may not read its domain.", m.PrimaryEmail)
		case m.Status == "deleting":
			a.leave("Mailbox `%s`: it is being deleted.", m.PrimaryEmail)
		default:
			a.domains[i].mailboxes = append(a.domains[i].mailboxes, m)
			aliases += len(m.Aliases)
		}
	}
	if aliases > 0 {
		a.leave("%s of mailboxes: the API can't create or change aliases. They stay as they are.", cli.Counted(aliases, "alias"))
	}
	return err
}

// readRecords reads the records that the account's owner has made: the service manages the others.
func (a *account) readRecords(ctx context.Context, progress func(done, total int64)) error {
	for i, d := range a.domains {
		records, err := list(ctx, a, "DNS records", api.ListDNSRecords, &api.ListDNSRecordsRequest{Domain: d.ID}, func(d api.DNSRecord) string {
			return fmt.Sprintf("%s %s %06d %s", d.Name, d.Type, api.Value(d.Priority), d.Value)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
		if records == nil {
			return nil // noted once
		}
		d.records = slices.DeleteFunc(records, func(d api.DNSRecord) bool { return d.IsSystemManaged })
		progress(int64(i+1), int64(len(a.domains)))
	}
	return nil
}
