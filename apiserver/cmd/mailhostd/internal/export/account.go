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

// leave adds an object to the list of objects that the configuration leaves out.
func (c *configuration) leave(format string, args ...any) {
	c.LeftOut = append(c.LeftOut, cli.Printable(fmt.Sprintf(format, args...)))
}

// list returns a list in a stable order. If the caller may not read the list, or the API does not offer
// it, list returns nil and calls leave.
func list[Req, Item any](ctx context.Context, c *configuration, what string, op api.Operation[Req, api.Page[Item]], in *Req, key func(Item) string) ([]Item, error) {
	items, err := apiclient.Collect(apiclient.All(ctx, c.Client, op, in))
	switch {
	case apiclient.Missing(err):
		c.leave("%s: this API offers only the published operations, none of which lists them.", what)
	case apiclient.Denied(err):
		c.leave("%s: the token may not read them; it needs `%s`.", what, op.Capability)
	case err != nil:
		return nil, err
	default:
		slices.SortFunc(items, func(x, y Item) int { return strings.Compare(key(x), key(y)) })
		return items, nil
	}
	return nil, nil
}

// account writes all domains with their objects, and then the other kinds of objects.
func (c *configuration) account(ctx context.Context, progress func(done, total int64)) error {
	domains, err := apiclient.Collect(apiclient.All(ctx, c.Client, api.ListDomains, &api.ListDomainsRequest{}))
	if err != nil {
		return err
	}
	slices.SortFunc(domains, func(a, b api.Domain) int { return strings.Compare(a.Name, b.Name) })
	for _, d := range domains {
		if name, err := domainname.Normalize(d.Name); err != nil || name != d.Name { // the name becomes a file name
			return fmt.Errorf("the API lists a domain with an invalid name, %.300q", d.Name)
		}
		c.names[d.ID] = d.Name
	}
	c.Domains = len(domains)
	if err := c.readWorkspaces(ctx); err != nil {
		return err
	}
	mailboxes, err := c.readMailboxes(ctx)
	if err != nil {
		return err
	}
	records := []api.DNSRecord{}
	for i, d := range domains {
		if records != nil { // nil: unreadable, which is already noted
			if records, err = c.readRecords(ctx, d); err != nil {
				return fmt.Errorf("%s: %w", d.Name, err)
			}
		}
		c.domain(d, mailboxes[d.ID], records)
		progress(int64(i+1), int64(len(domains)))
	}
	for _, kind := range kinds {
		if err := kind(c, ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *configuration) readWorkspaces(ctx context.Context) error {
	current, err := apiclient.Call(ctx, c.Client, api.GetAccount, &api.InAccount{})
	if err != nil && !apiclient.Denied(err) {
		return err
	} else if err == nil {
		c.defaultWorkspace = current.DefaultWorkspaceID
	}
	// Where names are unreadable, the ids suffice.
	for w, err := range apiclient.All(ctx, c.Client, api.ListWorkspaces, &api.ListRequest{}) {
		if apiclient.Denied(err) {
			return nil
		} else if err != nil {
			return err
		}
		c.workspaces[w.ID] = w.Name
	}
	return nil
}

// readMailboxes returns the mailboxes by domain id.
func (c *configuration) readMailboxes(ctx context.Context) (map[string][]api.Mailbox, error) {
	all, err := list(ctx, c, "Mailboxes", api.ListMailboxes, &api.ListMailboxesRequest{}, func(m api.Mailbox) string { return m.LocalPart })
	mailboxes, aliases := map[string][]api.Mailbox{}, 0
	for _, m := range all {
		switch {
		case c.names[m.DomainID] == "":
			c.leave("Mailbox `%s`: the token may not read its domain.", m.PrimaryEmail)
		case m.Status == "deleting":
			c.leave("Mailbox `%s`: it is being deleted.", m.PrimaryEmail)
		default:
			mailboxes[m.DomainID] = append(mailboxes[m.DomainID], m)
			aliases += len(m.Aliases)
		}
	}
	if aliases > 0 {
		c.leave("%s of mailboxes: the API can't create or change aliases. They stay as they are.", cli.Counted(aliases, "alias"))
	}
	return mailboxes, err
}

// readRecords returns the records that the service does not manage, or nil for unreadable records.
func (c *configuration) readRecords(ctx context.Context, d api.Domain) ([]api.DNSRecord, error) {
	all, err := list(ctx, c, "DNS records", api.ListDNSRecords, &api.ListDNSRecordsRequest{Domain: d.ID}, func(r api.DNSRecord) string {
		return fmt.Sprintf("%s %s %06d %s", r.Name, r.Type, api.Value(r.Priority), r.Value)
	})
	return slices.DeleteFunc(all, func(r api.DNSRecord) bool { return r.IsSystemManaged }), err
}
