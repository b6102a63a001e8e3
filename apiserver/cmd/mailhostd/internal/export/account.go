package export

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
	rules            []api.Forwarding
	passwords        []api.MasterPassword
	services         []api.ServiceAccount
	// grants are the permissions of each service account; nil if they can't be read.
	grants map[string][]api.Authorization
	ips    []api.DedicatedIP
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
	for _, read := range []func(context.Context) error{a.readWorkspaces, a.readMailboxes, a.readRules, a.readPasswords, a.readServices, a.readIPs} {
		if err := read(ctx); err != nil {
			return nil, err
		}
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

func (a *account) readRules(ctx context.Context) (err error) {
	a.rules, err = list(ctx, a, "Forwarding rules", api.ListForwarding, &api.ListForwardingRequest{}, func(f api.Forwarding) string {
		return f.ScopeType + " " + f.ScopeID + " " + f.TargetEmail
	})
	return err
}

func (a *account) readPasswords(ctx context.Context) (err error) {
	a.passwords, err = list(ctx, a, "Master passwords", api.ListMasterPasswords, &api.ListMasterPasswordsRequest{}, func(p api.MasterPassword) string {
		return p.ScopeType + " " + p.ScopeID + " " + p.Name
	})
	return err
}

// readServices reads the service accounts whose tokens work, but for the caller's own.
func (a *account) readServices(ctx context.Context) error {
	all, err := list(ctx, a, "Service accounts", api.ListServiceAccounts, &api.ListRequest{}, func(s api.ServiceAccount) string { return s.Name + " " + s.ID })
	if err != nil {
		return err
	}
	for _, s := range all {
		switch state := apiclient.TokenState(s, time.Now()); {
		case a.client.Token != "" && strings.Contains(a.client.Token, s.TokenPublicID):
			a.leave("Service account `%s`: Terraform should not manage the credential that it uses itself.", s.Name)
		case state == "active":
			a.services = append(a.services, s)
		case state == "expired":
			a.leave("Service account `%s` (%s): its token has expired.", s.Name, s.ID)
		}
	}
	if len(a.services) == 0 {
		return nil
	}
	// An array, not pages.
	grants, err := apiclient.Call(ctx, a.client, api.ListAuthorizations, &api.ListAuthorizationsRequest{})
	if apiclient.Denied(err) {
		return nil
	} else if err != nil {
		return err
	}
	a.grants = map[string][]api.Authorization{}
	for _, g := range *grants {
		a.grants[g.SubjectID] = append(a.grants[g.SubjectID], g)
	}
	for _, all := range a.grants {
		slices.SortFunc(all, func(a, b api.Authorization) int {
			return cmp.Or(strings.Compare(api.Value(a.CapabilityKey), api.Value(b.CapabilityKey)), strings.Compare(api.Value(a.ResourceID), api.Value(b.ResourceID)))
		})
	}
	return nil
}

func (a *account) readIPs(ctx context.Context) error {
	all, err := list(ctx, a, "Dedicated IPs", api.ListDedicatedIPs, &api.ListDedicatedIPsRequest{}, func(ip api.DedicatedIP) string { return ip.Name + " " + ip.ID })
	for _, ip := range all {
		if ip.Status == "releasing" {
			a.leave("Dedicated IP `%s`: it is being released.", ip.Name)
		} else {
			a.ips = append(a.ips, ip)
		}
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
