package apiserver_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

func TestMailbox(t *testing.T) {
	h := newHarness(t)
	domain := h.domain("example.com")
	created := h.post("/mailboxes", obj{"domain": "example.com", "first_name": "Jürgen", "last_name": "Groß", "local_part": "J.Gross+x"}).want(201)
	id := created.str("id")
	created.is(
		"domain_id", domain, "domain_name", "example.com", "local_part", "j.gross+x", "primary_email", "j.gross+x@example.com", "first_name", "Jürgen", "last_name", "Groß",
		"status", "active", "quota.allowed", 10<<30, "quota.used", 0, "aliases.0", nil, "workspace_id", h.defaultWorkspace(), "workspace_name", "Default",
		"created_at", "2026-03-14T15:09:26.535897Z", "updated_at", "2026-03-14T15:09:26.535897Z",
	)
	if aliases, ok := created.at("aliases").([]any); !ok || len(aliases) != 0 {
		t.Errorf("aliases are %v; want []", created.at("aliases"))
	}
	if got := h.get("/mailboxes/" + id).want(200); string(got.raw) != string(created.raw) {
		t.Errorf("%s; want what was created: %s", got, created)
	}
	h.delete("/mailboxes/" + id).want(204)
	h.get("/mailboxes/"+id).refused(404, "path.mailbox not_found")
	h.delete("/mailboxes/"+id).refused(404, "path.mailbox not_found")
}

func TestMailboxReferences(t *testing.T) {
	h := newHarness(t)
	domain := h.domain("bücher.de")
	id := h.mailbox("BÜCHER.de", "Jane.Doe")
	for _, ref := range []string{id, strings.ToUpper(id), "jane.doe@xn--bcher-kva.de", "JANE.Doe@bücher.DE", "jane.doe@XN--BCHER-KVA.de."} {
		h.get("/mailboxes/"+url.PathEscape(ref)).want(200).is("id", id, "domain_name", "xn--bcher-kva.de")
	}
	for _, ref := range []string{nobody, "jane@xn--bcher-kva.de", "jane.doe@example.com", "jane.doe", "@bücher.de", "a@b@bücher.de", "Jane <jane.doe@bücher.de>", "x", "%00@example.com"} {
		h.get("/mailboxes/"+url.PathEscape(ref)).refused(404, "path.mailbox not_found")
		h.patch("/mailboxes/"+url.PathEscape(ref), obj{"first_name": "x"}).refused(404, "path.mailbox not_found")
	}
	for i, ref := range []string{domain, strings.ToUpper(domain), "bücher.de", "BÜCHER.DE", "xn--bcher-kva.de", "bücher.de."} {
		h.createMailbox(ref, "user"+string(rune('a'+i))).want(201).is("domain_id", domain)
	}
	for _, ref := range []string{nobody, "nowhere.example.com", "not a name", "..", "bücher"} {
		h.createMailbox(ref, "x").refused(422, "body.domain value_error")
	}
	h.createMailbox("", "x").refused(422, "body.domain string_too_short")
}

func TestMailboxWithASlash(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	for _, local := range []string{"a/b", "a//b", "a/./b", "a?b", "a#b", "a%b"} {
		id := h.mailbox("example.com", local)
		h.get("/mailboxes/"+url.PathEscape(local+"@example.com")).want(200).is("id", id)
	}
}

