package apiserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

func TestForwardingToAnotherAccount(t *testing.T) {
	h := apitest.New(t)
	a := h.Post("/forwarding", obj{"target_email": "Jane@EXAMPLE.net"}).Want(201).Is(
		"active", false, "scope_type", "account", "scope_id", accountID, "target_email", "jane@example.net", "verification_required", true,
		"verification_state", "pending", "verification_sent_at", "2026-03-14T15:09:26.535897Z", "verification_expires_at", "2026-03-17T15:09:26.535897Z",
		"verification_verified_at", nil,
	)
	if got := h.Get("/forwarding/" + a.Str("id")).Want(200); string(got.Raw) != string(a.Raw) {
		t.Errorf("%s; want the created rule: %s", got, a)
	}
	outbox := h.Service.Outbox()
	if len(outbox) != 1 || outbox[0].To != "jane@example.net" || !strings.Contains(outbox[0].Text, outbox[0].Link) {
		t.Fatalf("the outbox is %+v", outbox)
	}
	if strings.Contains(string(a.Raw), outbox[0].Link[strings.LastIndex(outbox[0].Link, "/")+1:]) {
		t.Error("the response contains the link's secret")
	}
}

func TestForwardingToAMailbox(t *testing.T) {
	h := apitest.New(t)
	h.Domain("bücher.de")
	h.Mailbox("bücher.de", "jane")
	a := h.Post("/forwarding", obj{"target_email": "JANE@Bücher.de"}).Want(201).Is(
		"active", true, "target_email", "jane@xn--bcher-kva.de", "verification_required", false, "verification_state", "internal",
		"verification_sent_at", nil, "verification_expires_at", nil, "verification_verified_at", nil,
	)
	h.Patch("/forwarding/"+a.Str("id"), obj{"target_email": "jane@bücher.de"}).Want(200).Is("verification_state", "internal", "active", true)
	h.Clock.Advance(1000 * time.Hour)
	h.Get("/forwarding/"+a.Str("id")).Is("verification_state", "internal", "active", true)
	// A mailbox of another account is not internal.
	h.Owner(t, nobody).Post("/forwarding", obj{"target_email": "jane@bücher.de"}).Want(201).Is("verification_state", "pending")
	if n := len(h.Service.Outbox()); n != 1 {
		t.Errorf("%d messages were sent; want only that of the other account", n)
	}
}

func TestForwardingScopes(t *testing.T) {
	h := apitest.New(t)
	domain, workspace := h.Domain("example.com"), h.Workspace("Sales")
	ids := map[string]string{}
	for _, tt := range []struct {
		scope   obj
		typ, id string
	}{
		{obj{}, "account", accountID},
		{obj{"workspace_id": workspace}, "workspace", workspace},
		{obj{"domain": "EXAMPLE.com", "workspace_id": nil}, "domain", domain},
	} {
		body := with(tt.scope, "target_email", "x@example.net")
		id := h.Post("/forwarding", body).Want(201).Is("scope_type", tt.typ, "scope_id", tt.id).Str("id")
		h.Post("/forwarding", with(body, "target_email", "X@Example.NET")).Refused(409, "body conflict").Says(id)
		ids[tt.typ] = id
	}
	for query, want := range map[string]string{
		"scope_type=account": "account", "scope_type=workspace": "workspace", "scope_type=domain": "domain", "domain=example.com": "domain", "domain=" + domain: "domain",
		"workspace_id=" + workspace: "workspace", "scope_type=account&search=EXAMPLE": "account", "scope_type=domain&workspace_id=" + workspace: "", "domain=nowhere.com": "",
		"verification_state=verified": "", "scope_type=domain&verification_state=pending": "domain", "search=nothing": "",
	} {
		checkList(h, "/forwarding", query, "scope_type", want)
	}
	h.Get("/forwarding").Is("total", 3)
	body := obj{"target_email": "y@example.net"}
	h.Post("/forwarding", with(body, "domain", "example.com", "workspace_id", workspace)).Refused(422, "body.workspace_id value_error")
	h.Post("/forwarding", with(body, "domain", "nowhere.com")).Refused(422, "body.domain value_error")
	h.Post("/forwarding", with(body, "workspace_id", nobody)).Refused(422, "body.workspace_id value_error")
	for _, bad := range []string{"x", "x@", "@example.net", "x@localhost", "X <x@example.net>", "x@[192.0.2.1]", "x@example.net, y@example.net", strings.Repeat("x", 65) + "@example.net"} {
		h.Post("/forwarding", obj{"target_email": bad}).Refused(422, "body.target_email value_error")
		h.Patch("/forwarding/"+ids["account"], obj{"target_email": bad}).Refused(422, "body.target_email value_error")
	}
	h.Delete("/forwarding/" + ids["domain"]).Want(204)
	h.Delete("/forwarding/"+ids["domain"]).Refused(404, "path.forwarding_id not_found")
	h.Get("/forwarding/"+ids["domain"]).Refused(404, "path.forwarding_id not_found")
	h.Patch("/forwarding/"+ids["domain"], body).Refused(404, "path.forwarding_id not_found")
}

