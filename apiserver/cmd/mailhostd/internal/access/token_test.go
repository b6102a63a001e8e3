package access_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

func TestMain(m *testing.M) { mailhostdtest.Main(m) }

// TestTranscript checks the output in the order of a session: accounts, tokens, grants, revocations, and
// commands without access to an account.
func TestTranscript(t *testing.T) { mailhostdtest.Transcript(t, "testdata/access.txt") }

// TestLostOutput checks that a command whose secret nobody sees fails, and that the command in its error
// undoes what it made. A closed standard output would otherwise end the program without a word.
func TestLostOutput(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	fixture := filepath.Join(t.TempDir(), "fixture.json")
	mailhostdtest.WriteFile(t, fixture, `{"accounts": [{"id": "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"}]}`)
	mailhostdtest.RunJSON[any](t, nil, "fixture", "load", fixture, "--database", database)
	for command, undo := range map[string]string{
		"init":           `mailhostd (account delete \S+ --database \S+)`,
		"account create": `mailhostd (account delete \S+ --database \S+)`,
		"account create --no-json --account-id 5b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10": `mailhostd (account delete 5b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10 --database \S+)`,
		"init --account-id 0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10":                     `"owner" .* mailhostd (token revoke \S+ --account-id 0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10 --database \S+)`,
		"token create lost --account-id " + owner.AccountID:                          `"lost" .* mailhostd (token revoke \S+ --account-id \S+ --database \S+)`,
		"token create lost2 --no-json --plan-only --account-id " + owner.AccountID:   `"lost2" .* mailhostd (token revoke \S+ --account-id \S+ --database \S+)`,
		"call create-service-account name=lost3 --account-id " + owner.AccountID:     `create-service-account succeeded, and a secret .* id is \S+`,
	} {
		r, w, err := os.Pipe()
		assert.NilError(t, errors.Join(err, r.Close()))
		c := exec.Command(os.Args[0], append(strings.Fields(command), "--database", database)...)
		var stderr bytes.Buffer
		c.Env, c.Stdout, c.Stderr = append(os.Environ(), mailhostdtest.AsProgram+"=1"), w, &stderr
		_ = c.Run() // the exit code is checked
		assert.Check(t, w.Close())
		found := regexp.MustCompile("the output can't be written: .*; .*" + undo).FindStringSubmatch(stderr.String())
		assert.Assert(t, c.ProcessState.ExitCode() == cli.ExitFailure && found != nil && !strings.Contains(stderr.String(), "mhsa_"), "%s: %s, %s", command, c.ProcessState, stderr.String())
		if len(found) == 2 {
			code, _, stderr := mailhostdtest.Run(t, strings.Fields(found[1])...)
			assert.Check(t, code == cli.ExitOK, "%s: %s", found[1], stderr)
		}
	}
}

// TestNoOutput checks that a secret is not printed to the null device, nor to a closed standard output, for
// which the Go runtime opens the null device. The output of other commands may be discarded.
func TestNoOutput(t *testing.T) {
	t.Parallel()
	for _, redirect := range []string{">&-", ">" + os.DevNull} {
		database, owner := mailhostdtest.Initialize(t)
		in := " --database " + database + " --account-id " + owner.AccountID
		for command, fails := range map[string]string{
			"init --database " + database:                               "Delete it: mailhostd account delete",
			"token create lost" + in:                                    "Revoke it: mailhostd token revoke",
			"call create-service-account name=lost2" + in:               "the object's id is",
			"call create-master-password name=lost3 generate=true" + in: "the object's id is",
			"call create-workspace name=Sales" + in:                     "",
			"account list --database " + database:                       "",
		} {
			c := exec.Command("sh", "-c", os.Args[0]+" "+command+" "+redirect)
			var stderr bytes.Buffer
			c.Env, c.Stderr = append(os.Environ(), mailhostdtest.AsProgram+"=1"), &stderr
			_ = c.Run() // the exit code is checked
			if fails == "" {
				assert.Check(t, c.ProcessState.Success(), "%s %s: %s", command, redirect, stderr.String())
				continue
			}
			assert.Check(t, c.ProcessState.ExitCode() == cli.ExitFailure && strings.Contains(stderr.String(), fails) && !strings.Contains(stderr.String(), "mhsa_"), "%s %s: %s, %s", command, redirect, c.ProcessState, stderr.String())
		}
	}
}

