package access_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestDeleteAccount checks that an account without domains is deleted, that a running server
// learns of it, and that one with a domain is kept.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	mistake := mailhostdtest.InitializeIn(t, database)
	s := mailhostdtest.Serve(t, database)
	s.As(t, owner).Domain("example.com")
	s.As(t, mistake).Get("").Want(http.StatusOK)
	for id, want := range map[string]string{owner.AccountID: "still has domains (1)", "99999999-1111-4111-8111-111111111111": "there is no account"} {
		mailhostdtest.Fails(t, nil, cli.ExitFailure, want, "account", "delete", id, "--database", database)
	}
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "is not the id of an account", "account", "delete", "mine", "--database", database)
	if code, stdout, stderr := mailhostdtest.Run(t, "account", "delete", strings.ToUpper(mistake.AccountID), "--database", database); code != cli.ExitOK || !strings.Contains(stdout, mistake.AccountID) {
		t.Fatalf("exit code %d, %s, %s", code, stdout, stderr)
	}
	s.As(t, mistake).Get("").Want(http.StatusUnauthorized)
	s.As(t, owner).Get("").Want(http.StatusOK)
	entries := mailhostdtest.Audit(t, database, "--account-id", mistake.AccountID, "--operation", "delete-account")
	if len(entries) != 1 || entries[0].Subject.Name != cli.SystemUser() || len(entries[0].Changes) != 1 || entries[0].Changes[0].Action != "deleted" {
		t.Errorf("the audit log has %+v", entries)
	}
}
