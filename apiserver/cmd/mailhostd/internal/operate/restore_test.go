package operate_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/operate"
)

// restoreDrill is the drill of the operator's guide: a backup, after which a leaked token,
// a grant and a master password are revoked, a mailbox is deleted and another one created.
type restoreDrill struct {
	database, backup string
	owner, leaked    mailhostdtest.Account
	group, password  string // ids of the grant and the master password
}

func newRestoreDrill(t *testing.T) (d restoreDrill) {
	t.Helper()
	d.database, d.owner = mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, d.database)
	as := s.As(t, d.owner)
	as.Domain("example.com")
	as.CreateMailbox("example.com", "kept").Want(http.StatusCreated)
	as.CreateMailbox("example.com", "deleted").Want(http.StatusCreated)
	leaked := as.Post("/auth/service-accounts", apitest.Object{"name": "leaked"}).Want(http.StatusCreated)
	d.leaked = mailhostdtest.Account{AccountID: d.owner.AccountID, Token: leaked.Str("token")}
	d.group = as.GrantOwner("group", "interns")
	d.password = as.Password("opens everything", apitest.Object{"scope_type": "account", "scope_id": d.owner.AccountID})
	d.backup = mailhostdtest.Backup(t, d.database)
	as.Delete("/auth/service-accounts/" + leaked.Str("id")).Want(http.StatusNoContent)
	as.Delete("/auth/authorizations/" + d.group).Want(http.StatusNoContent)
	as.Delete("/credentials/" + d.password).Want(http.StatusNoContent)
	as.Delete("/mailboxes/deleted@example.com").Want(http.StatusNoContent)
	as.CreateMailbox("example.com", "new").Want(http.StatusCreated)
	as.CreateMailbox("example.com", "newer").Want(http.StatusCreated)
	as.Post("/auth/service-accounts", apitest.Object{"name": "later"}).Want(http.StatusCreated)
	as.Patch("/mailboxes/kept@example.com", apitest.Object{"last_name": "Changed"}).Want(http.StatusOK)

	mailhostdtest.Fails(t, nil, cli.ExitFailure, "is in use; stop the server", "restore", d.backup, "--database", d.database, "--yes", "--revoke-again")
	s.End(t)
	return d
}