// TestLostToken checks that an operator can restore access to an account without any token while a
// server runs, and that each change takes effect in the server at once.
func TestLostToken(t *testing.T) {
	t.Parallel()
	for name, newDatabase := range map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "mailhost.db") },
		"PostgreSQL": func(t *testing.T) string { return postgrestest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := newDatabase(t)
			owner := mailhostdtest.InitializeIn(t, database)
			s := mailhostdtest.Serve(t, database)
			as := s.As(t, owner)
			as.Get("").Want(http.StatusOK)
			mailhostdtest.RunJSON[any](t, nil, "token", "revoke", "owner", "--database", database)
			as.Get("").Want(http.StatusUnauthorized)
			rescue := mailhostdtest.RunJSON[mailhostdtest.Account](t, nil, "token", "create", "rescue", "--database", database)
			s.As(t, rescue).Domain("example.com")
			_, log, _ := mailhostdtest.Run(t, "audit", "--operation", "create-service-account", "--database", database)
			assert.Check(t, strings.Count(log, fmt.Sprintf("operator %q", cli.SystemUser())) == 1, "the audit log has\n%s", log)
		})
	}
}

// TestPlanOnlyToken checks for each operation of the API that a token with --plan-only may read but not change.
func TestPlanOnlyToken(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t)
	s.As(t, owner).Domain("example.com")
	as := s.As(t, mailhostdtest.RunJSON[mailhostdtest.Account](t, mailhostdtest.HTTPEnviron(s, owner), "token", "create", "ci", "--plan-only", "--expires", "90d"))
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
		mayCall := spec.Method == http.MethodGet && spec.ID != api.ListAuditLog.ID || spec.Capability == ""
		assert.Check(t, mayCall != (got == http.StatusForbidden), "%s: status %d", spec.ID, got)
	}
}

// TestUnrestrictedToken checks that a token never works if its rights can't be restricted.
func TestUnrestrictedToken(t *testing.T) {
	t.Parallel()
	s, plane, owner, database := mailhostdtest.ServeWithControl(t)
	environ := mailhostdtest.HTTPEnviron(s, owner)
	for _, operation := range []string{api.ListAuthorizations.ID, api.RevokeAuthorization.ID, api.GrantAuthorization.ID} {
		mailhostdtest.CallURL(t, http.MethodPost, plane+"/faults", `{"operation":"`+operation+`","status":418}`, nil)
		mailhostdtest.Fails(t, environ, cli.ExitFailure, "so it was revoked: ", "token", "create", "ci", "--plan-only")
		mailhostdtest.CallURL(t, http.MethodDelete, plane+"/faults", "", nil)
		active := mailhostdtest.RunJSON[[]any](t, nil, "token", "list", "--database", database)
		assert.Check(t, len(active) == 1, "%s fails, and these tokens work: %v", operation, active)
	}
}

// TestCreatorsOfManyTokens checks that the creators of tokens are found beyond the first page of the audit log.
func TestCreatorsOfManyTokens(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t)
	for range 101 {
		s.As(t, owner).Post("/auth/service-accounts", `{"name":"ci"}`).Want(http.StatusCreated)
	}
	for _, a := range mailhostdtest.RunJSON[[]map[string]any](t, mailhostdtest.HTTPEnviron(s, owner), "token", "list") {
		assert.Check(t, a["created_by"] != nil, "nobody has created %v", a)
	}
}

// TestUnknownCreators checks that a revocation says how many creators are unknown, because what is revoked may be
// one of them.
func TestUnknownCreators(t *testing.T) {
	t.Parallel()
	database, _ := mailhostdtest.Initialize(t)
	for _, name := range []string{"one", "two", "three"} {
		mailhostdtest.RunJSON[any](t, nil, "token", "create", name, "--database", database)
	}
	db, err := sql.Open("sqlite", database)
	assert.NilError(t, err)
	for _, table := range []string{"service_accounts", "authorizations"} { // as an earlier version leaves them
		_, err := db.ExecContext(t.Context(), `UPDATE `+table+` SET created_by_type = '', created_by_id = '', created_by_name = ''`)
		assert.NilError(t, err)
	}
	assert.NilError(t, db.Close())
	const unknown = `the creator of 7 working objects is unknown, and may be what is revoked; mailhostd token list and grant list show "?" for it`
	for _, arg := range []string{"one", "--with-children two"} {
		code, _, stderr := mailhostdtest.Run(t, append([]string{"token", "revoke", "--database", database}, strings.Fields(arg)...)...)
		want := strings.Replace(unknown, "7", map[string]string{"one": "7", "--with-children two": "5"}[arg], 1)
		assert.Check(t, code == 0 && strings.Contains(stderr, want), "%s: %s", arg, stderr)
	}
}
