package apiserver_test

import (
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// TestLastOwnerStays checks that the last owner can't be revoked over the network, where
// the built-in owner does not count because it has no credential.
func TestLastOwnerStays(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	id, c := h.ServiceAccount(h.Client, obj{"name": "first"})
	grantOf := func(id string) string {
		return "/auth/authorizations/" + h.Get("/auth/authorizations?subject_id="+id).Want(200).Str("0.id")
	}
	builtIn := "/auth/authorizations/" + h.Get("/auth/authorizations?subject_type=user").Want(200).Str("0.id")
	own := grantOf(id)
	for _, path := range []string{"/auth/service-accounts/" + id, own} {
		c.Delete(path).Refused(409, "body conflict").Says("without an owner who can act", id)
	}
	c.Get("/mailboxes").Want(200)

	// A revoked or expired owner does not count, nor does a user if no access tokens are
	// accepted.
	revoked, _ := h.ServiceAccount(c, obj{"name": "revoked"})
	c.Delete("/auth/service-accounts/" + revoked).Want(204)
	h.ServiceAccount(c, obj{"name": "expired", "expires_at": h.Clock.Now().Add(time.Second)})
	h.Clock.Advance(time.Second)
	c.GrantOwner("user", "jane")
	c.Delete("/auth/service-accounts/" + id).Want(409)

	second, d := h.ServiceAccount(c, obj{"name": "second"})
	c.Delete(builtIn).Want(204) // another owner remains
	d.Delete("/auth/service-accounts/" + id).Want(204)
	d.Delete("/auth/service-accounts/" + id).Want(204) // a second delete changes nothing
	d.Delete(builtIn).Want(204)
	d.Delete(own).Want(204) // the grant of a revoked service account
	d.Delete("/auth/service-accounts/" + second).Want(409)
}

// TestBuiltInOwnerStays checks that in process every service account can be revoked,
// because the built-in owner can act, but not the built-in owner's grant.
func TestBuiltInOwnerStays(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	builtIn := "/auth/authorizations/" + h.Get("/auth/authorizations").Want(200).Str("0.id")
	h.Delete(builtIn).Refused(409, "body conflict").Says("without an owner who can act")
	id, _ := h.ServiceAccount(h.Client, obj{"name": "x"})
	h.Delete("/auth/service-accounts/" + id).Want(204)
	h.Delete(builtIn).Want(409)
}

// TestOwnersOfTheIssuerStay checks that a user or a group that is an owner counts if
// access tokens are accepted.
func TestOwnersOfTheIssuerStay(t *testing.T) {
	t.Parallel()
	h, _ := newIssued(t, map[string]any{"t": jane()})
	id, c := h.ServiceAccount(h.Client, obj{"name": "x"})
	c.Delete("/auth/service-accounts/" + id).Want(409)
	group := h.GrantOwner("group", "ops")
	c.Delete("/auth/service-accounts/" + id).Want(204)
	h.As("t").Delete("/auth/authorizations/"+group).Refused(409, "body conflict")
	h.GrantOwner("user", "auth0|jane")
	h.As("t").Delete("/auth/authorizations/" + group).Want(204)
}

// TestRevokingAServiceAccountWithMoreGrants checks that a caller can only revoke service
// accounts whose grants it could create.
func TestRevokingAServiceAccountWithMoreGrants(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	domain := h.Domain("example.com")
	owner, _ := h.ServiceAccount(h.Client, obj{"name": "owner"})
	revoke := apitest.Grant{Capability: vocab.CapServiceAccountRevoke}
	c := h.Limited(t, revoke, apitest.GrantOn(vocab.CapMailboxView, "domain", domain))
	last := func() string {
		ids := h.Get("/auth/service-accounts?page_size=1000").Each("id")
		return "/auth/service-accounts/" + ids[len(ids)-1]
	}
	self := last()
	h.Limited(t, apitest.Grant{Capability: vocab.CapMailboxView})
	wider := last()
	h.Limited(t, apitest.GrantOn(vocab.CapMailboxView, "domain", domain))
	same := last()
	h.Limited(t)
	none := last()
	c.Delete("/auth/service-accounts/"+owner).Refused(403, "header.Authorization permission_denied").Says("account_owner")
	c.Delete(wider).Refused(403, "header.Authorization permission_denied").Says("mailbox.view")
	h.Delete(wider).Want(204)
	c.Delete(wider).Want(403)
	for _, path := range []string{same, none, self} {
		c.Delete(path).Want(204)
	}
	c.Delete(none).Refused(401, "header.Authorization token_revoked")
}

func TestRevokingInACancelledAccount(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	id, c := h.ServiceAccount(h.Client, obj{"name": "x"})
	g := c.GrantTo("user", "u", apitest.Grant{Capability: vocab.CapMailboxView})
	h.ServiceAccount(c, obj{"name": "y"})
	c.Post("/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200)
	c.Delete("/auth/authorizations/" + g).Want(204)
	c.Delete("/auth/service-accounts/" + id).Want(204)
	h.Post("/auth/service-accounts", obj{"name": "z"}).Refused(403, "path.account_id account_cancelled")
}

// TestServiceAccountExpiresWithItsCreator checks that a service account expires no later
// than the one that created it.
func TestServiceAccountExpiresWithItsCreator(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	const limit = "2026-03-14T16:09:26.535897Z"
	_, c := h.ServiceAccount(h.Client, obj{"name": "x", "expires_at": limit})
	for _, body := range []obj{{"name": "y"}, {"name": "y", "expires_at": nil}, {"name": "y", "expires_at": limit}} {
		c.Post("/auth/service-accounts", body).Want(201).Is("expires_at", limit)
	}
	earlier := "2026-03-14T16:09:26.535896Z"
	child := c.Post("/auth/service-accounts", obj{"name": "y", "expires_at": earlier}).Want(201).Is("expires_at", earlier)
	c.Post("/auth/service-accounts", obj{"name": "y", "expires_at": "2026-03-14T16:09:26.535898Z"}).Refused(422, "body.expires_at value_error").Says(limit)
	grandchild := h.As(child.Str("token")).Post("/auth/service-accounts", obj{"name": "z"}).Want(201).Is("expires_at", earlier)
	h.Clock.Advance(time.Hour)
	h.As(grandchild.Str("token")).Get("/mailboxes").Refused(401, "header.Authorization token_expired")
	h.Get("/auth/service-accounts").Is("total", 6)
}

// TestServiceAccountOfAUserHasNoExpiry checks that the expiry of a user's access token
// does not limit the service accounts that the user creates.
func TestServiceAccountOfAUserHasNoExpiry(t *testing.T) {
	t.Parallel()
	user := jane()
	user.ExpiresAt = start.Add(time.Minute)
	h, _ := newIssued(t, map[string]any{"t": user})
	h.GrantOwner("user", user.ID)
	h.As("t").Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Is("expires_at", nil)
}
