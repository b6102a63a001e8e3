package export_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

type result struct {
	Files     []string `json:"files"`
	Domains   int      `json:"domains"`
	Mailboxes int      `json:"mailboxes"`
	Records   int      `json:"dns_records"`
	LeftOut   []string `json:"left_out"`
}

// contains checks parts of a text, in which runs of spaces count as one.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	joined := strings.Join(strings.Fields(text), " ")
	for _, part := range parts {
		if !strings.Contains(joined, part) {
			t.Errorf("there is no %q in\n%s", part, text)
		}
	}
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestExport exports an account over HTTP, with and without the unpublished operations, and again
// after a change. That a plan of the files only imports is a test through the CLI.
func TestExport(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database)
	c := s.As(t, owner)
	create := func(path, body string, args ...any) (id string) {
		t.Helper()
		var created struct{ ID any }
		c.Do(http.MethodPost, path, fmt.Sprintf(body, args...)).Into(&created)
		return fmt.Sprint(created.ID)
	}
	sales := create("/workspaces", `{"name":"Sales ${x}"}`)
	const contact = `{"address_1":"a","city":"b","country":"DE","email":"a@example.org","first_name":"a","last_name":"b","organization":"o","phone":"+4930123456","state":"s","zip":"1"}`
	create("/domains/purchase", `{"domains":["one-a.com"],"workspace_id":%q,"contact_info":%s}`, owner.WorkspaceID, contact)
	create("/domains/purchase", `{"domains":["two-a.com"],"workspace_id":%q,"contact_info":%s}`, sales, contact)
	c.Do(http.MethodPatch, "/domains/two-a.com", `{"auto_renew":true,"redirect_url":"https://one-a.com/"}`).Want(http.StatusOK)
	create("/mailboxes", `{"domain":"one-a.com","local_part":"zoe","first_name":"Zo\"e","last_name":"%%{x}"}`)
	for _, record := range []string{
		`"name":"@","type":"MX","value":"mx.one-a.com.","prio":10`, `"name":"@","type":"MX","value":"mx2.one-a.com.","prio":5`,
		`"name":"@","type":"TXT","value":"say \"hi\"","ttl":300`, `"name":"w","type":"A","value":"192.0.2.1","ttl":60`, `"name":"w","type":"A","value":"192.0.2.2"`,
	} {
		create("/dns-records", `{"domain":"one-a.com",%s}`, record)
	}
	create("/forwarding", `{"domain":"one-a.com","target_email":"x@example.org"}`)
	create("/forwarding", `{"workspace_id":%q,"target_email":"zoe@one-a.com"}`, sales)
	off := create("/forwarding", `{"target_email":"zoe@one-a.com"}`)
	c.Do(http.MethodPatch, "/forwarding/"+off+"/active", `{"active":false}`).Want(http.StatusOK)
	create("/credentials", `{"name":"IMAP","domain":"one-a.com","generate":true}`)
	ci := mailhostdtest.RunJSON[api.CreatedServiceAccount](t, mailhostdtest.HTTPEnviron(s, owner), "token", "create", "CI", "--plan-only")
	gone := create("/auth/service-accounts", `{"name":"gone"}`)
	c.Do(http.MethodDelete, "/auth/service-accounts/"+gone, nil).Want(http.StatusNoContent)

	folder := filepath.Join(t.TempDir(), "account")
	environ := mailhostdtest.HTTPEnviron(s, owner)
	r := mailhostdtest.RunJSON[result](t, environ, "export", "--hcl", folder)
	if r.Domains != 2 || r.Mailboxes != 1 || r.Records != 5 || len(r.LeftOut) != 2 {
		t.Errorf("it exported %+v", r)
	}
	contains(t, read(t, folder, "one-a.com.tf"),
		`resource "mailhost_domain" "one-a_com" { name = "one-a.com" lifecycle { prevent_destroy = true } }`,
		`"@ MX" = { values = [ "5 mx2.one-a.com", "10 mx.one-a.com", ] }`, `"@ TXT" = { ttl = 300, values = ["say \"hi\""] }`, `"w A" = { ttl = 60, values = [`,
		`domain = mailhost_domain.one-a_com.name mailboxes = { "zoe" = { first_name = "Zo\"e", last_name = "%%{x}" } } }`,
		`"one-a_com_to_x_example_org" { domain = mailhost_domain.one-a_com.name target_email = "x@example.org" }`,
		`resource "mailhost_master_password" "one-a_com_imap"`)
	contains(t, read(t, folder, "two-a.com.tf"), `workspace_id = local.workspaces["Sales $${x}"] auto_renew = true redirect_url = "https://one-a.com/"`)
	contains(t, read(t, folder, "workspaces.tf"), `"Sales $${x}" = "`+sales+`"`)
	contains(t, read(t, folder, "account.tf"),
		`"account_to_zoe_one-a_com" { target_email = "zoe@one-a.com" active = false }`, `"sales_x_to_zoe_one-a_com" { workspace_id = local`,
		`resource "mailhost_service_account" "ci"`, `# permissions = [`, `{ capability_key = "account.view" },`)
	contains(t, read(t, folder, "imports.tf"), `to = mailhost_forwarding.one-a_com_to_x_example_org id = "one-a.com/x@example.org"`, ci.ID)
	contains(t, read(t, folder, "README.md"), "Service account `owner`", "w A of one-a.com: a zone has one for all, so that the apply sets each to 60")
	if all := read(t, folder, "account.tf") + read(t, folder, "imports.tf"); strings.Contains(all, gone) || strings.Contains(all, `"gone"`) {
		t.Errorf("a revoked service account is exported:\n%s", all)
	}

	mailhostdtest.Fails(t, environ, cli.ExitFailure, "replace an earlier export with --overwrite", "export", "--hcl", folder)
	before := map[string]string{}
	for _, name := range r.Files {
		before[name] = read(t, folder, name)
	}
	mailhostdtest.WriteFile(t, filepath.Join(folder, "mine.tf"), "# mine\n")
	create("/mailboxes", `{"domain":"two-a.com","local_part":"new","first_name":"N","last_name":"N"}`)
	mailhostdtest.RunJSON[result](t, environ, "export", "--hcl", folder, "--overwrite")
	for _, name := range r.Files {
		if changed := read(t, folder, name) != before[name]; changed != (name == "two-a.com.tf" || name == "imports.tf") {
			t.Errorf("%s is another file: %t", name, changed)
		}
	}
	if read(t, folder, "mine.tf") != "# mine\n" {
		t.Error("a file that no export has written was changed")
	}
	mailhostdtest.WriteFile(t, filepath.Join(folder, "account.tf"), "# mine too\n")
	mailhostdtest.Fails(t, environ, cli.ExitFailure, "was not written by an export", "export", "--hcl", folder, "--overwrite")

	published := mailhostdtest.Serve(t, database, "--published-only")
	r = mailhostdtest.RunJSON[result](t, mailhostdtest.HTTPEnviron(published, owner), "export", "--hcl", filepath.Join(t.TempDir(), "published"))
	if r.Mailboxes != 2 || r.Records != 0 {
		t.Errorf("the published operations gave %+v", r)
	}
	contains(t, strings.Join(r.LeftOut, "\n"), "DNS records: this API offers only the published operations", "Service accounts: this API")
	limited := mailhostdtest.Account{AccountID: owner.AccountID, Token: mailhostdtest.RunJSON[api.CreatedServiceAccount](t, environ, "token", "create", "viewer", "--grant", "domain.view").Token}
	r = mailhostdtest.RunJSON[result](t, mailhostdtest.HTTPEnviron(s, limited), "export", "--hcl", filepath.Join(t.TempDir(), "limited"))
	contains(t, strings.Join(r.LeftOut, "\n"), "Mailboxes: the token may not read them; it needs `mailbox.view`.", "needs `dns_record.view`")
}

// TestHostileNames exports from an API whose domain's name is a path.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"items":[{"id":"d","name":"../../evil"}],"total":1}`)
	}))
	defer s.Close()
	folder := filepath.Join(t.TempDir(), "a", "b")
	mailhostdtest.Fails(t, []string{"MAILHOST_BASE_URL=" + s.URL, "MAILHOST_ACCOUNT_ID=0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10", "MAILHOST_TOKEN=t"},
		cli.ExitFailure, `an invalid name, "../../evil"`, "export", "--hcl", folder)
	if _, err := os.Stat(folder); err == nil {
		t.Error("something was written")
	}
}
