package access_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/access"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// TestLostToken checks that who holds the database gets into an account whose every token
// is lost, while a server runs, and that the server learns of each change at once.
func TestLostToken(t *testing.T) {
	t.Parallel()
	for name, newDatabase := range map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "mailhost.db") },
		"PostgreSQL": func(t *testing.T) string { return postgrestest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkLostToken(t, newDatabase(t))
		})
	}
}

func checkLostToken(t *testing.T, database string) {
	owner := mailhostdtest.InitializeIn(t, database)
	s := mailhostdtest.Serve(t, database)
	as := s.As(t, owner)
	as.Get("").Want(http.StatusOK)
	mailhostdtest.RunJSON[any](t, nil, "token", "revoke", "owner", "--database", database)
	as.Get("").Want(http.StatusUnauthorized)

	created := mailhostdtest.RunJSON[access.CreatedToken](t, nil, "token", "create", "rescue", "--database", database)
	s.As(t, mailhostdtest.Account{AccountID: owner.AccountID, Token: created.Token}).Domain("example.com")
	entries := mailhostdtest.Audit(t, database, "--operation", "create-service-account")
	if len(entries) != 1 || entries[0].Subject.Type != "operator" || entries[0].Subject.Name != cli.SystemUser() {
		t.Errorf("the audit log has %+v", entries)
	}
	if tokens := mailhostdtest.RunJSON[[]access.ListedToken](t, nil, "token", "list", "--database", database); len(tokens) != 1 || access.DescribeRights(tokens[0].Grants) != "owner" {
		t.Errorf("token list printed %+v", tokens)
	}
	if tokens := mailhostdtest.RunJSON[[]access.ListedToken](t, nil, "token", "list", "--all", "--database", database); len(tokens) != 2 || tokens[0].State != "revoked" {
		t.Errorf("token list --all printed %+v", tokens)
	}
}

// TestPlanOnlyToken checks, for each operation of the API, that a token with --plan-only may
// read and not change.
func TestPlanOnlyToken(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t)
	s.As(t, owner).Domain("example.com")
	created := mailhostdtest.RunJSON[access.CreatedToken](t, mailhostdtest.HTTPEnviron(s, owner), "token", "create", "ci", "--plan-only", "--expires", "90d")
	if created.ExpiresAt == nil || access.DescribeRights(created.Grants) != "plan only" {
		t.Errorf("token create printed %+v", created)
	}
	as := s.As(t, mailhostdtest.Account{AccountID: owner.AccountID, Token: created.Token})
	for _, spec := range api.Specs() {
		path := strings.TrimPrefix(spec.Path, api.Prefix)
		for _, name := range spec.PathParameters() {
			path = strings.Replace(path, "{"+name+"}", "11111111-2222-4333-8444-555555555556", 1)
		}
		var body any
		if spec.Method != http.MethodGet {
			body = `{}`
		}
		got := as.Do(spec.Method, path, body).Status
		if mayCall := spec.Method == http.MethodGet && spec.ID != api.ListAuditLog.ID || spec.Capability == ""; mayCall == (got == http.StatusForbidden) {
			t.Errorf("%s: status %d", spec.ID, got)
		}
	}
}

func TestRestrictedToken(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t)
	environ := mailhostdtest.HTTPEnviron(s, owner)
	s.As(t, owner).Domain("a-example.com")
	s.As(t, owner).Domain("b-example.com")
	created := mailhostdtest.RunJSON[access.CreatedToken](t, environ, "token", "create", "hr", "--grant", "mailbox.view,mailbox.create", "--domain", "a-example.com")
	as := s.As(t, mailhostdtest.Account{AccountID: owner.AccountID, Token: created.Token})
	as.CreateMailbox("a-example.com", "jane").Want(http.StatusCreated)
	as.CreateMailbox("b-example.com", "jane").Want(http.StatusUnprocessableEntity) // a domain that it can't see
	as.Get("/auth/service-accounts").Want(http.StatusForbidden)

	restricted := slices.Clone(environ)
	restricted[2] = "MAILHOST_TOKEN=" + created.Token
	if who := mailhostdtest.RunJSON[access.Identity](t, restricted, "whoami"); who.Name == nil || *who.Name != "hr" || len(who.Grants) != 2 {
		t.Errorf("whoami printed %+v", who)
	}
	// It can't create a token with more than it has, and no token is left behind.
	mailhostdtest.Fails(t, restricted, cli.ExitFailure, "lacks the capability service_account.", "token", "create", "more", "--grant", "account_owner")
	if tokens := mailhostdtest.RunJSON[[]access.ListedToken](t, environ, "token", "list", "--all"); len(tokens) != 2 {
		t.Errorf("token list printed %+v", tokens)
	}
}

