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

// TestPostgresRestarts checks that a server responds with 503 while PostgreSQL is stopped, is
// not ready, and continues when it is back.
func TestPostgresRestarts(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.Start(t)
	database := cluster.URL("postgres", "postgres")
	owner := mailhostdtest.InitializeIn(t, database)
	s := mailhostdtest.Serve(t, database)
	c := s.As(t, owner)
	c.Domain("example.com")
	if err := cluster.Stop(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := c.Do(http.MethodPost, "/workspaces", map[string]any{"name": "A"}).Want(http.StatusServiceUnavailable)
		if r.Header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After in %v", r.Header)
		}
		c.Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusServiceUnavailable)
	}
	ready := func() int {
		t.Helper()
		r, err := http.Get(s.URL + "/healthz/ready")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		return r.StatusCode
	}
	if got := ready(); got != http.StatusServiceUnavailable {
		t.Errorf("readiness without PostgreSQL: %d", got)
	}
	if err := cluster.StartServer(); err != nil {
		t.Fatal(err)
	}
	if got := ready(); got != http.StatusOK {
		t.Errorf("readiness with PostgreSQL: %d", got)
	}
	c.Do(http.MethodPost, "/workspaces", map[string]any{"name": "A"}).Want(http.StatusCreated)
}
