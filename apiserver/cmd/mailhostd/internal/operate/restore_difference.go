package operate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/access"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

// This file compares a database with a backup of it, by the API's lists.

// The types of object that restore names.
const (
	tokenType          = "token"
	grantType          = "grant"
	masterPasswordType = "master password"
)

// objectName names an object.
type objectName struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// accountDifference is how an account changes when the backup replaces the database.
type accountDifference struct {
	AccountID string `json:"account_id"`
	// Lost means that the backup does not have the account.
	Lost bool `json:"lost"`
	// Status is the account's status in the database and in the backup if they differ.
	Status []string `json:"status,omitempty"`
	// Revived are credentials and grants that were revoked or deleted since the backup.
	Revived []objectName `json:"revived"`
	// Gone were created since the backup, and Back were deleted. Changed get their earlier
	// content.
	Gone    []objectName `json:"gone"`
	Back    []objectName `json:"back"`
	Changed []objectName `json:"changed"`
}

// compareServices returns how each account of current differs in a backup.
func compareServices(ctx context.Context, current, backup *apiserver.Service) ([]accountDifference, error) {
	ids, err := current.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	inBackup, err := backup.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	differences := []accountDifference{}
	for _, id := range ids {
		c := comparison{ctx: ctx, now: cli.OperatorClient(current, id), then: cli.OperatorClient(backup, id), accountDifference: accountDifference{
			AccountID: id, Lost: !slices.Contains(inBackup, id), Revived: []objectName{}, Gone: []objectName{}, Back: []objectName{}, Changed: []objectName{},
		}}
		if !c.Lost {
			c.compare()
		}
		if c.err != nil {
			return nil, fmt.Errorf("account %s: %w", id, c.err)
		}
		differences = append(differences, c.accountDifference)
	}
	return differences, nil
}

// comparison compares one account, as it is now and as it was then.
type comparison struct {
	ctx       context.Context
	now, then *apiclient.Client
	accountDifference
	err error
}

func (c *comparison) compare() {
	account := func(client *apiclient.Client) *api.Account {
		a, err := apiclient.Call(c.ctx, client, api.GetAccount, &api.GetAccountRequest{})
		c.err = cmp.Or(c.err, err)
		return a
	}
	now, then := account(c.now), account(c.then)
	if c.err != nil {
		return
	}
	if now.Status != then.Status {
		c.Status = []string{now.Status, then.Status}
	}
	c.tokens()
	c.grants()
	passwords := differ(c, masterPasswordType, pages(c, api.ListMasterPasswords, func() *api.ListMasterPasswordsRequest { return &api.ListMasterPasswordsRequest{} }),
		func(p api.MasterPassword) (string, string) { return p.ID, p.Name })
	c.Revived = append(c.Revived, passwords...)
	list := func(back []objectName) { c.Back = append(c.Back, back...) }
	list(differ(c, "domain", pages(c, api.ListDomains, func() *api.ListDomainsRequest { return &api.ListDomainsRequest{} }),
		func(d api.Domain) (string, string) { return d.ID, d.Name }))
	list(differ(c, "mailbox", pages(c, api.ListMailboxes, func() *api.ListMailboxesRequest { return &api.ListMailboxesRequest{} }),
		func(m api.Mailbox) (string, string) { return m.ID, m.PrimaryEmail }))
	list(differ(c, "forwarding rule", pages(c, api.ListForwarding, func() *api.ListForwardingRequest { return &api.ListForwardingRequest{} }),
		func(f api.Forwarding) (string, string) { return f.ID, "to " + f.TargetEmail }))
	list(differ(c, "DNS record", pages(c, api.ListDNSRecords, func() *api.ListDNSRecordsRequest { return &api.ListDNSRecordsRequest{} }),
		func(r api.DNSRecord) (string, string) { return strconv.FormatInt(r.ID, 10), r.Name + " " + r.Type }))
	list(differ(c, "dedicated IP", pages(c, api.ListDedicatedIPs, func() *api.ListDedicatedIPsRequest { return &api.ListDedicatedIPsRequest{} }),
		func(ip api.DedicatedIP) (string, string) { return ip.ID, ip.Name }))
	list(differ(c, "workspace", pages(c, api.ListWorkspaces, func() *api.ListRequest { return &api.ListRequest{} }),
		func(w api.Workspace) (string, string) { return w.ID, w.Name }))
}

// tokens compares service accounts: one is not deleted but revoked.
func (c *comparison) tokens() {
	now, then := pages(c, api.ListServiceAccounts, func() *api.ListRequest { return &api.ListRequest{} })()
	revoked := map[string]bool{}
	for _, a := range now {
		revoked[a.ID] = a.RevokedAt != nil
	}
	known := map[string]bool{}
	for _, a := range then {
		if known[a.ID] = true; revoked[a.ID] && access.TokenState(a, time.Now()) == "active" {
			c.Revived = append(c.Revived, objectName{tokenType, a.ID, a.Name})
		}
	}
	for _, a := range now {
		if !known[a.ID] && access.TokenState(a, time.Now()) == "active" {
			c.Gone = append(c.Gone, objectName{tokenType, a.ID, a.Name})
		}
	}
}