func TestGrants(t *testing.T) {
	t.Parallel()
	database, _ := mailhostdtest.Initialize(t)
	add := []string{"grant", "add", "--database", database, "--group", "admins", "--grant", "account_owner,mailbox.view"}
	if granted := mailhostdtest.RunJSON[[]api.Authorization](t, nil, add...); len(granted) != 2 {
		t.Errorf("grant add printed %+v", granted)
	}
	if granted := mailhostdtest.RunJSON[[]api.Authorization](t, nil, add...); len(granted) != 0 {
		t.Errorf("the same grant add printed %+v", granted)
	}
	list := []string{"grant", "list", "--database", database, "--group", "admins"}
	grants := mailhostdtest.RunJSON[[]api.Authorization](t, nil, list...)
	if len(grants) != 2 {
		t.Fatalf("grant list printed %+v", grants)
	}
	mailhostdtest.RunJSON[any](t, nil, "grant", "remove", "--database", database, grants[0].ID)
	if left := mailhostdtest.RunJSON[[]api.Authorization](t, nil, list...); len(left) != 1 || left[0].ID != grants[1].ID {
		t.Errorf("grant list printed %+v", left)
	}
}

// table runs a command and returns what people read, with single spaces.
func table(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	code, stdout, stderr := mailhostdtest.RunWith(t, environ, append(args, "--no-json")...)
	if code != cli.ExitOK || stderr != "" {
		t.Fatalf("%s: exit code %d, stderr %s", args, code, stderr)
	}
	return regexp.MustCompile(` +`).ReplaceAllString(stdout, " ")
}

// TestGrantTable checks that people read names beside ids, one row for a token that may only
// plan, and nothing of a revoked token.
func TestGrantTable(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database)
	domain := s.As(t, owner).Domain("a-example.com")
	plan := mailhostdtest.RunJSON[access.CreatedToken](t, nil, "token", "create", "ci", "--plan-only", "--database", database)
	leaked := mailhostdtest.RunJSON[access.CreatedToken](t, nil, "token", "create", "leaked", "--database", database)
	hr := mailhostdtest.RunJSON[access.CreatedToken](t, nil, "token", "create", "hr", "--grant", "mailbox.view", "--domain", "a-example.com", "--database", database)
	mailhostdtest.RunJSON[any](t, nil, "token", "revoke", "leaked", "--database", database)

	environ := mailhostdtest.HTTPEnviron(s, owner)
	listed, all, shown := table(t, environ, "grant", "list"), table(t, environ, "grant", "list", "--all"), table(t, environ, "account", "show")
	for _, want := range []string{
		fmt.Sprintf("%d grants service_account ci (%s) plan only account ", len(plan.Grants), plan.ID),
		fmt.Sprintf("%s service_account hr (%s) mailbox.view domain a-example.com (%s) ", hr.Grants[0].ID, hr.ID, domain),
		" user Built-in owner (",
	} {
		if !strings.Contains(listed, want) || !strings.Contains(all, want) {
			t.Errorf("grant list lacks %q:\n%s\nwith --all\n%s", want, listed, all)
		}
	}
	if n := strings.Count(listed, "\n"); n != 5 { // header, built-in owner, owner, ci, hr
		t.Errorf("grant list printed %d lines:\n%s", n, listed)
	}
	if revoked := regexp.MustCompile(leaked.ID + `\) account_owner account [-0-9]+ [0-9:]+ [-0-9]+ `); strings.Contains(listed, leaked.ID) || !revoked.MatchString(all) {
		t.Errorf("the revoked token is not shown as such:\n%s\nwith --all\n%s", listed, all)
	}
	if !strings.Contains(shown, "\nOwner: service_account owner (") || strings.Contains(shown, leaked.ID) {
		t.Errorf("account show printed\n%s", shown)
	}
	for _, g := range mailhostdtest.RunJSON[[]api.Authorization](t, nil, "grant", "list", "--database", database) {
		if g.SubjectID == leaked.ID {
			t.Errorf("grant list --json has %+v", g)
		}
	}
	mailhostdtest.RunJSON[any](t, nil, "grant", "add", "--database", database, "--group", leaked.ID, "--grant", "mailbox.view")
	if listed := table(t, environ, "grant", "list"); !strings.Contains(listed, " group "+leaked.ID+" mailbox.view account ") {
		t.Errorf("a group named like a revoked token is not shown as a group:\n%s", listed)
	}
}

