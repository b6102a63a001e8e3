package apiserver_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

func TestMailbox(t *testing.T) {
	h := apitest.New(t)
	domain := h.Domain("example.com")
	created := h.Post("/mailboxes", obj{"domain": "example.com", "first_name": "Jürgen", "last_name": "Groß", "local_part": "J.Gross+x"}).Want(201)
	id := created.Str("id")
	created.Is(
		"domain_id", domain, "domain_name", "example.com", "local_part", "j.gross+x", "primary_email", "j.gross+x@example.com", "first_name", "Jürgen", "last_name", "Groß",
		"status", "active", "quota.allowed", 10<<30, "quota.used", 0, "aliases.0", nil, "workspace_id", h.DefaultWorkspace(), "workspace_name", "Default",
		"created_at", "2026-03-14T15:09:26.535897Z", "updated_at", "2026-03-14T15:09:26.535897Z",
	)
	if aliases, ok := created.At("aliases").([]any); !ok || len(aliases) != 0 {
		t.Errorf("aliases are %v; want []", created.At("aliases"))
	}
	if got := h.Get("/mailboxes/" + id).Want(200); string(got.Raw) != string(created.Raw) {
		t.Errorf("%s; want the created mailbox: %s", got, created)
	}
	h.Delete("/mailboxes/" + id).Want(204)
	h.Get("/mailboxes/"+id).Refused(404, "path.mailbox not_found")
	h.Delete("/mailboxes/"+id).Refused(404, "path.mailbox not_found")
}

func TestMailboxReferences(t *testing.T) {
	h := apitest.New(t)
	domain := h.Domain("bücher.de")
	id := h.Mailbox("BÜCHER.de", "Jane.Doe")
	for _, ref := range []string{id, strings.ToUpper(id), "jane.doe@xn--bcher-kva.de", "JANE.Doe@bücher.DE", "jane.doe@XN--BCHER-KVA.de."} {
		h.Get("/mailboxes/"+url.PathEscape(ref)).Want(200).Is("id", id, "domain_name", "xn--bcher-kva.de")
	}
	for _, ref := range []string{nobody, "jane@xn--bcher-kva.de", "jane.doe@example.com", "jane.doe", "@bücher.de", "a@b@bücher.de", "Jane <jane.doe@bücher.de>", "x", "%00@example.com"} {
		h.Get("/mailboxes/"+url.PathEscape(ref)).Refused(404, "path.mailbox not_found")
		h.Patch("/mailboxes/"+url.PathEscape(ref), obj{"first_name": "x"}).Refused(404, "path.mailbox not_found")
	}
	for i, ref := range []string{domain, strings.ToUpper(domain), "bücher.de", "BÜCHER.DE", "xn--bcher-kva.de", "bücher.de."} {
		h.CreateMailbox(ref, "user"+string(rune('a'+i))).Want(201).Is("domain_id", domain)
	}
	for _, ref := range []string{nobody, "nowhere.example.com", "not a name", "..", "bücher"} {
		h.CreateMailbox(ref, "x").Refused(422, "body.domain value_error")
	}
	h.CreateMailbox("", "x").Refused(422, "body.domain string_too_short")
}

func TestMailboxWithASlash(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	for _, local := range []string{"a/b", "a//b", "a/./b", "a?b", "a#b", "a%b"} {
		id := h.Mailbox("example.com", local)
		h.Get("/mailboxes/"+url.PathEscape(local+"@example.com")).Want(200).Is("id", id)
	}
}

func TestMailboxRules(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	h.Domain("example.net")
	for _, local := range []string{"a", strings.Repeat("x", 64), "a.b.c", "!#$%&'*+-/=?^_`{|}~", "1", "UPPER"} {
		h.CreateMailbox("example.com", local).Want(201).Is("local_part", strings.ToLower(local))
	}
	for local, typ := range map[string]string{
		"": "string_too_short", strings.Repeat("x", 65): "string_too_long", ".a": "value_error", "a.": "value_error", "a..b": "value_error", "a b": "value_error",
		"a@b": "value_error", `"a"`: "value_error", "ä": "value_error", "a,b": "value_error", "a\n": "value_error", "(a)": "value_error",
	} {
		h.CreateMailbox("example.com", local).Refused(422, "body.local_part "+typ)
	}
	id := h.Mailbox("example.com", "jane")
	h.CreateMailbox("example.com", "JANE").Refused(409, "body conflict").Says(id, "jane@example.com")
	h.CreateMailbox("example.net", "jane").Want(201)
	h.Owner(t, nobody).CreateMailbox("example.com", "jane").Refused(422, "body.domain value_error")
}

