// Package access provides the commands for accounts and rights: service accounts with their tokens,
// grants, and sign-in. They work on a database, or over HTTP with the rights of a token.
package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

type AccountCommand struct {
	Create accountCreateCommand `cmd:"" help:"Create an account and print its id and an owner's token."`
	List   accountListCommand   `cmd:"" help:"List the accounts of a database."`
	Show   accountShowCommand   `cmd:"" help:"Show an account: its plan, what is in it, and who owns it."`
	Delete accountDeleteCommand `cmd:"" help:"Delete an account that has no domains, for instance one that was created by mistake."`
}

// accountSummary is an account with its numbers of objects. A number is null if the caller may not see the objects.
type accountSummary struct {
	api.Account
	Domains         *int `json:"domains"`
	Mailboxes       *int `json:"mailboxes"`
	ServiceAccounts *int `json:"service_accounts"`
}

func summarize(ctx context.Context, c *apiclient.Client) (s accountSummary, err error) {
	account, err := apiclient.Call(ctx, c, api.GetAccount, &api.InAccount{})
	if err != nil {
		return s, err
	}
	s.Account = *account
	var domainsErr, mailboxesErr, tokensErr error
	s.Domains, domainsErr = total(ctx, c, api.ListDomains.Spec)
	s.Mailboxes, mailboxesErr = total(ctx, c, api.ListMailboxes.Spec)
	s.ServiceAccounts, tokensErr = total(ctx, c, api.ListServiceAccounts.Spec)
	return s, errors.Join(domainsErr, mailboxesErr, tokensErr)
}

// total returns the length of a list, or nil if the caller may not see it.
func total(ctx context.Context, c *apiclient.Client, list api.Spec) (*int, error) {
	n, err := apiclient.Total(ctx, c, list)
	if apiclient.Denied(err) {
		return nil, nil
	}
	return &n, err
}

func count(n *int) string {
	if n == nil {
		return "?"
	}
	return strconv.Itoa(*n)
}

type accountListCommand struct {
	cli.DatabaseFlags
	cli.OutputFlags
}

func (c accountListCommand) Run(ctx context.Context, p cli.Program, service cli.ReadService) error {
	ids, err := service.Accounts(ctx)
	if err != nil {
		return err
	}
	accounts := []accountSummary{}
	rows := [][]string{{"ID", "STATUS", "PLAN", "DOMAINS", "MAILBOXES", "SERVICE ACCOUNTS", "CREATED"}}
	for _, id := range ids {
		a, err := summarize(ctx, cli.OperatorClient(service.Service, id))
		if err != nil {
			return err
		}
		accounts = append(accounts, a)
		rows = append(rows, []string{a.ID, a.Status, a.PlanID, count(a.Domains), count(a.Mailboxes), count(a.ServiceAccounts), cli.Minute(&a.CreatedAt)})
	}
	return c.PrintTable(p, accounts, "There is no account yet. Create one with mailhostd account create.", rows)
}

type accountShowCommand struct {
	cli.TargetFlags
	cli.OutputFlags
}

func (c accountShowCommand) Run(ctx context.Context, p cli.Program, t cli.ReadTarget) error {
	a, err := summarize(ctx, t.Client)
	if err != nil {
		return err
	}
	owners, err := apiclient.Call(ctx, t.Client, api.ListAuthorizations, &api.ListAuthorizationsRequest{GrantKind: vocab.GrantAccountOwner})
	if err != nil && !apiclient.Denied(err) {
		return err
	}
	return c.Print(p, a, func(w io.Writer) {
		rows := [][]string{
			{"Account:", a.ID}, {"Status:", a.Status}, {"Plan:", a.PlanID}, {"Default workspace:", a.DefaultWorkspaceID},
			{"Domains:", count(a.Domains)}, {"Mailboxes:", count(a.Mailboxes)}, {"Service accounts:", count(a.ServiceAccounts)}, {"Created:", cli.Minute(&a.CreatedAt)},
		}
		if a.CancelsAt != nil {
			rows = append(rows, []string{"Cancelled from:", cli.Minute(a.CancelsAt)})
		}
		if owners != nil {
			names := grantNames{apiclient.NewNames(ctx, t.Client)}
			for _, g := range *owners {
				if names.RevokedAt(g) == nil {
					rows = append(rows, []string{"Owner:", names.subject(g)})
				}
			}
		}
		cli.WriteTable(w, rows)
	})
}

type accountDeleteCommand struct {
	ID cli.ID `arg:"" name:"id" help:"Id of the account, see mailhostd account list."`
	cli.DatabaseFlags
}

