package apiserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestAuthorizations(t *testing.T) {
	h := newHarness(t)
	owner := h.get("/auth/authorizations").want(200)
	owner.is("0.grant_kind", "account_owner", "0.subject_type", "user", "0.capability_key", nil, "0.resource_type", nil, "0.resource_id", nil, "0.revoked_at", nil, "1", nil)

	domain := h.domain("example.com")
	granted := h.post("/auth/authorizations", obj{
		"grant_kind": "capability", "subject_type": "group", "subject_id": "Ops", "capability_key": "mailbox.view", "resource_type": "domain", "resource_id": strings.ToUpper(domain),
	}).want(201).is("subject_id", "Ops", "capability_key", "mailbox.view", "resource_type", "domain", "resource_id", domain, "revoked_at", nil)
	h.get("/auth/authorizations").want(200).is("1.id", granted.str("id"), "2", nil)

	h.clock.Advance(time.Minute)
	h.delete("/auth/authorizations/" + granted.str("id")).want(204)
	h.get("/auth/authorizations").want(200).is("1", nil)
	h.get("/auth/authorizations?include_revoked=true").want(200).is("1.id", granted.str("id"), "1.revoked_at", "2026-03-14T15:10:26.535897Z")
	h.clock.Advance(time.Minute)
	h.delete("/auth/authorizations/" + granted.str("id")).want(204) // again changes nothing
	h.get("/auth/authorizations?include_revoked=true").want(200).is("1.revoked_at", "2026-03-14T15:10:26.535897Z")
	h.delete("/auth/authorizations/"+nobody).refused(404, "path.authorization_id not_found")
}

func TestAuthorizationFilters(t *testing.T) {
	h := newHarness(t)
	body := func(subjectType, subjectID, capability string) obj {
		return obj{"grant_kind": "capability", "subject_type": subjectType, "subject_id": subjectID, "capability_key": capability}
	}
	for _, b := range []obj{body("user", "u1", "mailbox.view"), body("user", "u2", "mailbox.view"), body("group", "u1", "domain.view")} {
		h.post("/auth/authorizations", b).want(201)
	}
	for query, want := range map[string]int{
		"": 4, "subject_type=user": 3, "subject_id=u1": 2, "subject_type=user&subject_id=u1": 1, "grant_kind=account_owner": 1, "grant_kind=capability": 3,
		"capability_key=mailbox.view": 2, "capability_key=mailbox.view&subject_type=group": 0, "capability_key=nothing": 0, "include_revoked=false": 4, "subject_id=": 4,
	} {
		if got := len(h.get("/auth/authorizations?" + query).want(200).json.([]any)); got != want {
			t.Errorf("%q lists %d; want %d", query, got, want)
		}
	}
	h.get("/auth/authorizations?subject_type=robot&grant_kind=x&include_revoked=perhaps").
		refused(422, "query.subject_type enum", "query.grant_kind enum", "query.include_revoked bool_type")
}

func TestGrantsNameWhatExists(t *testing.T) {
	h := newHarness(t)
	base := obj{"grant_kind": "capability", "subject_type": "service_account", "subject_id": nobody, "capability_key": "mailbox.view", "resource_id": nobody}
	h.post("/auth/authorizations", with(base, "resource_type", "domain")).refused(422, "body.subject_id value_error", "body.resource_id value_error")
	h.post("/auth/authorizations", with(base, "resource_type", "workspace")).refused(422, "body.subject_id value_error", "body.resource_id value_error")
	id := h.post("/auth/service-accounts", obj{"name": "x"}).want(201).str("id")
	h.post("/auth/authorizations", with(base, "subject_id", id, "resource_type", "workspace", "resource_id", h.defaultWorkspace())).want(201)
}

// Whoever may not make an owner may not unmake one.
func TestRevokingAnOwner(t *testing.T) {
	h := newHarness(t)
	c := h.limited(t, grant{capability: vocab.CapAuthorizationManage})
	user := obj{"subject_type": "user", "subject_id": "u"}
	owner := h.post("/auth/authorizations", with(user, "grant_kind", "account_owner")).want(201).str("id")
	capability := h.post("/auth/authorizations", with(user, "grant_kind", "capability", "capability_key", "mailbox.view")).want(201).str("id")
	c.delete("/auth/authorizations/"+owner).refused(403, "header.Authorization permission_denied").says("account_owner")
	c.delete("/auth/authorizations/" + capability).want(204)
	h.delete("/auth/authorizations/" + owner).want(204)
}

func TestGrantIsMadeOnce(t *testing.T) {
	h := newHarness(t)
	domain, other := h.domain("example.com"), h.domain("example.net")
	whole := obj{"grant_kind": "capability", "subject_type": "group", "subject_id": "g", "capability_key": "mailbox.view"}
	for _, body := range []obj{
		whole, with(whole, "resource_type", "domain", "resource_id", domain), with(whole, "resource_type", "domain", "resource_id", other),
		with(whole, "subject_type", "user"), with(whole, "capability_key", "mailbox.update"), {"grant_kind": "account_owner", "subject_type": "group", "subject_id": "g"},
	} {
		id := h.post("/auth/authorizations", body).want(201).str("id")
		h.post("/auth/authorizations", body).refused(409, "body conflict").says(id)
		h.delete("/auth/authorizations/" + id).want(204)
		h.post("/auth/authorizations", body).want(201)
	}
}

// A service account's id is an id, in whatever form it is written.
func TestGrantToServiceAccountInAnotherForm(t *testing.T) {
	h := newHarness(t)
	c := h.limited(t)
	id := h.get("/auth/service-accounts").want(200).str("items.0.id")
	c.get("/mailboxes").want(403)
	h.post("/auth/authorizations", obj{"grant_kind": "capability", "subject_type": "service_account", "subject_id": strings.ToUpper(id), "capability_key": "mailbox.view"}).
		want(201).is("subject_id", id)
	c.get("/mailboxes").want(200)
}

// Nobody grants more than they have.
func TestGrantsAreBounded(t *testing.T) {
	h := newHarness(t)
	domain, other := h.domain("example.com"), h.domain("example.net")
	manage := grant{capability: vocab.CapAuthorizationManage}
	full := h.limited(t, manage, grant{capability: vocab.CapMailboxView})
	narrow := h.limited(t, manage, grant{vocab.CapMailboxView, "domain", domain})
	body := obj{"grant_kind": "capability", "subject_type": "user", "subject_id": "u", "capability_key": "mailbox.view"}
	here, there := with(body, "resource_type", "domain", "resource_id", domain), with(body, "resource_type", "domain", "resource_id", other)
	owner, admin := obj{"grant_kind": "account_owner", "subject_type": "user", "subject_id": "u"}, obj{"grant_kind": "super_admin", "subject_type": "user", "subject_id": "u"}

	for _, b := range []obj{body, here, there} {
		full.post("/auth/authorizations", b).want(201)
	}
	narrow.post("/auth/authorizations", with(here, "subject_id", "v")).want(201)
	for c, bodies := range map[*client][]obj{
		full: {with(body, "capability_key", "mailbox.create"), owner, admin}, narrow: {body, there, owner, admin}, h.client: {admin},
	} {
		for _, b := range bodies {
			c.post("/auth/authorizations", b).refused(403, "header.Authorization permission_denied")
		}
	}
	h.post("/auth/authorizations", owner).want(201)
	full.post("/auth/authorizations", with(body, "capability_key", "mailbox.create")).want(403).says("mailbox.create")
}
