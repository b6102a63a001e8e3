package apiserver_test

import (
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

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
