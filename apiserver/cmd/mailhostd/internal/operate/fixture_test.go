package operate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/operate"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

// TestFixtureCommands loads the example fixture, dumps it, and loads the dump.
func TestFixtureCommands(t *testing.T) {
	t.Parallel()
	const example = mailhostdtest.FixturePath
	dir := t.TempDir()
	database, dumped := filepath.Join(dir, "a.db"), filepath.Join(dir, "dump.json")
	loaded := mailhostdtest.RunJSON[operate.LoadedFixture](t, nil, "fixture", "load", example, "--database", database)
	if len(loaded.Created) == 0 || len(loaded.Existing) != 0 {
		t.Fatalf("fixture load printed %+v", loaded)
	}
	again := mailhostdtest.RunJSON[operate.LoadedFixture](t, nil, "fixture", "load", example, "--database", database)
	if len(again.Created) != 0 || len(again.Existing) != len(loaded.Created) {
		t.Errorf("the second fixture load printed %+v", again)
	}
	mailhostdtest.RunJSON[mailhostdtest.Account](t, nil, "init", "--database", database, "--account-id", loaded.Created[0])

	printed := mailhostdtest.RunJSON[fixture.Fixture](t, nil, "fixture", "dump", "--database", database)
	if len(printed.Accounts) != len(loaded.Created) {
		t.Errorf("fixture dump printed %+v", printed)
	}
	if code, stdout, stderr := mailhostdtest.Run(t, "fixture", "dump", "--database", database, "--output", dumped); code != cli.ExitOK || stdout+stderr != "" {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
	mailhostdtest.Fails(t, nil, cli.ExitFailure, "exists already", "fixture", "dump", "--database", database, "--output", dumped)
	if _, stdout, _ := mailhostdtest.Run(t, "fixture", "validate", dumped, "--no-json"); !strings.HasPrefix(stdout, dumped+" is valid and has ") {
		t.Errorf("fixture validate printed %s", stdout)
	}
	copied := filepath.Join(dir, "b.db")
	if from := mailhostdtest.RunJSON[operate.LoadedFixture](t, nil, "fixture", "load", dumped, "--database", copied); len(from.Created) != len(loaded.Created) {
		t.Errorf("fixture load of the dump printed %+v", from)
	}
	if err := os.WriteFile(dumped, []byte(`{"accounts": [{"id": "x"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	mailhostdtest.Fails(t, nil, cli.ExitFailure, "id: must be the account's UUID", "fixture", "validate", dumped)
}