func TestUpdateMailbox(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	id := h.Mailbox("example.com", "jane")
	for _, tt := range []struct {
		body        any
		first, last string
	}{
		{obj{"first_name": "Jane"}, "Jane", "Last"},
		{obj{"last_name": "Doe"}, "Jane", "Doe"},
		{obj{"first_name": nil, "last_name": nil}, "Jane", "Doe"},
		{obj{}, "Jane", "Doe"},
		{obj{"first_name": "J", "last_name": "D"}, "J", "D"},
		{obj{"First_Name": "x", "local_part": "other", "status": "paused"}, "J", "D"},
	} {
		h.Clock.Advance(time.Second)
		h.Patch("/mailboxes/jane@example.com", tt.body).Want(200).Is("id", id, "first_name", tt.first, "last_name", tt.last, "local_part", "jane")
		h.Get("/mailboxes/"+id).Is("first_name", tt.first, "last_name", tt.last)
	}
	h.Get("/mailboxes/"+id).Is("created_at", "2026-03-14T15:09:26.535897Z", "updated_at", "2026-03-14T15:09:32.535897Z")
	h.Patch("/mailboxes/"+id, obj{"first_name": "", "last_name": strings.Repeat("x", 101)}).
		Refused(422, "body.first_name string_too_short", "body.last_name string_too_long")
}

func TestBulkMailboxes(t *testing.T) {
	h := apitest.New(t)
	domain := h.Domain("example.com")
	taken := h.Mailbox("example.com", "taken")
	item := func(local, first, last string) obj {
		return obj{"local_part": local, "first_name": first, "last_name": last}
	}
	a := h.Post("/mailboxes/bulk", obj{"domain": strings.ToUpper("example.com"), "items": []obj{
		item("new", "New", "One"),
		item("taken", "x", "y"),
		item("a..b", "x", "y"),
		item("", "x", "y"),
		item("short", "", "y"),
		item("long", "x", strings.Repeat("ü", 101)),
		item("NEW", "Again", "x"),
		item("longest", strings.Repeat("ü", 100), "y"),
		item("taken", "x", "y"),
		item("nul", "a\x00b", "y"),
		item("bidi", "x", "\u202ey"),
		item("nothing", "\u200b", "y"),
	}}).Want(200)
	a.Is(
		"created.0.index", 0, "created.0.mailbox.primary_email", "new@example.com", "created.0.mailbox.first_name", "New", "created.0.mailbox.domain_id", domain,
		"created.1.index", 7, "created.2", nil,
		"failed.0.index", 1, "failed.0.code", "already_exists", "failed.1.index", 2, "failed.1.code", "invalid_local_part",
		"failed.2.index", 3, "failed.2.code", "invalid_local_part", "failed.3.index", 4, "failed.3.code", "invalid_name",
		"failed.4.index", 5, "failed.4.code", "invalid_name", "failed.5.index", 6, "failed.5.code", "duplicate_in_request",
		"failed.6.index", 8, "failed.7.index", 9, "failed.7.code", "invalid_name", "failed.8.code", "invalid_name", "failed.9.code", "invalid_name", "failed.10", nil,
	)
	if !strings.Contains(a.Str("failed.0.message"), taken) {
		t.Errorf("the message does not name %s: %s", taken, a)
	}
	if strings.Contains(strings.ToLower(string(a.Raw)), "password") {
		t.Errorf("the response contains passwords: %s", a)
	}
	h.Get("/mailboxes").Want(200).Is("total", 3)
	h.Get("/mailboxes/"+a.Str("created.0.mailbox.id")).Want(200).Is("primary_email", "new@example.com")

	all := h.Post("/mailboxes/bulk", obj{"domain": "example.com", "items": []obj{item("taken", "x", "y")}}).Want(200).Is("failed.0.index", 0)
	if created, ok := all.At("created").([]any); !ok || len(created) != 0 {
		t.Errorf("created is not an empty list: %s", all)
	}
}