func TestMailboxRules(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	h.domain("example.net")
	for _, local := range []string{"a", strings.Repeat("x", 64), "a.b.c", "!#$%&'*+-/=?^_`{|}~", "1", "UPPER"} {
		h.createMailbox("example.com", local).want(201).is("local_part", strings.ToLower(local))
	}
	for local, typ := range map[string]string{
		"": "string_too_short", strings.Repeat("x", 65): "string_too_long", ".a": "value_error", "a.": "value_error", "a..b": "value_error", "a b": "value_error",
		"a@b": "value_error", `"a"`: "value_error", "ä": "value_error", "a,b": "value_error", "a\n": "value_error", "(a)": "value_error",
	} {
		h.createMailbox("example.com", local).refused(422, "body.local_part "+typ)
	}
	id := h.mailbox("example.com", "jane")
	h.createMailbox("example.com", "JANE").refused(409, "body conflict").says(id, "jane@example.com")
	h.createMailbox("example.net", "jane").want(201)
	h.owner(t, nobody).createMailbox("example.com", "jane").refused(422, "body.domain value_error")
}

func TestUpdateMailbox(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	id := h.mailbox("example.com", "jane")
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
		h.clock.Advance(time.Second)
		h.patch("/mailboxes/jane@example.com", tt.body).want(200).is("id", id, "first_name", tt.first, "last_name", tt.last, "local_part", "jane")
		h.get("/mailboxes/"+id).is("first_name", tt.first, "last_name", tt.last)
	}
	h.get("/mailboxes/"+id).is("created_at", "2026-03-14T15:09:26.535897Z", "updated_at", "2026-03-14T15:09:32.535897Z")
	h.patch("/mailboxes/"+id, obj{"first_name": "", "last_name": strings.Repeat("x", 101)}).
		refused(422, "body.first_name string_too_short", "body.last_name string_too_long")
}

func TestBulkMailboxes(t *testing.T) {
	h := newHarness(t)
	domain := h.domain("example.com")
	taken := h.mailbox("example.com", "taken")
	item := func(local, first, last string) obj {
		return obj{"local_part": local, "first_name": first, "last_name": last}
	}
	a := h.post("/mailboxes/bulk", obj{"domain": strings.ToUpper("example.com"), "items": []obj{
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
	}}).want(200)
	a.is(
		"created.0.index", 0, "created.0.mailbox.primary_email", "new@example.com", "created.0.mailbox.first_name", "New", "created.0.mailbox.domain_id", domain,
		"created.1.index", 7, "created.2", nil,
		"failed.0.index", 1, "failed.0.code", "already_exists", "failed.1.index", 2, "failed.1.code", "invalid_local_part",
		"failed.2.index", 3, "failed.2.code", "invalid_local_part", "failed.3.index", 4, "failed.3.code", "invalid_name",
		"failed.4.index", 5, "failed.4.code", "invalid_name", "failed.5.index", 6, "failed.5.code", "duplicate_in_request",
		"failed.6.index", 8, "failed.7.index", 9, "failed.7.code", "invalid_name", "failed.8.code", "invalid_name", "failed.9.code", "invalid_name", "failed.10", nil,
	)
	if !strings.Contains(a.str("failed.0.message"), taken) {
		t.Errorf("the message does not name %s: %s", taken, a)
	}
	if strings.Contains(strings.ToLower(string(a.raw)), "password") {
		t.Errorf("the answer has passwords: %s", a)
	}
	h.get("/mailboxes").want(200).is("total", 3)
	h.get("/mailboxes/"+a.str("created.0.mailbox.id")).want(200).is("primary_email", "new@example.com")

	all := h.post("/mailboxes/bulk", obj{"domain": "example.com", "items": []obj{item("taken", "x", "y")}}).want(200).is("failed.0.index", 0)
	if created, ok := all.at("created").([]any); !ok || len(created) != 0 {
		t.Errorf("created is not an empty list: %s", all)
	}
}

func TestBulkMailboxLimits(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	items := make([]obj, 1001)
	for i := range items {
		items[i] = obj{"local_part": "u" + itoa(i), "first_name": "f", "last_name": "l"}
	}
	h.post("/mailboxes/bulk", obj{"domain": "example.com", "items": items}).refused(422, "body.items too_long")
	h.post("/mailboxes/bulk", obj{"domain": "example.com", "items": []obj{}}).refused(422, "body.items too_short")
	h.post("/mailboxes/bulk", obj{"domain": "x.example.com", "items": items[:1]}).refused(422, "body.domain value_error")
	h.get("/mailboxes").is("total", 0)
	a := h.post("/mailboxes/bulk", obj{"domain": "example.com", "items": items[:1000]}).want(200)
	if created := a.at("created").([]any); len(created) != 1000 {
		t.Errorf("%d are created", len(created))
	}
	h.get("/mailboxes?page_size=1").is("total", 1000)
}

