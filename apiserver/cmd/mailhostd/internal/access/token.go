package access

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

type TokenCommand struct {
	Create tokenCreateCommand `cmd:"" help:"Create a service account and print its token."`
	List   tokenListCommand   `cmd:"" help:"List service accounts: their rights, expiry and last use."`
	Revoke tokenRevokeCommand `cmd:"" help:"Revoke service accounts: their tokens stop working at once."`
}

func (TokenCommand) Help() string {
	return "A token is the credential of a service account. On a database, also while servers use it, a new token needs no old one (break-glass): " +
		"whoever can write to the database can always create an owner's token, and the audit log names the operator."
}

type tokenCreateCommand struct {
	Name    string           `arg:"" help:"Name of the service account, for lists and the audit log."`
	Expires cli.DeadlineFlag `variable:"-" placeholder:"TIME" help:"When the token stops working: a duration such as 90d or 12h, a date such as 2027-03-14 (midnight UTC), or a time such as 2027-03-14T15:00:00Z. Default: when the service account expires that creates it, which is also the latest; never, if that one does not expire, or if a person or the operator creates it."`
	rightsFlags
	cli.TargetFlags
	cli.OutputFlags
}

func (tokenCreateCommand) Help() string {
	return `Without --plan-only and --grant the token has all your rights: on a database those of an owner, over HTTP those of the token that creates it.

Examples:
  mailhostd token create admin --database mailhost.db      a new owner's token, also if all others are lost
  mailhostd token create ci-plan --plan-only --expires 90d
  mailhostd token create hr --grant mailbox.view,mailbox.create --domain example.com
  export MAILHOST_TOKEN=$(mailhostd token create ci --plan-only --json | jq -r .token)`
}

type createdToken struct {
	api.CreatedServiceAccount
	Grants []api.Authorization `json:"grants"`
}

func (c tokenCreateCommand) Run(ctx context.Context, p cli.Program, t *cli.Target) error {
	wanted, err := c.grants(ctx, t.Client)
	if err != nil {
		return err
	}
	if c.chosen() {
		// Check before creating anything: an API with only the published operations can't restrict rights.
		if _, err := apiclient.Call(ctx, t.Client, api.ListServiceAccounts, &api.ListRequest{Paged: api.Paged{Page: 1, PageSize: 1}}); apiclient.Missing(err) {
			return err
		}
	}
	body := api.CreateServiceAccountBody{Name: c.Name}
	if !c.Expires.IsZero() {
		body.ExpiresAt = new(c.Expires.UTC().Format(api.TimestampLayout))
	}
	created, err := apiclient.Call(ctx, t.Client, api.CreateServiceAccount, &api.CreateServiceAccountRequest{Body: body})
	if err != nil {
		return err
	}
	out := createdToken{CreatedServiceAccount: *created}
	if c.chosen() {
		if err := restrict(ctx, t.Client, created.ID, wanted); err != nil {
			// The token was not shown to anybody.
			if _, failed := apiclient.Call(context.WithoutCancel(ctx), t.Client, api.RevokeServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: created.ID}); failed != nil {
				return fmt.Errorf("the rights of the service account %q (%s) can't be set: %w; its token was not shown to anybody, but revoking it failed too: %w", c.Name, created.ID, err, failed)
			}
			return fmt.Errorf("the rights of the service account can't be set, so it was revoked: %w", err)
		}
	}
	return cli.PrintOnce(p, lostToken(t, created.ServiceAccount), func() (err error) {
		if out.Grants, err = grantsOf(ctx, t.Client, created.ID); err != nil && !apiclient.Denied(err) {
			return err
		}
		return c.Print(p, out, func(w io.Writer) { printToken(ctx, w, out, t) })
	})
}

// lostToken says that a new service account exists whose token was not printed.
func lostToken(t *cli.Target, a api.ServiceAccount) string {
	place := "--database"
	if t.URL != "" {
		place = "--base-url"
	}
	return fmt.Sprintf("the service account %q was created, and nobody has its token. Revoke it: mailhostd token revoke %s --account-id %s %s %s", a.Name, a.ID, t.AccountID, place, t.Name)
}

