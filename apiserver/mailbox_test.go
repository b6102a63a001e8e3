package apiserver_test

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// aliased creates an account whose mailboxes have aliases, and returns its owner's client.
func aliased(t *testing.T, h *apitest.Server) *apitest.Client {
	t.Helper()
	f := parseFixture(t, `{"accounts":[{"id":"`+fixtureAccount+`","domains":[
		{"name":"example.com","mailboxes":[{"local_part":"jane","first_name":"Jane","last_name":"Doe","aliases":[
			{"alias":"info@example.com"},{"alias":"*@example.com","is_catch_all":true},{"alias":"jane@example.net"},{"alias":"all@example.net","is_catch_all":true}]}]},
		{"name":"example.net"}]}]}`)
	return load(t, h, f)
}

func TestAliasIsAnAddress(t *testing.T) {
	for name, configure := range map[string]func(*apiserver.Options){
		"":         func(*apiserver.Options) {},
		"at quota": func(o *apiserver.Options) { o.MaxMailboxes = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := aliased(t, apitest.New(t, configure))
			jane := c.Get("/mailboxes/jane@example.com").Want(200).Str("id")
			for _, taken := range []string{"info@example.com", "*@example.com", "INFO@Example.COM", "jane@example.net", "all@example.net"} {
				local, domain, _ := strings.Cut(taken, "@")
				c.CreateMailbox(domain, local).Refused(409, "body conflict").Says(strings.ToLower(taken)+" is an alias of the mailbox jane@example.com", jane)
				c.Post("/mailboxes/bulk", obj{"domain": domain, "items": []obj{{"local_part": local, "first_name": "A", "last_name": "B"}}}).Want(200).
					Is("created.0", nil, "failed.0.code", "already_exists")
				// The path accepts primary addresses only.
				c.Get("/mailboxes/"+taken).Refused(404, "path.mailbox not_found")
				c.Delete("/mailboxes/"+taken).Refused(404, "path.mailbox not_found")
			}
			c.Get("/mailboxes").Want(200).Is("total", 1, "items.0.aliases.3.alias", "all@example.net")
		})
	}
	c := aliased(t, apitest.New(t))
	c.Mailbox("example.com", "bob") // the address of a catch-all mailbox reserves no other address
	c.Mailbox("example.net", "info")
	c.Delete("/mailboxes/jane@example.com").Want(204)
	for _, free := range []string{"info", "*", "jane"} {
		c.Mailbox("example.com", free)
	}
}

// TestAliasOfHiddenMailbox checks that a conflict with an alias does not reveal a mailbox
// that the caller may not see.
func TestAliasOfHiddenMailbox(t *testing.T) {
	h := apitest.New(t)
	aliased(t, h)
	owner := h.Owner(t, fixtureAccount)
	h.Client = owner
	restricted := h.Restricted(t, "domain", owner.Get("/domains/example.net").Want(200).Str("id"))
	restricted.Account = fixtureAccount
	a := restricted.CreateMailbox("example.net", "jane").Refused(409, "body conflict").Says("jane@example.net is an alias; use another local part")
	assert.Check(t, !strings.Contains(string(a.Raw), "example.com"), a)
}

// TestAliasesOfADeletedDomain checks that deleting a domain deletes its aliases, so that
// another account's mailbox at such an address is not an internal target.
func TestAliasesOfADeletedDomain(t *testing.T) {
	h := apitest.New(t)
	c := aliased(t, h)
	id := c.Post("/forwarding", obj{"target_email": "jane@example.net"}).Want(201).Is("verification_state", "internal", "active", true).Str("id")
	// A catch-all does not make every address of its domain internal.
	c.Post("/forwarding", obj{"target_email": "other@example.net"}).Want(201).Is("verification_state", "pending")
	c.Delete("/domains/example.net").Want(204)
	jane := c.Get("/mailboxes/jane@example.com").Is("aliases.1.alias", "*@example.com", "aliases.2", nil).Str("id")
	c.Get("/forwarding/"+id).Is("verification_state", "pending", "active", false)
	c.Get("/audit-log?object="+jane).Want(200).Is("0.operation", "delete-domain")
	h.Domain("example.net")
	h.Mailbox("example.net", "jane")
	c.Get("/forwarding/"+id).Is("verification_state", "pending", "active", false)
}

func TestMailboxWithASlash(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	for _, local := range []string{"a/b", "a//b", "a/./b", "a?b", "a#b", "a%b"} {
		id := h.Mailbox("example.com", local)
		h.Get("/mailboxes/"+url.PathEscape(local+"@example.com")).Want(200).Is("id", id)
	}
}

// notExported lists the fields of a mailbox that are no column of an export, with the reason.
var notExported = map[string]string{
	"domain_id": "the domain's name is there", "workspace_id": "the workspace's name is there", "local_part": "the address begins with it",
	"aliases": "there may be several", "quota": "it is two columns", "updated_at": "the file has a date of its own",
}

// TestExportHasEveryField checks that an export has a column for each field of a mailbox.
func TestExportHasEveryField(t *testing.T) {
	header, _, _ := strings.Cut(string(apitest.New(t).Post("/mailboxes/export", obj{}).Want(200).Raw), "\r\n")
	columns := strings.Split(header, ",")
	for _, f := range api.FieldsOf(reflect.TypeFor[api.Mailbox]()) {
		if _, listed := notExported[f.Name]; slices.Contains(columns, f.Name) == listed {
			t.Errorf("%s of a mailbox must be either a column of the CSV export (apiserver/internal/account/mailbox_export.go) or, with the reason, in notExported", f.Name)
		}
	}
}

// TestExportOfNamedMailboxes checks that each is exported once, in the order of their creation.
func TestExportOfNamedMailboxes(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	var ids []string
	for _, name := range []string{"zoe", "jane", "ada"} {
		ids = append(ids, h.Mailbox("example.com", name))
		h.Clock.Advance(time.Second)
	}
	a := h.Post("/mailboxes/export", obj{"mailboxes": []string{ids[2], "zoe@example.com", ids[1], ids[0], ids[2]}}).Want(200)
	assert.Check(t, a.Header.Get("Content-Disposition") == `attachment; filename="mailboxes-2026-03-14.csv"`, "a browser keeps it as %q", a.Header.Get("Content-Disposition"))
	rows := strings.Split(strings.TrimSpace(string(a.Raw)), "\n")[1:]
	for i, row := range rows {
		assert.Assert(t, len(rows) == len(ids) && strings.HasPrefix(row, ids[i]), "%s, want %q", a.Raw, ids)
	}
}