func TestMailboxQuota(t *testing.T) {
	h := newHarness(t, func(o *apiserver.Options) { o.MaxMailboxes = 3 })
	h.domain("example.com")
	h.mailbox("example.com", "a")
	item := func(local string) obj { return obj{"local_part": local, "first_name": "f", "last_name": "l"} }
	h.post("/mailboxes/bulk", obj{"domain": "example.com", "items": []obj{item("a"), item("b"), item("c"), item("d"), item("a..")}}).want(200).is(
		"created.0.index", 1, "created.1.index", 2, "failed.0.code", "already_exists", "failed.1.index", 3, "failed.1.code", "quota_exceeded", "failed.2.code", "invalid_local_part")
	h.createMailbox("example.com", "e").refused(409, "body conflict").says("as many mailboxes")
	h.delete("/mailboxes/a@example.com").want(204)
	h.createMailbox("example.com", "e").want(201)
}

// What exists is told as such in a full account too, and so is whatever else is
// wrong with an item.
func TestFullQuotaHidesNothing(t *testing.T) {
	h := newHarness(t, func(o *apiserver.Options) { o.MaxMailboxes = 2 })
	h.domain("example.com")
	a, b := h.mailbox("example.com", "a"), h.mailbox("example.com", "b")
	h.createMailbox("example.com", "B").refused(409, "body conflict").says(b, "exists already")
	h.createMailbox("example.com", "c").refused(409, "body conflict").says("as many mailboxes")
	item := func(local, first string) obj { return obj{"local_part": local, "first_name": first, "last_name": "l"} }
	bulk := h.post("/mailboxes/bulk", obj{"domain": "example.com", "items": []obj{item("A", "f"), item("new", "f"), item("new", "f"), item("a..", "f"), item("x", "")}}).want(200).is(
		"created.0", nil, "failed.0.code", "already_exists", "failed.1.code", "quota_exceeded", "failed.2.code", "duplicate_in_request",
		"failed.3.code", "invalid_local_part", "failed.4.code", "invalid_name", "failed.5", nil)
	if !strings.Contains(bulk.str("failed.0.message"), a) {
		t.Errorf("the message does not name %s: %s", a, bulk)
	}
	h.get("/mailboxes").is("total", 2)
}

func TestMailboxProvisioning(t *testing.T) {
	h := newHarness(t, func(o *apiserver.Options) { o.Registrar.ProvisioningDelay = apiserver.Duration(time.Hour) })
	h.domain("example.com")
	h.createMailbox("example.com", "a").want(201).is("status", "provisioning")
	h.get("/mailboxes?status=provisioning").is("total", 1)
	h.clock.Advance(time.Hour)
	h.get("/mailboxes?status=provisioning").is("total", 0)
	h.get("/mailboxes?status=active").is("total", 1)
	h.get("/mailboxes/a@example.com").is("status", "active")
	h.createMailbox("example.com", "b").want(201).is("status", "active")
}

// A mailbox follows its domain into another workspace.
func TestMailboxWorkspace(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	h.mailbox("example.com", "jane")
	sales := h.workspace("Sales")
	h.get("/mailboxes?workspace_id="+sales).is("total", 0)
	h.patch("/domains/example.com", obj{"workspace_id": sales}).want(200)
	h.get("/mailboxes?workspace_id="+sales).is("total", 1, "items.0.workspace_id", sales, "items.0.workspace_name", "Sales")
}