func TestBulkMailboxLimits(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	items := make([]obj, 1001)
	for i := range items {
		items[i] = obj{"local_part": "u" + itoa(i), "first_name": "f", "last_name": "l"}
	}
	h.Post("/mailboxes/bulk", obj{"domain": "example.com", "items": items}).Refused(422, "body.items too_long")
	h.Post("/mailboxes/bulk", obj{"domain": "example.com", "items": []obj{}}).Refused(422, "body.items too_short")
	h.Post("/mailboxes/bulk", obj{"domain": "x.example.com", "items": items[:1]}).Refused(422, "body.domain value_error")
	h.Get("/mailboxes").Is("total", 0)
	a := h.Post("/mailboxes/bulk", obj{"domain": "example.com", "items": items[:1000]}).Want(200)
	if created := a.At("created").([]any); len(created) != 1000 {
		t.Errorf("%d mailboxes were created", len(created))
	}
	h.Get("/mailboxes?page_size=1").Is("total", 1000)
}

func TestMailboxQuota(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.MaxMailboxes = 3 })
	h.Domain("example.com")
	h.Mailbox("example.com", "a")
	item := func(local string) obj { return obj{"local_part": local, "first_name": "f", "last_name": "l"} }
	h.Post("/mailboxes/bulk", obj{"domain": "example.com", "items": []obj{item("a"), item("b"), item("c"), item("d"), item("a..")}}).Want(200).Is(
		"created.0.index", 1, "created.1.index", 2, "failed.0.code", "already_exists", "failed.1.index", 3, "failed.1.code", "quota_exceeded", "failed.2.code", "invalid_local_part")
	h.CreateMailbox("example.com", "e").Refused(409, "body conflict").Says("its limit of")
	h.Delete("/mailboxes/a@example.com").Want(204)
	h.CreateMailbox("example.com", "e").Want(201)
}

// TestFullQuotaReportsOtherErrors checks that conflicts and invalid items are reported as
// such even if the account has its limit of as it may.
func TestFullQuotaReportsOtherErrors(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.MaxMailboxes = 2 })
	h.Domain("example.com")
	a, b := h.Mailbox("example.com", "a"), h.Mailbox("example.com", "b")
	h.CreateMailbox("example.com", "B").Refused(409, "body conflict").Says(b, "exists already")
	h.CreateMailbox("example.com", "c").Refused(409, "body conflict").Says("its limit of")
	item := func(local, first string) obj { return obj{"local_part": local, "first_name": first, "last_name": "l"} }
	bulk := h.Post("/mailboxes/bulk", obj{"domain": "example.com", "items": []obj{item("A", "f"), item("new", "f"), item("new", "f"), item("a..", "f"), item("x", "")}}).Want(200).Is(
		"created.0", nil, "failed.0.code", "already_exists", "failed.1.code", "quota_exceeded", "failed.2.code", "duplicate_in_request",
		"failed.3.code", "invalid_local_part", "failed.4.code", "invalid_name", "failed.5", nil)
	if !strings.Contains(bulk.Str("failed.0.message"), a) {
		t.Errorf("the message does not name %s: %s", a, bulk)
	}
	h.Get("/mailboxes").Is("total", 2)
}

func TestMailboxProvisioning(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.Registrar.ProvisioningDelay = apiserver.Duration(time.Hour) })
	h.Domain("example.com")
	h.CreateMailbox("example.com", "a").Want(201).Is("status", "provisioning")
	h.Get("/mailboxes?status=provisioning").Is("total", 1)
	h.Clock.Advance(time.Hour)
	h.Get("/mailboxes?status=provisioning").Is("total", 0)
	h.Get("/mailboxes?status=active").Is("total", 1)
	h.Get("/mailboxes/a@example.com").Is("status", "active")
	h.CreateMailbox("example.com", "b").Want(201).Is("status", "active")
}

// TestMailboxWorkspace checks that moving a domain to another workspace moves its
// mailboxes.
func TestMailboxWorkspace(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	h.Mailbox("example.com", "jane")
	sales := h.Workspace("Sales")
	h.Get("/mailboxes?workspace_id="+sales).Is("total", 0)
	h.Patch("/domains/example.com", obj{"workspace_id": sales}).Want(200)
	h.Get("/mailboxes?workspace_id="+sales).Is("total", 1, "items.0.workspace_id", sales, "items.0.workspace_name", "Sales")
}