func TestRestore(t *testing.T) {
	t.Parallel()
	d := newRestoreDrill(t)
	before, err := os.ReadFile(d.database)
	if err != nil {
		t.Fatal(err)
	}
	report := mailhostdtest.RunJSON[operate.RestoreReport](t, nil, "restore", d.backup, "--database", d.database, "--dry-run")
	if report.Restored || len(report.Accounts) != 1 {
		t.Fatalf("the dry run printed %+v", report)
	}
	a := report.Accounts[0]
	var revived []string
	for _, c := range a.Revived {
		revived = append(revived, c.Type+" "+c.Name)
	}
	if want := []string{"token leaked", "grant account_owner in account for group interns", "master password opens everything"}; !slices.Equal(revived, want) {
		t.Errorf("revived: %q, want %q", revived, want)
	}
	for _, want := range []operate.ObjectCount{{Type: "domain", Database: 1, Backup: 1}, {Type: "mailbox", Database: 3, Backup: 2}, {Type: "workspace", Database: 1, Backup: 1}} {
		if !slices.Contains(a.Objects, want) {
			t.Errorf("objects %+v, want %+v", a.Objects, want)
		}
	}
	// Restoring the other way round, nothing of the newer database was revoked in the older.
	report = mailhostdtest.RunJSON[operate.RestoreReport](t, nil, "restore", d.database, "--database", d.backup, "--dry-run")
	if len(report.Accounts) != 1 || len(report.Accounts[0].Revived) != 0 {
		t.Errorf("the dry run with the newer database printed %+v", report)
	}
	for _, args := range [][]string{{}, {"--revoke-again"}} {
		code, _, stderr := mailhostdtest.Run(t, append([]string{"restore", d.backup, "--database", d.database}, args...)...)
		if code != cli.ExitUsage || !strings.Contains(stderr, "token leaked") || !strings.Contains(stderr, "nothing was restored") {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
	if after, err := os.ReadFile(d.database); err != nil || string(after) != string(before) {
		t.Errorf("the database has changed, error %v", err)
	}

	report = mailhostdtest.RunJSON[operate.RestoreReport](t, nil, "restore", d.backup, "--database", d.database, "--yes")
	if !report.Restored || report.RevokedAgain != 3 {
		t.Errorf("restore printed %+v", report)
	}
	if info, err := os.Stat(report.Previous); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the database before: %v, error %v", info, err)
	}
	if log := mailhostdtest.Audit(t, report.Previous, "--operation", "revoke-service-account"); len(log) != 1 {
		t.Errorf("the database before lacks the revocation: %+v", log)
	}
	var operations []string
	for _, e := range mailhostdtest.Audit(t, d.database, "--since", "1h") {
		if e.Subject.Type == "operator" {
			operations = append(operations, e.Operation)
		}
	}
	if want := []string{"init-account", "revoke-service-account", "revoke-authorization", "delete-master-password", "restore-backup"}; !slices.Equal(operations, want) {
		t.Errorf("the operator did %v, want %v", operations, want)
	}
	s := mailhostdtest.Serve(t, d.database)
	as := s.As(t, d.owner)
	as.Get("/mailboxes/deleted@example.com").Want(http.StatusOK)
	as.Get("/mailboxes/new@example.com").Want(http.StatusNotFound)
	as.Get("/credentials/" + d.password).Want(http.StatusNotFound)
	s.As(t, d.leaked).Get("/mailboxes").Want(http.StatusUnauthorized)
	var grants []api.Authorization
	as.Get("/auth/authorizations?subject_id=interns").Want(http.StatusOK).Into(&grants)
	if len(grants) != 0 {
		t.Errorf("the group has %+v", grants)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(d.database), ".restore-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
}

// TestRestoreOfAnUnreadableDatabase checks that a damaged or missing database is replaced only
// if asked.
func TestRestoreOfAnUnreadableDatabase(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	backup := mailhostdtest.Backup(t, database)
	if err := os.WriteFile(database, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	mailhostdtest.Fails(t, nil, cli.ExitFailure, "add --force", "restore", backup, "--database", database, "--yes")
	if report := mailhostdtest.RunJSON[operate.RestoreReport](t, nil, "restore", backup, "--database", database, "--yes", "--force"); !report.Restored || report.Unreadable == "" {
		t.Errorf("restore printed %+v", report)
	}
	mailhostdtest.Serve(t, database).As(t, owner).Get("").Want(http.StatusOK)
	if err := os.Remove(database); err != nil {
		t.Fatal(err)
	}
	mailhostdtest.Fails(t, nil, cli.ExitFailure, "the backup can't be read", "restore", database, "--database", backup)
	for _, answer := range []string{"--dry-run", "--yes"} {
		mailhostdtest.Fails(t, nil, cli.ExitFailure, "there is no database "+database+": nothing can be compared", "restore", backup, "--database", database, answer)
	}
	if _, err := os.Stat(database); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a database now, error %v", err)
	}
	code, stdout, _ := mailhostdtest.Run(t, "restore", backup, "--database", database, "--force", "--dry-run", "--no-json")
	if code != cli.ExitOK || !strings.Contains(stdout, "nothing was compared") {
		t.Errorf("without a database, --force: exit code %d, stdout %q", code, stdout)
	}
	if report := mailhostdtest.RunJSON[operate.RestoreReport](t, nil, "restore", backup, "--database", database, "--yes", "--force"); !report.Restored || !report.Missing || report.Previous != "" {
		t.Errorf("without a database, restore printed %+v", report)
	}
}