func printToken(ctx context.Context, w io.Writer, created createdToken, t *cli.Target) {
	rights, expires := "the rights of the token that created it", "never expires"
	if created.Grants != nil {
		rights = strings.Join(apiclient.ListRights(created.Grants, grantNames{apiclient.NewNames(ctx, t.Client)}.scope), "; ")
	}
	if created.ExpiresAt != nil {
		expires = "expires at " + cli.Minute(created.ExpiresAt) + " UTC"
	}
	fmt.Fprintf(w, "Created the service account %q (%s).\nRights: %s. It %s.\n\nIts token is not shown again:\n\n", created.Name, created.ID, rights, expires)
	if t.URL != "" {
		fmt.Fprintf(w, "  export MAILHOST_BASE_URL=%s\n", t.URL)
	}
	fmt.Fprintf(w, "  export MAILHOST_ACCOUNT_ID=%s\n  export MAILHOST_TOKEN=%s\n", created.AccountID, created.Token)
}

// restrict replaces the inherited grants of a new service account by the wanted grants. It revokes all
// inherited grants first, so the service account never gets further rights.
func restrict(ctx context.Context, c *apiclient.Client, serviceAccountID string, wanted []api.GrantAuthorizationBody) error {
	inherited, err := grantsOf(ctx, c, serviceAccountID)
	if err != nil {
		return err
	}
	for _, g := range inherited {
		if _, err := apiclient.Call(ctx, c, api.RevokeAuthorization, &api.AuthorizationRequest{AuthorizationID: g.ID}); err != nil {
			return err
		}
	}
	for _, body := range wanted {
		body.SubjectType, body.SubjectID = vocab.SubjectServiceAccount, serviceAccountID
		if _, err := apiclient.Call(ctx, c, api.GrantAuthorization, &api.GrantAuthorizationRequest{Body: body}); err != nil {
			return err
		}
	}
	return nil
}

func grantsOf(ctx context.Context, c *apiclient.Client, serviceAccountID string) ([]api.Authorization, error) {
	grants, err := apiclient.Call(ctx, c, api.ListAuthorizations, &api.ListAuthorizationsRequest{
		SubjectType: vocab.SubjectServiceAccount, SubjectID: serviceAccountID,
	})
	if err != nil {
		return nil, err
	}
	return *grants, nil
}

type tokenListCommand struct {
	All bool `variable:"-" help:"Include those that are revoked or expired."`
	cli.TargetFlags
	cli.OutputFlags
}

// listedToken is an element of the output of token list. Grants are null if the caller may not see them.
type listedToken struct {
	api.ServiceAccount
	State string `json:"state"`
	// CreatedBy is null if it is unknown, or if the caller may not see grants.
	CreatedBy *api.AuditSubject   `json:"created_by"`
	Grants    []api.Authorization `json:"grants"`
}

func (c tokenListCommand) Run(ctx context.Context, p cli.Program, t cli.ReadTarget) error {
	accounts, err := apiclient.Collect(apiclient.All(ctx, t.Client, api.ListServiceAccounts, &api.ListRequest{}))
	if err != nil {
		return err
	}
	grants, err := apiclient.TokenGrants(ctx, t.Client)
	if err != nil {
		return err
	}
	now := time.Now()
	accounts = slices.DeleteFunc(accounts, func(a api.ServiceAccount) bool { return !c.All && apiclient.TokenState(a, now) != "active" })
	creators, err := apiclient.Creators(ctx, t.Client)
	if err != nil {
		return err
	}
	tokens := []listedToken{}
	rows := [][]string{{"NAME", "ID", "STATE", "EXPIRES", "LAST USED", "ENDS IN", "CREATED BY", "RIGHTS"}} // which can be long
	names := grantNames{apiclient.NewNames(ctx, t.Client)}
	for _, a := range accounts {
		listed := listedToken{ServiceAccount: a, State: apiclient.TokenState(a, now)}
		creator := "?"
		if by, ok := creators[a.ID]; ok {
			listed.CreatedBy = &by
			creator = apiclient.DescribeAuthor(by)
		}
		rights := "?"
		if grants != nil {
			listed.Grants = append([]api.Authorization{}, grants[a.ID]...)
			rights = strings.Join(apiclient.ListRights(listed.Grants, names.scope), "; ")
		}
		tokens = append(tokens, listed)
		rows = append(rows, []string{a.Name, a.ID, listed.State, cmp.Or(cli.Minute(a.ExpiresAt), "never"), cli.Minute(a.LastUsedAt), a.TokenLast4, creator, rights})
	}
	return c.PrintTable(p, tokens, "No token works. Create one with mailhostd token create.", rows)
}