// TestWhoHasWhat checks that whoami names restricted rights with their domains, and that token
// list says who created a token.
func TestWhoHasWhat(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database)
	domain := s.As(t, owner).Domain("a-example.com")
	environ := mailhostdtest.HTTPEnviron(s, owner)
	support := mailhostdtest.RunJSON[access.CreatedToken](t, environ, "token", "create", "support", "--grant", "mailbox.view,domain.view", "--domain", "a-example.com")
	mailhostdtest.RunJSON[any](t, nil, "token", "create", "rescue", "--plan-only", "--database", database)
	as := []string{environ[0], environ[1], "MAILHOST_TOKEN=" + support.Token}
	if who, want := table(t, as, "whoami"), "\nRights: domain.view, mailbox.view in domain a-example.com ("+domain+")\n"; !strings.Contains(who, want) {
		t.Errorf("whoami lacks %q:\n%s", want, who)
	}
	lines := strings.Split(table(t, environ, "token", "list"), "\n")
	for i, want := range []string{"created by", "operator", "service_account owner", "operator " + cli.SystemUser()} {
		if !strings.HasSuffix(strings.ToLower(lines[i]), " "+want) {
			t.Errorf("token list printed %q, want … %s", lines[i], want)
		}
	}
	// Who may not see the audit log does not see the creator either.
	mailhostdtest.RunJSON[any](t, environ, "grant", "add", "--service-account", "support", "--grant", "service_account.view")
	for _, token := range mailhostdtest.RunJSON[[]access.ListedToken](t, as, "token", "list") {
		if token.CreatedBy != nil {
			t.Errorf("%s was created by %+v", token.Name, token.CreatedBy)
		}
	}
}

