package apiserver_test

import (
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// serviceAccount makes a service account with its creator's grants, and returns its
// id and client.
func (h *harness) serviceAccount(creator *client, body obj) (string, *client) {
	h.t.Helper()
	a := creator.post("/auth/service-accounts", body).want(201)
	return a.str("id"), h.as(a.str("token"))
}

// Over the network the built-in owner does not count: it has no credential.
func TestLastOwnerStays(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id, c := h.serviceAccount(h.client, obj{"name": "first"})
	grantOf := func(id string) string {
		return "/auth/authorizations/" + h.get("/auth/authorizations?subject_id="+id).want(200).str("0.id")
	}
	builtIn := "/auth/authorizations/" + h.get("/auth/authorizations?subject_type=user").want(200).str("0.id")
	own := grantOf(id)
	for _, path := range []string{"/auth/service-accounts/" + id, own} {
		c.delete(path).refused(409, "body conflict").says("without an owner who can act", id)
	}
	c.get("/mailboxes").want(200)

	// Neither a revoked nor an expired owner can act, nor one of a token that is not accepted.
	revoked, _ := h.serviceAccount(c, obj{"name": "revoked"})
	c.delete("/auth/service-accounts/" + revoked).want(204)
	h.serviceAccount(c, obj{"name": "expired", "expires_at": h.clock.Now().Add(time.Second)})
	h.clock.Advance(time.Second)
	c.own("user", "jane")
	c.delete("/auth/service-accounts/" + id).want(409)

	second, d := h.serviceAccount(c, obj{"name": "second"})
	c.delete(builtIn).want(204) // it is not the last one
	d.delete("/auth/service-accounts/" + id).want(204)
	d.delete("/auth/service-accounts/" + id).want(204) // again changes nothing
	d.delete(builtIn).want(204)
	d.delete(own).want(204) // of a service account that is revoked
	d.delete("/auth/service-accounts/" + second).want(409)
}

// In process the built-in owner can act, so that every service account can go, and
// its own grant is the last one then.
func TestBuiltInOwnerStays(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	builtIn := "/auth/authorizations/" + h.get("/auth/authorizations").want(200).str("0.id")
	h.delete(builtIn).refused(409, "body conflict").says("without an owner who can act")
	id, _ := h.serviceAccount(h.client, obj{"name": "x"})
	h.delete("/auth/service-accounts/" + id).want(204)
	h.delete(builtIn).want(409)
}

// Where access tokens are accepted, a user or a group that is an owner can act.
func TestOwnersOfTheIssuerStay(t *testing.T) {
	t.Parallel()
	h, _ := newIssued(t, map[string]any{"t": jane()})
	id, c := h.serviceAccount(h.client, obj{"name": "x"})
	c.delete("/auth/service-accounts/" + id).want(409)
	group := h.own("group", "ops")
	c.delete("/auth/service-accounts/" + id).want(204)
	h.as("t").delete("/auth/authorizations/"+group).refused(409, "body conflict")
	h.own("user", "auth0|jane")
	h.as("t").delete("/auth/authorizations/" + group).want(204)
}

// A credential revokes only what it could have made.
func TestRevokingAServiceAccountWithMoreGrants(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	domain := h.domain("example.com")
	owner, _ := h.serviceAccount(h.client, obj{"name": "owner"})
	revoke := grant{capability: vocab.CapServiceAccountRevoke}
	c := h.limited(t, revoke, grant{vocab.CapMailboxView, "domain", domain})
	last := func() string {
		ids := h.get("/auth/service-accounts?page_size=1000").each("id")
		return "/auth/service-accounts/" + ids[len(ids)-1]
	}
	self := last()
	h.limited(t, grant{capability: vocab.CapMailboxView})
	wider := last()
	h.limited(t, grant{vocab.CapMailboxView, "domain", domain})
	same := last()
	h.limited(t)
	none := last()
	c.delete("/auth/service-accounts/"+owner).refused(403, "header.Authorization permission_denied").says("account_owner")
	c.delete(wider).refused(403, "header.Authorization permission_denied").says("mailbox.view")
	h.delete(wider).want(204)
	c.delete(wider).want(403)
	for _, path := range []string{same, none, self} {
		c.delete(path).want(204)
	}
	c.delete(none).refused(401, "header.Authorization token_revoked")
}

func TestRevokingInACancelledAccount(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id, c := h.serviceAccount(h.client, obj{"name": "x"})
	g := c.grantTo("user", "u", grant{capability: vocab.CapMailboxView})
	h.serviceAccount(c, obj{"name": "y"})
	c.post("/billing/cancel-plan", obj{"cancel_immediately": true}).want(200)
	c.delete("/auth/authorizations/" + g).want(204)
	c.delete("/auth/service-accounts/" + id).want(204)
	h.post("/auth/service-accounts", obj{"name": "z"}).refused(403, "path.account_id account_cancelled")
}

// A service account does not outlive the one that created it.
func TestHeirsExpireWithTheirCreator(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const limit = "2026-03-14T16:09:26.535897Z"
	_, c := h.serviceAccount(h.client, obj{"name": "x", "expires_at": limit})
	for _, body := range []obj{{"name": "y"}, {"name": "y", "expires_at": nil}, {"name": "y", "expires_at": limit}} {
		c.post("/auth/service-accounts", body).want(201).is("expires_at", limit)
	}
	earlier := "2026-03-14T16:09:26.535896Z"
	heir := c.post("/auth/service-accounts", obj{"name": "y", "expires_at": earlier}).want(201).is("expires_at", earlier)
	c.post("/auth/service-accounts", obj{"name": "y", "expires_at": "2026-03-14T16:09:26.535898Z"}).refused(422, "body.expires_at value_error").says(limit)
	grandchild := h.as(heir.str("token")).post("/auth/service-accounts", obj{"name": "z"}).want(201).is("expires_at", earlier)
	h.clock.Advance(time.Hour)
	h.as(grandchild.str("token")).get("/mailboxes").refused(401, "header.Authorization token_expired")
	h.get("/auth/service-accounts").is("total", 6)
}

// The access token of a user expires and the user does not, so that it sets no limit.
func TestHeirsOfAUser(t *testing.T) {
	t.Parallel()
	user := jane()
	user.ExpiresAt = start.Add(time.Minute)
	h, _ := newIssued(t, map[string]any{"t": user})
	h.own("user", user.ID)
	h.as("t").post("/auth/service-accounts", obj{"name": "x"}).want(201).is("expires_at", nil)
}