func TestForwardingExpires(t *testing.T) {
	h := apitest.New(t)
	id := h.Forwarding("x@example.net", nil)
	h.Clock.Advance(72*time.Hour - time.Microsecond)
	h.Get("/forwarding/"+id).Is("verification_state", "pending")
	h.Get("/forwarding?verification_state=pending").Is("total", 1)
	h.Clock.Advance(time.Microsecond)
	h.Get("/forwarding/"+id).Is("verification_state", "expired", "active", false, "verification_verified_at", nil)
	h.Get("/forwarding?verification_state=pending").Is("total", 0)
	h.Get("/forwarding?verification_state=expired").Is("total", 1)

	// The same target again sends a new link.
	h.Patch("/forwarding/"+id, obj{"target_email": "X@example.net"}).Want(200).
		Is("id", id, "verification_state", "pending", "verification_sent_at", "2026-03-17T15:09:26.535897Z", "verification_expires_at", "2026-03-20T15:09:26.535897Z")
	outbox := h.Service.Outbox()
	if len(outbox) != 2 || outbox[0].Link == outbox[1].Link {
		t.Errorf("the outbox is %+v", outbox)
	}
}

func TestForwardingStartsOver(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	h.Mailbox("example.com", "jane")
	id := h.Forwarding("x@example.net", nil)
	confirm(t, h, 0)
	h.Get("/forwarding/"+id).Is("verification_state", "verified", "active", true)

	// A verified target again changes nothing.
	h.Patch("/forwarding/"+id, obj{"target_email": "X@example.net"}).Want(200).Is("verification_state", "verified", "active", true)
	if n := len(h.Service.Outbox()); n != 1 {
		t.Errorf("%d messages were sent; want 1", n)
	}
	// Another target restarts the verification.
	h.Patch("/forwarding/"+id, obj{"target_email": "y@example.net"}).Want(200).
		Is("target_email", "y@example.net", "verification_state", "pending", "active", false, "verification_verified_at", nil)
	h.Patch("/forwarding/"+id, obj{"target_email": "jane@example.com"}).Want(200).
		Is("verification_state", "internal", "active", true, "verification_required", false, "verification_sent_at", nil)
	h.Patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).Want(200).Is("verification_state", "pending", "active", false)

	other := h.Forwarding("z@example.net", nil)
	h.Patch("/forwarding/"+other, obj{"target_email": "x@example.net"}).Refused(409, "body conflict").Says(id)
	if n := len(h.Service.Outbox()); n != 4 {
		t.Errorf("%d messages were sent; want 4", n)
	}
}

func TestForwardingActive(t *testing.T) {
	h := apitest.New(t)
	id := h.Forwarding("x@example.net", nil)
	path := "/forwarding/" + id + "/active"
	h.Patch(path, obj{"active": true}).Refused(409, "body conflict").Says(id)
	h.Patch(path, obj{"active": false}).Want(200).Is("active", false)
	confirm(t, h, 0)
	h.Get("/forwarding/"+id).Is("verification_state", "verified", "active", false)
	h.Patch(path, obj{"active": true}).Want(200).Is("active", true)
	h.Patch(path, obj{"active": false}).Want(200).Is("active", false, "verification_state", "verified")
	h.Patch(path, obj{}).Refused(422, "body.active missing")
	h.Patch("/forwarding/"+nobody+"/active", obj{"active": true}).Refused(404, "path.forwarding_id not_found")
}
