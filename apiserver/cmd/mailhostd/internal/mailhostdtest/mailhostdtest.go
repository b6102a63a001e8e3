// Package mailhostdtest runs mailhostd in tests: commands in the test's process, and servers there or in
// a separate process, for which it starts the test binary again. Package apitest tests the API itself.
//
// The test of a command is a transcript of the package's testdata (see Transcript). Write the command, run
// make golden, and read the difference: a command whose exit code is new no longer tests what it did. Name an
// object ID(word), because a number such as ID-7 shifts when an earlier command creates an object. Run, Start and
// Spawn test what a transcript can't show.
package mailhostdtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/commands"
)

// AsProgram is the environment variable that makes the test binary run the program.
const AsProgram = "TEST_AS_MAILHOSTD"

// Main is for TestMain. It runs the tests of a package, or the program if AsProgram is set.
func Main(m *testing.M) {
	if os.Getenv(AsProgram) != "" {
		os.Exit(commands.Execute(""))
	}
	os.Exit(m.Run())
}

// Run runs a command and returns its exit code and output.
func Run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return RunWith(t, nil, args...)
}

// RunWith is Run with environment variables.
func RunWith(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // ends a server started by mistake
	defer cancel()
	var out, errors bytes.Buffer
	p := cli.Program{Args: args, Environ: environ, Stdout: &out, Stderr: &errors}
	code = commands.Run(ctx, p)
	return code, out.String(), errors.String()
}

// Fails runs a command that fails. It checks the exit code, that stderr is one line with want and
// without a secret, and that stdout is empty.
func Fails(t *testing.T, environ []string, code int, want string, args ...string) {
	t.Helper()
	got, stdout, stderr := RunWith(t, environ, args...)
	if got != code || stdout != "" || !strings.HasPrefix(stderr, "mailhostd: ") || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "secret") {
		t.Errorf("%q: exit code %d, stdout %q, stderr %q; want %d, …%s…", args, got, stdout, stderr, code, want)
	}
}

// RunJSON runs a command that succeeds, and decodes its output.
func RunJSON[T any](t *testing.T, environ []string, args ...string) (out T) {
	t.Helper()
	code, stdout, stderr := RunWith(t, environ, args...)
	assert.Assert(t, code == cli.ExitOK && stderr == "", "%q: exit code %d, stderr %s", args, code, stderr)
	assert.NilError(t, json.Unmarshal([]byte(stdout), &out), "%q printed %s", args, stdout)
	return out
}

// Account is an account with an owner's token, as mailhostd init prints it.
type Account struct {
	AccountID   string `json:"account_id"`
	WorkspaceID string `json:"workspace_id"`
	Token       string `json:"token"`
}

// Initialize creates an account in a new database.
func Initialize(t *testing.T) (database string, owner Account) {
	t.Helper()
	database = filepath.Join(t.TempDir(), "mailhost.db")
	return database, InitializeIn(t, database)
}

// InitializeIn creates an account in a database.
func InitializeIn(t *testing.T, database string, args ...string) (owner Account) {
	t.Helper()
	code, stdout, stderr := Run(t, append([]string{"init", "--database", database}, args...)...)
	assert.Assert(t, code == cli.ExitOK, "init: exit code %d, stderr %q", code, stderr)
	assert.NilError(t, json.Unmarshal([]byte(stdout), &owner), "init printed %q", stdout)
	return owner
}

// Mailbox returns the body of a request that creates a mailbox.
func Mailbox(domain, localPart string) string {
	return fmt.Sprintf(`{"domain":%q,"local_part":%q,"first_name":"A","last_name":"B"}`, domain, localPart)
}

// WriteFile writes a file that only its owner may read.
func WriteFile(t *testing.T, path, text string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
}
