package operate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/access"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
)

// This file compares a database with a backup of it, by the API's lists.

// The types of credentials that restore names.
const (
	tokenType          = "token"
	grantType          = "grant"
	masterPasswordType = "master password"
)

type credential struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// objectCount is the number of objects of a type in the database and in the backup.
type objectCount struct {
	Type     string `json:"type"`
	Database int    `json:"database"`
	Backup   int    `json:"backup"`
}

// accountComparison is an account of the database compared with the backup.
type accountComparison struct {
	AccountID string `json:"account_id"`
	// Lost means that the account is missing in the backup, and Deleted that it is missing in the database.
	Lost    bool          `json:"lost"`
	Deleted bool          `json:"deleted"`
	Objects []objectCount `json:"objects"`
	// Revived are credentials that were revoked or deleted since the backup.
	Revived []credential `json:"revived"`
}

func compareServices(ctx context.Context, current, backup *apiserver.Service) ([]accountComparison, error) {
	ids, err := current.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	inBackup, err := backup.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	all := []accountComparison{}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(ids, inBackup)))) {
		a := accountComparison{
			AccountID: id, Lost: !slices.Contains(inBackup, id), Deleted: !slices.Contains(ids, id), Objects: []objectCount{}, Revived: []credential{},
		}
		if !a.Lost {
			if err := a.compare(ctx, cli.OperatorClient(current, id), cli.OperatorClient(backup, id)); err != nil {
				return nil, fmt.Errorf("account %s: %w", id, err)
			}
		}
		all = append(all, a)
	}
	return all, nil
}

func (a *accountComparison) compare(ctx context.Context, now, then *apiclient.Client) error {
	var err error
	states := map[string]bool{account.OwnerGrantID(a.AccountID): true} // as in a new account
	if !a.Deleted {
		if states, err = credentials(ctx, now, nil); err != nil {
			return err
		}
	}
	if _, err = credentials(ctx, then, func(c credential) {
		// Master passwords are deleted. Other credentials are revoked, or deleted with their account.
		if works, known := states[c.ID]; known && !works || !known && (a.Deleted || c.Type == masterPasswordType) {
			a.Revived = append(a.Revived, c)
		}
	}); err != nil {
		return err
	}
	for _, list := range apiclient.Lists() {
		n := objectCount{Type: list.Kind.Noun}
		if !a.Deleted {
			if n.Database, err = apiclient.Total(ctx, now, list); err != nil {
				return err
			}
		}
		if n.Backup, err = apiclient.Total(ctx, then, list); err != nil {
			return err
		}
		a.Objects = append(a.Objects, n)
	}
	return nil
}

// credentials reports for each credential id of an account whether the credential works, and calls each
// for the working ones.
func credentials(ctx context.Context, c *apiclient.Client, each func(credential)) (works map[string]bool, err error) {
	works = map[string]bool{}
	add := func(active bool, found credential) {
		if works[found.ID] = active; active && each != nil {
			each(found)
		}
	}
	for t, err := range apiclient.All(ctx, c, api.ListServiceAccounts, &api.ListRequest{}) {
		if err != nil {
			return nil, err
		}
		add(apiclient.TokenState(t, time.Now()) == "active", credential{tokenType, t.ID, t.Name})
	}
	grants, err := apiclient.Call(ctx, c, api.ListAuthorizations, &api.ListAuthorizationsRequest{IncludeRevoked: true})
	if err != nil {
		return nil, err
	}
	names := apiclient.NewNames(ctx, c)
	for _, g := range *grants {
		found := credential{Type: grantType, ID: g.ID}
		if each != nil { // a name requires requests
			found.Name = access.DescribeGrant(g, names)
		}
		add(g.RevokedAt == nil, found)
	}
	for p, err := range apiclient.All(ctx, c, api.ListMasterPasswords, &api.ListMasterPasswordsRequest{}) {
		if err != nil {
			return nil, err
		}
		add(true, credential{masterPasswordType, p.ID, p.Name})
	}
	return works, nil
}

func (a accountComparison) write(w io.Writer) {
	fmt.Fprintf(w, "Account %s\n", a.AccountID)
	if a.Lost {
		fmt.Fprintln(w, "  The backup does not have this account: all of it is lost.")
		return
	}
	if a.Deleted {
		fmt.Fprintln(w, "  The database does not have this account: it comes back.")
	}
	rows := [][]string{{"  OBJECTS", "DATABASE", "BACKUP"}}
	for _, n := range a.Objects {
		rows = append(rows, []string{"  " + n.Type, strconv.Itoa(n.Database), strconv.Itoa(n.Backup)})
	}
	cli.WriteTable(w, rows)
	if len(a.Revived) > 0 {
		fmt.Fprintln(w, "  Revoked or deleted since the backup. It works again if you restore with --no-revoke-again:")
		for _, c := range a.Revived {
			fmt.Fprintf(w, "    %s %s %s\n", c.Type, c.ID, cli.Printable(c.Name))
		}
	}
}
