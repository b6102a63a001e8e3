package apiserver_test

import (
	"strings"
	"testing"
	"time"
)

func TestForwardingToAnotherAccount(t *testing.T) {
	h := newHarness(t)
	a := h.post("/forwarding", obj{"target_email": "Jane@EXAMPLE.net"}).want(201).is(
		"active", false, "scope_type", "account", "scope_id", accountID, "target_email", "jane@example.net", "verification_required", true,
		"verification_state", "pending", "verification_sent_at", "2026-03-14T15:09:26.535897Z", "verification_expires_at", "2026-03-17T15:09:26.535897Z",
		"verification_verified_at", nil,
	)
	if got := h.get("/forwarding/" + a.str("id")).want(200); string(got.raw) != string(a.raw) {
		t.Errorf("%s; want what was created: %s", got, a)
	}
	outbox := h.svc.Outbox()
	if len(outbox) != 1 || outbox[0].To != "jane@example.net" || !strings.Contains(outbox[0].Text, outbox[0].Link) {
		t.Fatalf("the outbox is %+v", outbox)
	}
	if strings.Contains(string(a.raw), outbox[0].Link[strings.LastIndex(outbox[0].Link, "/")+1:]) {
		t.Error("the answer has the link's secret")
	}
}

func TestForwardingToAMailbox(t *testing.T) {
	h := newHarness(t)
	h.domain("bücher.de")
	h.mailbox("bücher.de", "jane")
	a := h.post("/forwarding", obj{"target_email": "JANE@Bücher.de"}).want(201).is(
		"active", true, "target_email", "jane@xn--bcher-kva.de", "verification_required", false, "verification_state", "internal",
		"verification_sent_at", nil, "verification_expires_at", nil, "verification_verified_at", nil,
	)
	h.patch("/forwarding/"+a.str("id"), obj{"target_email": "jane@bücher.de"}).want(200).is("verification_state", "internal", "active", true)
	h.clock.Advance(1000 * time.Hour)
	h.get("/forwarding/"+a.str("id")).is("verification_state", "internal", "active", true)
	// Another account's mailbox is not internal.
	h.owner(t, nobody).post("/forwarding", obj{"target_email": "jane@bücher.de"}).want(201).is("verification_state", "pending")
	if n := len(h.svc.Outbox()); n != 1 {
		t.Errorf("%d messages are sent; want the other account's alone", n)
	}
}

func TestForwardingScopes(t *testing.T) {
	h := newHarness(t)
	domain, workspace := h.domain("example.com"), h.workspace("Sales")
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
		id := h.post("/forwarding", body).want(201).is("scope_type", tt.typ, "scope_id", tt.id).str("id")
		h.post("/forwarding", with(body, "target_email", "X@Example.NET")).refused(409, "body conflict").says(id)
		ids[tt.typ] = id
	}
	for query, want := range map[string]string{
		"scope_type=account": "account", "scope_type=workspace": "workspace", "scope_type=domain": "domain", "domain=example.com": "domain", "domain=" + domain: "domain",
		"workspace_id=" + workspace: "workspace", "scope_type=account&search=EXAMPLE": "account", "scope_type=domain&workspace_id=" + workspace: "", "domain=nowhere.com": "",
		"verification_state=verified": "", "scope_type=domain&verification_state=pending": "domain", "search=nothing": "",
	} {
		checkList(h, "/forwarding", query, "scope_type", want)
	}
	h.get("/forwarding").is("total", 3)
	body := obj{"target_email": "y@example.net"}
	h.post("/forwarding", with(body, "domain", "example.com", "workspace_id", workspace)).refused(422, "body.workspace_id value_error")
	h.post("/forwarding", with(body, "domain", "nowhere.com")).refused(422, "body.domain value_error")
	h.post("/forwarding", with(body, "workspace_id", nobody)).refused(422, "body.workspace_id value_error")
	for _, bad := range []string{"x", "x@", "@example.net", "x@localhost", "X <x@example.net>", "x@[192.0.2.1]", "x@example.net, y@example.net", strings.Repeat("x", 65) + "@example.net"} {
		h.post("/forwarding", obj{"target_email": bad}).refused(422, "body.target_email value_error")
		h.patch("/forwarding/"+ids["account"], obj{"target_email": bad}).refused(422, "body.target_email value_error")
	}
	h.delete("/forwarding/" + ids["domain"]).want(204)
	h.delete("/forwarding/"+ids["domain"]).refused(404, "path.forwarding_id not_found")
	h.get("/forwarding/"+ids["domain"]).refused(404, "path.forwarding_id not_found")
	h.patch("/forwarding/"+ids["domain"], body).refused(404, "path.forwarding_id not_found")
}

