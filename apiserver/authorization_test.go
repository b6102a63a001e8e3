package apiserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestAuthorizations(t *testing.T) {
	h := apitest.New(t)
	owner := h.Get("/auth/authorizations").Want(200)
	owner.Is("0.grant_kind", "account_owner", "0.subject_type", "user", "0.capability_key", nil, "0.resource_type", nil, "0.resource_id", nil, "0.revoked_at", nil, "1", nil)

	domain := h.Domain("example.com")
	granted := h.Post("/auth/authorizations", obj{
		"grant_kind": "capability", "subject_type": "group", "subject_id": "Ops", "capability_key": "mailbox.view", "resource_type": "domain", "resource_id": strings.ToUpper(domain),
	}).Want(201).Is("subject_id", "Ops", "capability_key", "mailbox.view", "resource_type", "domain", "resource_id", domain, "revoked_at", nil)
	h.Get("/auth/authorizations").Want(200).Is("1.id", granted.Str("id"), "2", nil)

	h.Clock.Advance(time.Minute)
	h.Delete("/auth/authorizations/" + granted.Str("id")).Want(204)
	h.Get("/auth/authorizations").Want(200).Is("1", nil)
	h.Get("/auth/authorizations?include_revoked=true").Want(200).Is("1.id", granted.Str("id"), "1.revoked_at", "2026-03-14T15:10:26.535897Z")
	h.Clock.Advance(time.Minute)
	h.Delete("/auth/authorizations/" + granted.Str("id")).Want(204) // a second delete changes nothing
	h.Get("/auth/authorizations?include_revoked=true").Want(200).Is("1.revoked_at", "2026-03-14T15:10:26.535897Z")
	h.Delete("/auth/authorizations/"+nobody).Refused(404, "path.authorization_id not_found")
}

func TestAuthorizationFilters(t *testing.T) {
	h := apitest.New(t)
	body := func(subjectType, subjectID, capability string) obj {
		return obj{"grant_kind": "capability", "subject_type": subjectType, "subject_id": subjectID, "capability_key": capability}
	}
	for _, b := range []obj{body("user", "u1", "mailbox.view"), body("user", "u2", "mailbox.view"), body("group", "u1", "domain.view")} {
		h.Post("/auth/authorizations", b).Want(201)
	}
	for query, want := range map[string]int{
		"": 4, "subject_type=user": 3, "subject_id=u1": 2, "subject_type=user&subject_id=u1": 1, "grant_kind=account_owner": 1, "grant_kind=capability": 3,
		"capability_key=mailbox.view": 2, "capability_key=mailbox.view&subject_type=group": 0, "capability_key=nothing": 0, "include_revoked=false": 4, "subject_id=": 4,
	} {
		if got := len(h.Get("/auth/authorizations?" + query).Want(200).JSON.([]any)); got != want {
			t.Errorf("%q lists %d; want %d", query, got, want)
		}
	}
	h.Get("/auth/authorizations?subject_type=robot&grant_kind=x&include_revoked=perhaps").
		Refused(422, "query.subject_type enum", "query.grant_kind enum", "query.include_revoked bool_type")
}

func TestGrantsNeedExistingObjects(t *testing.T) {
	h := apitest.New(t)
	base := obj{"grant_kind": "capability", "subject_type": "service_account", "subject_id": nobody, "capability_key": "mailbox.view", "resource_id": nobody}
	h.Post("/auth/authorizations", with(base, "resource_type", "domain")).Refused(422, "body.subject_id value_error", "body.resource_id value_error")
	h.Post("/auth/authorizations", with(base, "resource_type", "workspace")).Refused(422, "body.subject_id value_error", "body.resource_id value_error")
	id := h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("id")
	h.Post("/auth/authorizations", with(base, "subject_id", id, "resource_type", "workspace", "resource_id", h.DefaultWorkspace())).Want(201)
}

