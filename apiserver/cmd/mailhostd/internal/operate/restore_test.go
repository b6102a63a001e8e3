package operate_test

import (
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
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

	s.End(t)
	return d
}

// TestRestore checks that what was revoked since the backup stays revoked, and that the database
// before is kept.
func TestRestore(t *testing.T) {
	t.Parallel()
	d := newRestoreDrill(t)
	before, err := os.ReadFile(d.database)
	if err != nil {
		t.Fatal(err)
	}
	report := mailhostdtest.RunJSON[operate.RestoreReport](t, nil, "restore", d.backup, "--database", d.database, "--dry-run")
	if a := report.Accounts[0]; report.Restored || len(a.Revived) != 3 || len(a.Objects) != 6 {
		t.Errorf("the dry run printed %+v", report)
	}
	// Nothing of the newer database was revoked in the older one.
	report = mailhostdtest.RunJSON[operate.RestoreReport](t, nil, "restore", d.database, "--database", d.backup, "--dry-run")
	if len(report.Accounts[0].Revived) != 0 {
		t.Errorf("the dry run with the newer database printed %+v", report)
	}
	if after, err := os.ReadFile(d.database); err != nil || string(after) != string(before) {
		t.Errorf("the database has changed, error %v", err)
	}
	report = mailhostdtest.RunJSON[operate.RestoreReport](t, nil, "restore", d.backup, "--database", d.database, "--yes")
	if info, err := os.Stat(report.Previous); err != nil || info.Mode().Perm() != 0o600 || !report.Restored || report.RevokedAgain != 3 {
		t.Errorf("restore printed %+v, the database before: %v, error %v", report, info, err)
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
	if grants := as.Get("/auth/authorizations?subject_id=interns").Want(http.StatusOK); string(grants.Raw) != "[]\n" {
		t.Errorf("the group has %s", grants)
	}
}
