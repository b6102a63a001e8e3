package processtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// TestPostgres checks that two servers on one PostgreSQL database are one service, and that
// the other commands work on it.
func TestPostgres(t *testing.T) {
	t.Parallel()
	database := postgrestest.URL(t)
	owner := mailhostdtest.InitializeIn(t, database)
	one, other := mailhostdtest.Serve(t, database, "--database-connections", "3"), mailhostdtest.Serve(t, database)
	one.As(t, owner).Domain("example.com")
	one.As(t, owner).CreateMailbox("example.com", "ada").Want(http.StatusCreated)
	other.As(t, owner).CreateMailbox("example.com", "ada").Want(http.StatusConflict)
	other.As(t, owner).CreateMailbox("example.com", "eve").Want(http.StatusCreated)
	one.As(t, owner).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK).Is("total", 2.0)

	code, stdout, stderr := mailhostdtest.Run(t, "audit", "--database", database, "--operation", "create-mailbox")
	if code != cli.ExitOK || strings.Count(stdout, "@example.com") != 2 {
		t.Errorf("audit: exit code %d, stdout\n%sstderr %s", code, stdout, stderr)
	}
	if code, _, stderr := mailhostdtest.Run(t, "init", "--database", database, "--account-id", owner.AccountID); code != cli.ExitFailure || !strings.Contains(stderr, "postgres://… has the account") {
		t.Errorf("a second init: exit code %d, stderr %s", code, stderr)
	}
}