// TestTargets checks which account a command works on, and what it says if it can't.
func TestTargets(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database)
	environ := mailhostdtest.HTTPEnviron(s, owner)
	published := mailhostdtest.Serve(t, database, "--published-only")
	other := append(slices.Clone(environ[1:]), "MAILHOST_BASE_URL="+published.URL)
	several, _ := mailhostdtest.Initialize(t)
	mailhostdtest.InitializeIn(t, several)
	for _, tt := range []struct {
		name    string
		environ []string
		args    string
		code    int
		want    string
	}{
		{"a database that does not exist", nil, "token list --database " + database + ".x", cli.ExitFailure, "there is no database"},
		{"an audit log that does not exist", nil, "audit --database " + database + ".x", cli.ExitFailure, "there is no database " + database + ".x; name one with --database"},
		{"accounts that do not exist", nil, "account list --database " + database + ".x", cli.ExitFailure, "there is no database"},
		{"the default", nil, "token list --database ./none.db", cli.ExitFailure, "there is no database ./none.db"},
		{"several accounts", nil, "token list --database " + several, cli.ExitFailure, "choose one with --account-id: "},
		{"an unknown account", nil, "token list --account-id 11111111-2222-4333-8444-555555555555 --database " + database, cli.ExitFailure, "there is no account 11111111"},
		{"no account", environ[:1], "token list", cli.ExitUsage, "--account-id: is required over HTTP"},
		{"no token", environ[:2], "token list", cli.ExitUsage, "set MAILHOST_TOKEN"},
		{"two variables", append(slices.Clone(environ), "MAILHOSTD_DATABASE=x"), "token list", cli.ExitUsage, "MAILHOST_BASE_URL and MAILHOSTD_DATABASE are both set"},
		{"two flags", nil, "token list --base-url http://x --database y", cli.ExitUsage, "exclude each other"},
		{"a flag and a variable", environ, "whoami --database " + database, cli.ExitOK, `"operator"`},
		{"another flag and variable", append(slices.Clone(environ[1:]), "MAILHOSTD_DATABASE=x"), "whoami --base-url " + s.URL, cli.ExitOK, `"service_account"`},
		{"an invalid URL", environ, "whoami --base-url mail.example.com", cli.ExitUsage, "must be an http or https URL"},
		{"a URL with the path", environ, "whoami --base-url " + s.URL + "/v1/public/", cli.ExitUsage, "leave out /v1/public, which each request adds: " + s.URL},
		{"nobody listens", environ, "whoami --base-url http://127.0.0.1:1", cli.ExitFailure, "the API at http://127.0.0.1:1 can't be reached"},
		{"an invalid token", append(slices.Clone(environ), "MAILHOST_TOKEN=mhsa_x"), "whoami", cli.ExitFailure, "check MAILHOST_TOKEN"},
		{"no lifecycle operations", other, "token create x --plan-only", cli.ExitFailure, "offers only the published operations"},
		{"no lifecycle operations to list", other, "token list", cli.ExitFailure, "can't list service accounts"},
		{"no lifecycle operations to grant", other, "grant add --user x --plan-only", cli.ExitFailure, "can't change grants"},
		{"no such token", environ, "token revoke x", cli.ExitFailure, `service account: there is no "x"`},
		{"no such right", environ, "token create x --grant mailbox.eat", cli.ExitUsage, `"mailbox.eat" is unknown; it must be one of account_owner, super_admin, service_account.create, `},
		{"a right of the account", environ, "token create x --grant account.view --domain a-example.com", cli.ExitUsage, "applies to the whole account only"},
		{"an expiry in the past", environ, "token create x --expires 2020-01-01", cli.ExitFailure, "expires_at: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := mailhostdtest.RunWith(t, tt.environ, strings.Fields(tt.args)...)
			if code != tt.code || !strings.Contains(stdout+stderr, tt.want) || strings.Contains(stderr, owner.Token) {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %d, …%s…", code, stdout, stderr, tt.code, tt.want)
			}
		})
	}
}

// TestRevokeWithChildren checks that a revocation names the service accounts that the revoked one
// has created, through others too, and revokes them on request.
func TestRevokeWithChildren(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database)
	create := func(by mailhostdtest.Account, name string) mailhostdtest.Account {
		token := s.As(t, by).Post("/auth/service-accounts", map[string]any{"name": name}).Want(http.StatusCreated).Str("token")
		return mailhostdtest.Account{AccountID: owner.AccountID, Token: token}
	}
	leaked := create(owner, "leaked")
	middle := create(leaked, "middle")
	create(middle, "deep")
	create(owner, "other")
	names := func() (active []string) {
		for _, listed := range mailhostdtest.RunJSON[[]access.ListedToken](t, nil, "token", "list", "--database", database) {
			active = append(active, listed.Name)
		}
		slices.Sort(active)
		return active
	}
	if _, _, stderr := mailhostdtest.Run(t, "token", "revoke", "middle", "--database", database); !strings.Contains(stderr, `"deep"`) || strings.Contains(stderr, "other") {
		t.Errorf("token revoke notes %s", stderr)
	}
	if got := names(); !slices.Equal(got, []string{"deep", "leaked", "other", "owner"}) {
		t.Errorf("without the children, %q work", got)
	}
	if _, stdout, _ := mailhostdtest.Run(t, "token", "revoke", "leaked", "--with-children", "--database", database); !strings.Contains(stdout, `"deep"`) {
		t.Errorf("token revoke printed %s", stdout)
	}
	if got := names(); !slices.Equal(got, []string{"other", "owner"}) {
		t.Errorf("with the children, %q work", got)
	}
}
