package call_test

import (
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestCall makes calls over HTTP and in a database: of path, query and body, with values of
// each type, and with mistakes.
func TestCall(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database)
	over := []string{"MAILHOST_BASE_URL=" + s.URL, "MAILHOST_ACCOUNT_ID=" + owner.AccountID, "MAILHOST_TOKEN=" + owner.Token}
	contact := `contact_info={"address_1":"a","city":"b","country":"DE","email":"a@example.org","first_name":"a","last_name":"b","organization":"o","phone":"+4930123456","state":"s","zip":"1"}`
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"purchase-domains", `domains=["one-a.com"]`, "workspace_id=" + owner.WorkspaceID, contact}, cli.ExitOK, `"successful_count":1`},
		{[]string{"create-mailbox", "domain=one-a.com", "local_part=7", "first_name=", "last_name=L"}, cli.ExitFailure, "first_name"},
		{[]string{"create-mailbox", "domain=one-a.com", "local_part=7", "first_name=true", "last_name=L"}, cli.ExitOK, `"first_name":"true"`},
		{[]string{"list-mailboxes", "page_size=1", "search=7"}, cli.ExitOK, `"page_size":1`},
		{[]string{"update-mailbox", "mailbox=7@one-a.com", "last_name=M"}, cli.ExitOK, `"last_name":"M"`},
		{[]string{"export-mailboxes", "domain=one-a.com"}, cli.ExitOK, "7@one-a.com,true,M"},
		{[]string{"cancel-plan", "cancel_at_period_end=true"}, cli.ExitOK, `"account_status":"pending_cancellation"`},
		{[]string{"delete-mailbox", "mailbox=7@one-a.com"}, cli.ExitOK, ""},
		{[]string{"delete-mailbox"}, cli.ExitUsage, "mailbox=… is missing"},
		{[]string{"cancel-plan", "cancel_at_period_end=maybe"}, cli.ExitUsage, `cancel_at_period_end: "maybe" is no JSON value of its type`},
		{[]string{"cancel-plan", "now"}, cli.ExitUsage, "name=value"},
		{[]string{"cancel-plan", "immediately=true"}, cli.ExitUsage, "it takes cancel_at_period_end, cancel_immediately"},
		{[]string{"cancel"}, cli.ExitUsage, "is no operation"},
	} {
		code, stdout, stderr := mailhostdtest.RunWith(t, over, append([]string{"call"}, c.args...)...)
		if text := stdout + stderr; code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%q: exit code %d, %s; want %d, …%s…", c.args, code, text, c.code, c.want)
		}
	}
	if code, stdout, stderr := mailhostdtest.Run(t, "call", "get-account", "--database", database); code != cli.ExitOK || !strings.Contains(stdout, owner.AccountID) {
		t.Errorf("in the database: exit code %d, %s%s", code, stdout, stderr)
	}
	_, listed, _ := mailhostdtest.Run(t, "call")
	for _, s := range api.Specs() {
		if !strings.Contains(listed, s.ID) {
			t.Errorf("the list of operations lacks %s", s.ID)
		}
	}
}