func TestForwardingExpires(t *testing.T) {
	h := newHarness(t)
	id := h.forwarding("x@example.net", nil)
	h.clock.Advance(72*time.Hour - time.Microsecond)
	h.get("/forwarding/"+id).is("verification_state", "pending")
	h.get("/forwarding?verification_state=pending").is("total", 1)
	h.clock.Advance(time.Microsecond)
	h.get("/forwarding/"+id).is("verification_state", "expired", "active", false, "verification_verified_at", nil)
	h.get("/forwarding?verification_state=pending").is("total", 0)
	h.get("/forwarding?verification_state=expired").is("total", 1)

	// The same address again sends a new link.
	h.patch("/forwarding/"+id, obj{"target_email": "X@example.net"}).want(200).
		is("id", id, "verification_state", "pending", "verification_sent_at", "2026-03-17T15:09:26.535897Z", "verification_expires_at", "2026-03-20T15:09:26.535897Z")
	outbox := h.svc.Outbox()
	if len(outbox) != 2 || outbox[0].Link == outbox[1].Link {
		t.Errorf("the outbox is %+v", outbox)
	}
}

func TestForwardingStartsOver(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	h.mailbox("example.com", "jane")
	id := h.forwarding("x@example.net", nil)
	h.confirm(t, 0)
	h.get("/forwarding/"+id).is("verification_state", "verified", "active", true)

	// A verified address again changes nothing.
	h.patch("/forwarding/"+id, obj{"target_email": "X@example.net"}).want(200).is("verification_state", "verified", "active", true)
	if n := len(h.svc.Outbox()); n != 1 {
		t.Errorf("%d messages are sent; want 1", n)
	}
	// Another one starts over.
	h.patch("/forwarding/"+id, obj{"target_email": "y@example.net"}).want(200).
		is("target_email", "y@example.net", "verification_state", "pending", "active", false, "verification_verified_at", nil)
	h.patch("/forwarding/"+id, obj{"target_email": "jane@example.com"}).want(200).
		is("verification_state", "internal", "active", true, "verification_required", false, "verification_sent_at", nil)
	h.patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).want(200).is("verification_state", "pending", "active", false)

	other := h.forwarding("z@example.net", nil)
	h.patch("/forwarding/"+other, obj{"target_email": "x@example.net"}).refused(409, "body conflict").says(id)
	if n := len(h.svc.Outbox()); n != 4 {
		t.Errorf("%d messages are sent; want 4", n)
	}
}

func TestForwardingActive(t *testing.T) {
	h := newHarness(t)
	id := h.forwarding("x@example.net", nil)
	path := "/forwarding/" + id + "/active"
	h.patch(path, obj{"active": true}).refused(409, "body conflict").says(id)
	h.patch(path, obj{"active": false}).want(200).is("active", false)
	h.confirm(t, 0)
	h.get("/forwarding/"+id).is("verification_state", "verified", "active", false)
	h.patch(path, obj{"active": true}).want(200).is("active", true)
	h.patch(path, obj{"active": false}).want(200).is("active", false, "verification_state", "verified")
	h.patch(path, obj{}).refused(422, "body.active missing")
	h.patch("/forwarding/"+nobody+"/active", obj{"active": true}).refused(404, "path.forwarding_id not_found")
}