type tokenRevokeCommand struct {
	Tokens []string `arg:"" name:"token" help:"Id of a service account, or the name of one that works."`
	childrenFlag
	cli.TargetFlags
	cli.OutputFlags
}

func (c tokenRevokeCommand) Run(ctx context.Context, p cli.Program, t *cli.Target) error {
	caller, err := apiclient.Call(ctx, t.Client, api.GetCaller, &api.InAccount{})
	if err != nil {
		return err
	}
	var tokens []api.ServiceAccount
	var own *api.ServiceAccount
	var subjects []apiclient.Subject
	command := []string{"mailhostd token revoke --with-children"}
	for _, token := range c.Tokens { // find all tokens before revoking one
		a, err := findToken(ctx, t.Client, token)
		if err != nil {
			return err
		}
		subjects = append(subjects, apiclient.Subject{Type: vocab.SubjectServiceAccount, ID: a.ID})
		command = append(command, a.ID)
		if a.ID == caller.SubjectID {
			own = &a
		} else {
			tokens = append(tokens, a)
		}
	}
	revoked := []api.ServiceAccount{}
	revoke := func(a api.ServiceAccount) error {
		if _, err := apiclient.Call(ctx, t.Client, api.RevokeServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: a.ID}); err != nil {
			return fmt.Errorf("%q (%s): %w%s", a.Name, a.ID, err, done(len(revoked), max(len(revoked)+1, len(c.Tokens))))
		}
		if now, err := apiclient.Call(ctx, t.Client, api.GetServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: a.ID}); err == nil {
			a = *now
		}
		revoked = append(revoked, a)
		return nil
	}
	var children endedChildren
	if err = c.precheck(ctx, t.Client, subjects); err != nil {
		return err
	}
	for _, a := range tokens {
		if err = revoke(a); err != nil {
			break
		}
	}
	if err == nil { // a revoked token creates no further children
		children, err = c.end(ctx, p, t.Client, caller.SubjectID, strings.Join(command, " "), subjects)
	}
	failed := err
	var grants []listedChild
	for _, child := range children.revoked {
		if child.Type != vocab.SubjectServiceAccount {
			grants = append(grants, child)
			continue
		}
		a, err := apiclient.Call(ctx, t.Client, api.GetServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: child.ID})
		if err != nil {
			a = &api.ServiceAccount{ID: child.ID, AccountID: t.AccountID, Name: child.Name, ExpiresAt: child.ExpiresAt}
		}
		revoked = append(revoked, *a)
	}
	if own != nil && failed == nil { // the caller can revoke nothing afterwards
		failed = revoke(*own)
	}
	if len(grants) > 0 && failed == nil { // otherwise stderr names them
		fmt.Fprintln(p.Stderr, "mailhostd: these grants are revoked too:")
		printChildren(p.Stderr, grants)
	}
	if failed != nil && len(revoked) == 0 {
		return failed
	}
	return cmp.Or(c.Print(p, revoked, func(w io.Writer) {
		for _, a := range revoked {
			fmt.Fprintf(w, "Revoked %q (%s): its token no longer works.\n", a.Name, a.ID)
		}
	}), failed)
}

// findToken returns the service account with an id, or the active service account with a name.
func findToken(ctx context.Context, c *apiclient.Client, idOrName string) (a api.ServiceAccount, err error) {
	now := time.Now()
	a, err = find(ctx, c, api.ListServiceAccounts, &api.ListRequest{}, idOrName, func(a api.ServiceAccount) (string, string) {
		if apiclient.TokenState(a, now) != "active" {
			return a.ID, ""
		}
		return a.ID, a.Name
	})
	if err != nil {
		return a, fmt.Errorf("service account: %w", err)
	}
	return a, nil
}