// TestRevokingMore checks that a caller can't revoke a grant that it could not create.
func TestRevokingMore(t *testing.T) {
	h := apitest.New(t)
	c := h.Limited(t, apitest.Grant{Capability: vocab.CapAuthorizationManage})
	user := obj{"subject_type": "user", "subject_id": "u"}
	owner := h.Post("/auth/authorizations", with(user, "grant_kind", "account_owner")).Want(201).Str("id")
	capability := h.Post("/auth/authorizations", with(user, "grant_kind", "capability", "capability_key", "mailbox.view")).Want(201).Str("id")
	c.Delete("/auth/authorizations/"+owner).Refused(403, "header.Authorization permission_denied").Says("account_owner")
	c.Delete("/auth/authorizations/"+capability).Refused(403, "header.Authorization permission_denied").Says("mailbox.view")
	h.Delete("/auth/authorizations/" + owner).Want(204)
}

func TestDuplicateGrant(t *testing.T) {
	h := apitest.New(t)
	domain, other := h.Domain("example.com"), h.Domain("example.net")
	whole := obj{"grant_kind": "capability", "subject_type": "group", "subject_id": "g", "capability_key": "mailbox.view"}
	for _, body := range []obj{
		whole, with(whole, "resource_type", "domain", "resource_id", domain), with(whole, "resource_type", "domain", "resource_id", other),
		with(whole, "subject_type", "user"), with(whole, "capability_key", "mailbox.update"), {"grant_kind": "account_owner", "subject_type": "group", "subject_id": "g"},
	} {
		id := h.Post("/auth/authorizations", body).Want(201).Str("id")
		h.Post("/auth/authorizations", body).Refused(409, "body conflict").Says(id)
		h.Delete("/auth/authorizations/" + id).Want(204)
		h.Post("/auth/authorizations", body).Want(201)
	}
}

// TestGrantToServiceAccountInAnotherForm checks that a grant accepts the id of a service
// account in upper case.
func TestGrantToServiceAccountInAnotherForm(t *testing.T) {
	h := apitest.New(t)
	c := h.Limited(t)
	id := h.Get("/auth/service-accounts").Want(200).Str("items.0.id")
	c.Get("/mailboxes").Want(403)
	h.Post("/auth/authorizations", obj{"grant_kind": "capability", "subject_type": "service_account", "subject_id": strings.ToUpper(id), "capability_key": "mailbox.view"}).
		Want(201).Is("subject_id", id)
	c.Get("/mailboxes").Want(200)
}

// TestGrantsAreBounded checks that a caller can't grant more than it has.
func TestGrantsAreBounded(t *testing.T) {
	h := apitest.New(t)
	domain, other := h.Domain("example.com"), h.Domain("example.net")
	manage := apitest.Grant{Capability: vocab.CapAuthorizationManage}
	full := h.Limited(t, manage, apitest.Grant{Capability: vocab.CapMailboxView})
	restricted := h.Limited(t, manage, apitest.GrantOn(vocab.CapMailboxView, "domain", domain))
	body := obj{"grant_kind": "capability", "subject_type": "user", "subject_id": "u", "capability_key": "mailbox.view"}
	here, there := with(body, "resource_type", "domain", "resource_id", domain), with(body, "resource_type", "domain", "resource_id", other)
	owner, admin := obj{"grant_kind": "account_owner", "subject_type": "user", "subject_id": "u"}, obj{"grant_kind": "super_admin", "subject_type": "user", "subject_id": "u"}

	for _, b := range []obj{body, here, there} {
		full.Post("/auth/authorizations", b).Want(201)
	}
	restricted.Post("/auth/authorizations", with(here, "subject_id", "v")).Want(201)
	for c, bodies := range map[*apitest.Client][]obj{
		full: {with(body, "capability_key", "mailbox.create"), owner, admin}, restricted: {body, there, owner, admin}, h.Client: {admin},
	} {
		for _, b := range bodies {
			c.Post("/auth/authorizations", b).Refused(403, "header.Authorization permission_denied")
		}
	}
	h.Post("/auth/authorizations", owner).Want(201)
	full.Post("/auth/authorizations", with(body, "capability_key", "mailbox.create")).Want(403).Says("mailbox.create")
}
