package operate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// TestRepairTimes checks that the times of a server whose clock is a year ahead are listed by a dry run, and set to now
// with a line in the audit log, also beside a running server, so that the audit log can be selected by time again.
func TestRepairTimes(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database)
	as := s.As(t, owner)
	as.Domain("before.com")
	ahead := func(name string) {
		t.Helper()
		db, err := sqlite.Open(t.Context(), database, sqlite.Options{})
		assert.NilError(t, err)
		service, err := apiserver.New(apiserver.Options{Store: db, Clock: func() time.Time { return time.Now().AddDate(1, 0, 0) }})
		assert.NilError(t, err)
		c := &apitest.Client{T: t, Account: owner.AccountID, HTTP: service.OperatorClient(owner.AccountID, "test")}
		c.Domain(name)
		assert.NilError(t, service.Close())
	}
	for i := range 3 {
		ahead(fmt.Sprintf("ahead%d.com", i))
	}
	as.Domain("after.com")
	run := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := mailhostdtest.Run(t, append(args, "--database", database)...)
		assert.Check(t, code == cli.ExitOK && stderr == "", "%q: exit code %d: %s", args, code, stderr)
		return stdout
	}
	nextYear := time.Now().UTC().AddDate(1, 0, 0).Format("2006-01-02")
	dry := run("repair-times", "--dry-run", "--no-json")
	for _, part := range []string{"domains ", "dns_records ", "audit_entries ", nextYear} {
		assert.Check(t, strings.Contains(dry, part), "a dry run lacks %q:\n%s", part, dry)
	}
	assert.Check(t, strings.Contains(run("doctor", "--no-json"), "repair-times --database "+database), "doctor does not see the times in the future")
	code, _, stderr := mailhostdtest.Run(t, "repair-times", "--database", database)
	assert.Check(t, code == cli.ExitUsage && strings.Contains(stderr, "nothing was repaired: confirm with --yes"), stderr)
	assert.Check(t, strings.Count(run("audit", "--since", time.Now().AddDate(0, 6, 0).UTC().Format(time.RFC3339)), "\n") == 1+3, "nothing must be repaired yet")
	ahead("last-ahead.com") // with its entries, most of the log is in the future
	for i := range 9 {
		ahead(fmt.Sprintf("most%d.com", i))
	}
	assert.Check(t, strings.Contains(run("repair-times", "--dry-run", "--no-json"), "the clock of this machine is probably behind"), "a dry run does not say so")
	assert.Check(t, strings.Contains(run("doctor", "--no-json"), "this machine's clock is probably behind"), "doctor does not say so")
	code, _, stderr = mailhostdtest.Run(t, "repair-times", "--yes", "--database", database)
	assert.Check(t, code == cli.ExitFailure && strings.Contains(stderr, "nothing was repaired: most changes are in the future, so the clock of this machine is probably behind: it shows "+time.Now().UTC().Format("2006-01-02")), stderr)
	before := as.Get("/domains").Each("id")
	out := run("repair-times", "--yes", "--force", "--no-json")
	assert.Check(t, strings.Contains(out, "These times were set to "+time.Now().UTC().Format("2006-01-02")), out)
	assert.Check(t, strings.Contains(run("repair-times", "--json"), `"tables": []`), "times are left in the future")
	after := as.Get("/domains")
	assert.DeepEqual(t, after.Each("id"), before)
	assert.Check(t, !strings.Contains(after.String(), nextYear[:4]), after)
	log := run("audit")
	assert.Check(t, strings.HasSuffix(strings.TrimSpace(log), "updated account "+owner.AccountID) && strings.Contains(log, "repair-times "), "log:\n%s", log)
	assert.Check(t, run("audit", "--until", time.Now().Add(time.Minute).UTC().Format(time.RFC3339)) == log, "the log can't be selected by time")
}
