package commands_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// TestTranscript checks the output, and the refused command lines.
func TestTranscript(t *testing.T) {
	for _, name := range []string{"commands", "call"} {
		t.Run(name, func(t *testing.T) { mailhostdtest.Transcript(t, "testdata/"+name+".txt") })
	}
}

// TestReadingCommands checks that commands which only read can use a database that can't be written. On
// PostgreSQL no system user is above the permission.
func TestReadingCommands(t *testing.T) {
	t.Parallel()
	database := postgrestest.URL(t)
	mailhostdtest.InitializeIn(t, database)
	users := filepath.Join(t.TempDir(), "users.csv")
	mailhostdtest.WriteFile(t, users, "address,first_name,last_name\njane@example.com,Jane,Doe\n")
	for command, code := range map[string]int{
		"account list": cli.ExitOK, "account show": cli.ExitOK, "token list": cli.ExitOK, "grant list": cli.ExitOK, "whoami": cli.ExitOK,
		"audit": cli.ExitOK, "fixture dump": cli.ExitOK, "call list-domains": cli.ExitOK, "export --hcl " + t.TempDir(): cli.ExitOK,
		"import --dry-run --domain example.com " + users: cli.ExitFailure, // the account has no domain
		"token create x": cli.ExitFailure,
	} {
		got, _, stderr := mailhostdtest.Run(t, append(strings.Fields(command), "--database", database+"&default_transaction_read_only=on")...)
		refused := strings.Contains(stderr, "read-only")
		assert.Check(t, got == code && refused == (command == "token create x"), "%s: exit code %d, stderr %s", command, got, stderr)
	}
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args      []string
		lifecycle bool
	}{{[]string{"openapi"}, true}, {[]string{"openapi", "--published-only"}, false}} {
		want := httpapi.Document(tt.lifecycle)
		if code, stdout, stderr := mailhostdtest.Run(t, tt.args...); code != cli.ExitOK || stdout != string(want) || stderr != "" {
			t.Errorf("%v: exit code %d, %d bytes, stderr %q; want the %d bytes of the contract", tt.args, code, len(stdout), stderr, len(want))
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, stdout, _ := mailhostdtest.Run(t, "serve", "--version")
	assert.Check(t, code == cli.ExitOK && strings.HasPrefix(stdout, "mailhostd ") && strings.Contains(stdout, " (go") && strings.HasSuffix(stdout, fmt.Sprintf(", schema %d)\n", postgres.OwnSchema())), "exit code %d, %s", code, stdout)
}

func TestMain(m *testing.M) { mailhostdtest.Main(m) }

// TestCompletion checks the completions of command lines.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"mailhostd tok":                      {"token"},
		"mailhostd token ":                   {"create", "list", "revoke"},
		"mailhostd serve --smtp":             {"--smtp-from", "--smtp-helo", "--smtp-url"},
		"mailhostd serve --log-format ":      {"json", "text"},
		"mailhostd completion ":              {"bash", "fish", "zsh"},
		"mailhostd token create --plan-only": {"--plan-only"},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), mailhostdtest.AsProgram+"=1", "COMP_LINE="+line)
		out, err := cmd.Output()
		got := strings.Fields(string(out))
		slices.Sort(got)
		assert.Check(t, err == nil && slices.Equal(got, want), "%q is completed by %q, want %q; %v", line, got, want, err)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, stdout, stderr := mailhostdtest.Run(t, "completion", shell)
		assert.Check(t, code == cli.ExitOK && strings.Contains(stdout, "mailhostd"), "%s: exit code %d, %q, %q", shell, code, stdout, stderr)
	}
}

// TestManualPage checks that the manual page contains every command and flag, and only macros of man(7).
func TestManualPage(t *testing.T) {
	t.Parallel()
	code, page, stderr := mailhostdtest.Run(t, "man")
	assert.Assert(t, code == cli.ExitOK, "exit code %d: %s", code, stderr)
	for _, want := range []string{
		".SS mailhostd init [flags]\n", ".SS mailhostd token create <name> [flags]\nCreate a service account and print its token.\n",
		".TP\n.B \\-\\-plan\\-only\n", ".B \\-\\-listen=ADDRESS\nAddress of the API", "($MAILHOSTD_LISTEN)",
	} {
		assert.Check(t, strings.Contains(page, want), "the page has no %q", want)
	}
	for line := range strings.Lines(page) {
		macro, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		assert.Check(t, !strings.HasPrefix(macro, ".") || slices.Contains([]string{".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".nf", ".fi"}, macro), "%q is a macro", line)
	}
}
