package userimport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/text/unicode/norm"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/userlist"
)

// importBulk is the number of mailboxes in one request: small enough for a progress bar and for an
// interruption between the requests of a large file.
const importBulk = 250

// importInto creates the missing mailboxes of the account. It uses published operations only.
func (c Command) importInto(ctx context.Context, p cli.Program, result *importResult) error {
	t, err := c.OpenTarget(ctx, p, cli.OpenOptions{ReadOnly: c.DryRun})
	if err != nil {
		return err
	}
	if err := requireDomains(ctx, t.Client, result.Domains); err != nil {
		return err
	}
	total := 0
	for _, d := range result.Domains {
		if err := d.compare(ctx, t.Client); err != nil {
			return err
		}
		total += d.Create
	}
	if c.DryRun {
		return nil
	}
	progress, done := cli.ShowProgress(p.Stderr, "creating mailboxes")
	defer done()
	finished, bulk := 0, importBulk
	for _, d := range result.Domains {
		for missing := d.missing; len(missing) > 0; {
			users := missing[:min(bulk, len(missing))]
			err := result.create(ctx, t.Client, d, users)
			switch refused, _ := errors.AsType[*apiclient.Error](err); {
			case err == nil:
			case isTooMany(refused) && len(users) > 1:
				bulk = len(users) / 2
				continue
			case errors.Is(err, context.Canceled):
				return errors.New("the import was interrupted; run the command again, and it continues")
			case refused != nil && refused.Status < http.StatusInternalServerError:
				return err
			default:
				return fmt.Errorf("%w; run the command again, and it continues", err)
			}
			missing = missing[len(users):]
			finished += len(users)
			progress(int64(finished), int64(total))
		}
	}
	return nil
}

// requireDomains returns an error if the account lacks a domain. If the token may not list domains,
// later requests report the error.
func requireDomains(ctx context.Context, c *apiclient.Client, domains []*importedDomain) error {
	has := map[string]bool{}
	for d, err := range apiclient.All(ctx, c, api.ListDomains, &api.ListDomainsRequest{}) {
		if apiclient.Denied(err) {
			return nil
		} else if err != nil {
			return err
		}
		has[d.Name] = true
	}
	for _, d := range domains {
		if !has[d.Name] {
			return fmt.Errorf("the account has no domain %s; add it with a mailhost_domain, and run the command again", d.Name)
		}
	}
	return nil
}

// compare finds the users without a mailbox in the account.
func (d *importedDomain) compare(ctx context.Context, c *apiclient.Client) error {
	existing := map[string]api.Mailbox{} // by local part
	for m, err := range apiclient.All(ctx, c, api.ListMailboxes, &api.ListMailboxesRequest{Domain: d.Name}) {
		if err != nil {
			return err
		}
		if m.DomainName == d.Name {
			existing[m.LocalPart] = m
		}
	}
	for _, u := range d.users {
		m, ok := existing[u.Address.Local]
		switch {
		case !ok:
			d.missing = append(d.missing, u)
			continue
		case norm.NFC.String(m.FirstName) != u.FirstName || norm.NFC.String(m.LastName) != u.LastName:
			d.OtherNames++
		}
		d.Existing++
	}
	d.Create, d.compared = len(d.missing), true
	return nil
}

// create creates the mailboxes of some users of a domain in one request. A taken address, such as an
// alias, counts as failed.
func (r *importResult) create(ctx context.Context, c *apiclient.Client, d *importedDomain, users []userlist.User) error {
	body := api.CreateMailboxesBody{Domain: d.Name}
	for _, u := range users {
		body.Items = append(body.Items, api.NewMailboxItem{LocalPart: u.Address.Local, FirstName: u.FirstName, LastName: u.LastName})
	}
	created, err := apiclient.Call(ctx, c, api.CreateMailboxes, &api.CreateMailboxesRequest{Body: body})
	if err != nil {
		return err
	}
	d.Created += len(created.Created)
	for _, failed := range created.Failed {
		if failed.Index < 0 || failed.Index >= len(users) {
			continue
		}
		u := users[failed.Index]
		d.Failed++
		r.Problems = append(r.Problems, userlist.Problem{Place: u.Place, Address: u.Address.String(), Text: cli.Printable(api.PlainMessage(failed.Message))})
	}
	slices.SortStableFunc(r.Problems, func(a, b userlist.Problem) int { return cmp.Compare(a.Line, b.Line) })
	return nil
}

// isTooMany reports whether the API refuses the number of items, or the size of the body.
func isTooMany(e *apiclient.Error) bool {
	return e != nil && (e.Status == http.StatusRequestEntityTooLarge ||
		slices.ContainsFunc(e.Problems, func(p api.Problem) bool { return slices.Equal(p.Loc, []string{"body", "items"}) }))
}