func (accountDeleteCommand) Help() string {
	return "Deletes all that is in it, such as its tokens, grants, master passwords and forwarding rules, and can't be undone. " +
		"Delete its domains and release its dedicated IPs first, with Terraform or the API; if the account is cancelled, with mailhostd call on the database. The audit log keeps its entries."
}

func (c accountDeleteCommand) Run(ctx context.Context, p cli.Program, service *apiserver.Service) error {
	if err := service.DeleteAccount(ctx, string(c.ID), cli.SystemUser()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Stdout, "deleted the account %s\n", c.ID)
	return err
}

type accountCreateFlags struct {
	Database  string `default:"mailhost.db" placeholder:"FILE" help:"SQLite file, created if it does not exist, or postgres:// URL of a database. Default: ${default}."`
	AccountID cli.ID `placeholder:"UUID" help:"Id of the account to create. Default: a random UUID."`
}

type newAccount struct {
	AccountID   string `json:"account_id"`
	WorkspaceID string `json:"workspace_id"`
	Token       string `json:"token"`
	// others is the number of other accounts in the database.
	others int
	// lost is for PrintOnce.
	lost string
}

// ownerName is the name of a new account's service account.
const ownerName = "owner"

func (c accountCreateFlags) create(ctx context.Context, p cli.Program) (a newAccount, err error) {
	service, err := cli.OpenService(ctx, p, c.Database, cli.OpenOptions{})
	if err != nil {
		return a, err
	}
	before, err := service.Accounts(ctx)
	if err != nil {
		return a, err
	}
	id, token, err := service.InitAccount(ctx, string(c.AccountID), ownerName)
	if inUse, ok := errors.AsType[*apiserver.AccountInUseError](err); ok {
		return a, fmt.Errorf("%s has the account %s already, with a service account that works; nothing was changed. "+
			"Use its token, or create another one: mailhostd token create NAME --database %s --account-id %s",
			cli.RedactDatabase(c.Database), inUse.AccountID, cli.RedactDatabase(c.Database), inUse.AccountID)
	}
	if err != nil {
		return a, fmt.Errorf("the account can't be created: %w", err)
	}
	a = newAccount{AccountID: id, WorkspaceID: api.DefaultWorkspaceID(id), Token: token, others: len(before)}
	a.lost = fmt.Sprintf("the account %s was created, and nobody has its token. Delete it: mailhostd account delete %s --database %s", id, id, cli.RedactDatabase(c.Database))
	if slices.Contains(before, id) {
		a.others--
		t := &cli.Target{Client: cli.OperatorClient(service, id), Name: cli.RedactDatabase(c.Database)}
		owner, err := findToken(ctx, t.Client, ownerName)
		if err != nil {
			return a, err
		}
		a.lost = lostToken(t, owner)
	}
	return a, nil
}

type accountCreateCommand struct {
	accountCreateFlags
	cli.OutputFlags
}

func (accountCreateCommand) Help() string {
	return "The token is shown only once. mailhostd init does the same, and always prints JSON."
}

func (c accountCreateCommand) Run(ctx context.Context, p cli.Program) error {
	a, err := c.create(ctx, p)
	if err != nil {
		return err
	}
	return cli.PrintOnce(p, a.lost, func() error {
		return c.Print(p, a, func(w io.Writer) {
			fmt.Fprintf(w, "Created the account. Its token is not shown again:\n\n"+
				"  export MAILHOST_ACCOUNT_ID=%s\n  export MAILHOST_TOKEN=%s\n\nIts default workspace is %s.\n", a.AccountID, a.Token, a.WorkspaceID)
		})
	})
}

// InitCommand is the short form of account create for scripts.
type InitCommand struct {
	accountCreateFlags
}

func (InitCommand) Help() string {
	return "Prints {\"account_id\": …, \"workspace_id\": …, \"token\": …}. The token is shown only once."
}

func (c InitCommand) Run(ctx context.Context, p cli.Program) error {
	a, err := c.create(ctx, p)
	if err != nil {
		return err
	}
	if a.others > 0 && c.AccountID == "" { // a script that ran twice, not a choice
		database := cli.RedactDatabase(c.Database)
		fmt.Fprintf(p.Stderr, "mailhostd: %s had %s already, and %s is another one. List them with: mailhostd account list --database %s\n",
			database, cli.Counted(a.others, "account"), a.AccountID, database)
	}
	return cli.PrintOnce(p, a.lost, func() error { return json.NewEncoder(p.Stdout).Encode(a) })
}
