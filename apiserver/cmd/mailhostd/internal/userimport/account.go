package userimport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/userlist"
)

// importBulk is the number of mailboxes of one request: few enough for a progress bar, and
// an interruption, between the requests of a large file.
const importBulk = 250

// importInto creates the mailboxes that the account does not have. The published
// operations are enough.
func (c Command) importInto(ctx context.Context, p cli.Program, result *importResult) error {
	t, err := c.ProvideTarget(ctx, p)
	if err != nil {
		return err
	}
	if err := requireDomains(ctx, t, result); err != nil {
		return err
	}
	var imports []*domainImport
	total := 0
	for _, d := range result.Domains {
		i := &domainImport{client: t.Client, domain: d, result: result, bulk: importBulk}
		if err := i.compare(ctx); err != nil {
			return err
		}
		imports = append(imports, i)
		total += len(i.missing)
	}
	if c.DryRun {
		return nil
	}
	progress, done := cli.ShowProgress(p.Stderr, "creating mailboxes")
	defer done()
	finished := 0
	for _, i := range imports {
		err := i.create(ctx, func(n int) {
			finished += n
			progress(int64(finished), int64(total))
		})
		slices.SortStableFunc(result.Problems, func(a, b userlist.Problem) int { return cmp.Compare(a.Line, b.Line) })
		switch refused, _ := errors.AsType[*apiclient.Error](err); {
		case err == nil:
		case errors.Is(err, context.Canceled):
			return errors.New("the import was interrupted; run the command again, and it continues")
		case refused != nil && refused.Status < http.StatusInternalServerError:
			return err
		default:
			return fmt.Errorf("%w; run the command again, and it continues", err)
		}
	}
	return nil
}

// requireDomains returns an error if the account lacks a domain. A token that may only see
// mailboxes can't know; the requests for these report it then.
func requireDomains(ctx context.Context, t *cli.Target, result *importResult) error {
	has := map[string]bool{}
	var names []string
	for d, err := range apiclient.All(ctx, t.Client, api.ListDomains, &api.ListDomainsRequest{}) {
		if refused, ok := errors.AsType[*apiclient.Error](err); ok && refused.Status == http.StatusForbidden {
			return nil
		} else if err != nil {
			return err
		}
		has[d.Name] = true
		names = append(names, cli.Printable(d.Name))
	}
	var missing []string
	for _, d := range result.Domains {
		if !has[d.Name] {
			missing = append(missing, d.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	owns := "it has no domain yet"
	if len(names) > 0 {
		owns = "it has " + strings.Join(names[:min(len(names), 10)], ", ")
	}
	return fmt.Errorf("the account has no domain %s (%s); add it with a mailhost_domain, and run the command again", strings.Join(missing, " and no "), owns)
}

type domainImport struct {
	client  *apiclient.Client
	domain  *importedDomain
	result  *importResult
	missing []userlist.User
	bulk    int
}

func (i *domainImport) compare(ctx context.Context) error {
	existing, err := i.existing(ctx)
	if err != nil {
		return err
	}
	for _, u := range i.domain.users {
		m, ok := existing[u.Address.Local]
		switch {
		case !ok:
			i.missing = append(i.missing, u)
			continue
		case norm.NFC.String(m.FirstName) != u.FirstName || norm.NFC.String(m.LastName) != u.LastName:
			i.domain.OtherNames++
		}
		i.domain.Existing++
	}
	i.domain.Create, i.domain.compared = len(i.missing), true
	return nil
}

// existing returns the mailboxes of the domain by local part.
func (i *domainImport) existing(ctx context.Context) (map[string]api.Mailbox, error) {
	existing := map[string]api.Mailbox{}
	for m, err := range apiclient.All(ctx, i.client, api.ListMailboxes, &api.ListMailboxesRequest{Domain: i.domain.Name}) {
		if err != nil {
			return nil, err
		}
		if m.DomainName == i.domain.Name {
			existing[m.LocalPart] = m
		}
	}
	return existing, nil
}

// create creates the missing mailboxes. An address that is taken meanwhile, perhaps by an
// attempt whose response was lost, exists if the list has it, and has failed otherwise,
// because it is an alias.
func (i *domainImport) create(ctx context.Context, done func(int)) error {
	taken := map[int]string{} // messages by index in missing
	for start := 0; start < len(i.missing); {
		users := i.missing[start:min(start+i.bulk, len(i.missing))]
		body := api.CreateMailboxesBody{Domain: i.domain.Name}
		for _, u := range users {
			body.Items = append(body.Items, api.NewMailboxItem{LocalPart: u.Address.Local, FirstName: u.FirstName, LastName: u.LastName})
		}
		created, err := apiclient.Call(ctx, i.client, api.CreateMailboxes, &api.CreateMailboxesRequest{Body: body})
		if isTooMany(err) && len(users) > 1 {
			i.bulk = len(users) / 2
			continue
		}
		if err != nil {
			return err
		}
		i.domain.Created += len(created.Created)
		for _, failed := range created.Failed {
			if failed.Index < 0 || failed.Index >= len(users) {
				continue
			}
			if failed.Code == api.BulkAlreadyExists {
				taken[start+failed.Index] = failed.Message
			} else {
				i.fail(users[failed.Index], failed.Message)
			}
		}
		start += len(users)
		done(len(users))
	}
	if len(taken) == 0 {
		return nil
	}
	existing, err := i.existing(ctx)
	if err != nil {
		return err
	}
	for index, message := range taken {
		if u := i.missing[index]; existing[u.Address.Local].ID != "" {
			i.domain.Existing++
			i.domain.Create--
		} else {
			i.fail(u, message)
		}
	}
	return nil
}

func (i *domainImport) fail(u userlist.User, message string) {
	i.domain.Failed++
	i.result.Problems = append(i.result.Problems, userlist.Problem{Place: u.Place, Address: u.Address.String(), Text: cli.Printable(api.PlainMessage(message))})
}

// isTooMany reports whether the API refuses the number of items, or the size of the body.
func isTooMany(err error) bool {
	e, ok := errors.AsType[*apiclient.Error](err)
	return ok && (e.Status == http.StatusRequestEntityTooLarge ||
		slices.ContainsFunc(e.Problems, func(p api.Problem) bool { return slices.Equal(p.Loc, []string{"body", "items"}) }))
}