// grants compares grants, which are not deleted but revoked. Those of a revoked token come
// back with the token.
func (c *comparison) grants() {
	list := func(client *apiclient.Client) (grants []api.Authorization) {
		got, err := apiclient.Call(c.ctx, client, api.ListAuthorizations, &api.ListAuthorizationsRequest{IncludeRevoked: true})
		if c.err = cmp.Or(c.err, err); err == nil {
			grants = *got
		}
		return grants
	}
	name := func(g api.Authorization) objectName {
		right, within := access.DescribeRight(g)
		return objectName{grantType, g.ID, right + " in " + within + " for " + g.SubjectType + " " + g.SubjectID}
	}
	revoked, known := map[string]bool{}, map[string]bool{}
	now := list(c.now)
	for _, g := range now {
		revoked[g.ID] = g.RevokedAt != nil
	}
	for _, g := range list(c.then) {
		if known[g.ID] = true; revoked[g.ID] && g.RevokedAt == nil {
			c.Revived = append(c.Revived, name(g))
		}
	}
	for _, g := range now {
		if !known[g.ID] && g.RevokedAt == nil {
			c.Gone = append(c.Gone, name(g))
		}
	}
}

// pages returns a function that reads a list as it is now and as it was then.
func pages[Req, Item any](c *comparison, op api.Operation[Req, api.Page[Item]], request func() *Req) func() (now, then []Item) {
	list := func(client *apiclient.Client) []Item {
		if c.err != nil {
			return nil
		}
		items, err := apiclient.Collect(apiclient.All(c.ctx, client, op, request()))
		c.err = err
		return items
	}
	return func() ([]Item, []Item) { return list(c.now), list(c.then) }
}

// differ adds the objects of a list that are gone or changed, and returns those that are
// back.
func differ[Item any](c *comparison, typ string, read func() (now, then []Item), key func(Item) (id, name string)) (back []objectName) {
	now, then := read()
	contents := map[string][]byte{}
	for _, item := range then {
		id, _ := key(item)
		contents[id], _ = json.Marshal(item) // the API's types can be written as JSON
	}
	for _, item := range now {
		id, name := key(item)
		before, existed := contents[id]
		delete(contents, id)
		switch content, _ := json.Marshal(item); {
		case !existed:
			c.Gone = append(c.Gone, objectName{typ, id, name})
		case !bytes.Equal(before, content):
			c.Changed = append(c.Changed, objectName{typ, id, name})
		}
	}
	for _, item := range then {
		if id, name := key(item); contents[id] != nil {
			back = append(back, objectName{typ, id, name})
		}
	}
	return back
}

// write prints the difference for people.
func (a accountDifference) write(w io.Writer) {
	fmt.Fprintf(w, "Account %s\n", a.AccountID)
	if a.Lost {
		fmt.Fprintln(w, "  The backup does not have this account: all of it is lost.")
		return
	}
	if a.Status != nil {
		fmt.Fprintf(w, "  Its status was %s and is %s again.\n", a.Status[0], a.Status[1])
	}
	if len(a.Revived)+len(a.Gone)+len(a.Back)+len(a.Changed) == 0 && a.Status == nil {
		fmt.Fprintln(w, "  Nothing differs.")
	}
	if len(a.Revived) > 0 {
		fmt.Fprintln(w, "  Revoked or deleted since the backup. It works again unless you revoke it again:")
		for _, o := range a.Revived {
			fmt.Fprintf(w, "    %s %s (%s)\n", o.Type, cli.Printable(o.Name), o.ID)
		}
	}
	for _, part := range []struct {
		title   string
		objects []objectName
	}{
		{"Created since the backup, and lost:", a.Gone},
		{"Deleted since the backup, and back:", a.Back},
		{"Changed since the backup, and as before:", a.Changed},
	} {
		if len(part.objects) > 0 {
			fmt.Fprintf(w, "  %s\n", part.title)
			writeNames(w, part.objects)
		}
	}
}

// namesShown is the number of objects of one type that are named.
const namesShown = 5

// writeNames prints one line for each type of object.
func writeNames(w io.Writer, objects []objectName) {
	for len(objects) > 0 {
		typ := objects[0].Type
		n := 0
		var names []string
		for n < len(objects) && objects[n].Type == typ {
			if n < namesShown {
				names = append(names, cli.Printable(objects[n].Name))
			}
			n++
		}
		if more := n - len(names); more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		fmt.Fprintf(w, "    %s: %s\n", cli.Counted(n, typ), strings.Join(names, ", "))
		objects = objects[n:]
	}
}
