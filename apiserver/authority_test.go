package apiserver_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// The model test checks that a request can't grant or revoke a right that its caller lacks. These
// are examples, with their messages.

// revoking is a response whose first write revokes the credential of its request.
type revoking struct {
	*httptest.ResponseRecorder
	revoke func()
}

func (w *revoking) Write(p []byte) (int, error) {
	if w.revoke != nil {
		w.revoke()
		w.revoke = nil
	}
	return w.ResponseRecorder.Write(p)
}

// TestExportEndsWithItsCredential revokes a token, or its grant, during an export. Deleting a
// mailbox meanwhile does not end the export.
func TestExportEndsWithItsCredential(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	var names []string
	for _, prefix := range []string{"a", "b"} {
		items := make([]obj, 700)
		for i := range items {
			items[i] = obj{"local_part": prefix + time.Duration(i).String(), "first_name": "f", "last_name": "l"}
			names = append(names, prefix+time.Duration(i).String()+"@example.com")
		}
		h.Post("/mailboxes/bulk", obj{"domain": "example.com", "items": items}).Want(200)
	}
	export := func(in obj, revoke func(id, grant string)) (rows int) {
		id, c := h.ServiceAccount(h.Client, obj{"name": "exporter"})
		grant := h.Get("/auth/authorizations?subject_id=" + id).Want(200).Str("0.id")
		w := &revoking{httptest.NewRecorder(), func() { revoke(id, grant) }}
		body, _ := json.Marshal(in)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.Path("/mailboxes/export"), bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+c.Token)
		r.Header.Set("Content-Type", "application/json")
		func() {
			defer func() { _ = recover() }() // recovers from http.ErrAbortHandler, which cuts the response off
			h.Service.Handler().ServeHTTP(w, r)
		}()
		return strings.Count(w.Body.String(), "@example.com")
	}
	for name, c := range map[string]struct {
		revoke func(id, grant string)
		all    bool
	}{
		"nothing":         {func(string, string) {}, true},
		"service account": {func(id, _ string) { h.Delete("/auth/service-accounts/" + id).Want(204) }, false},
		"grant":           {func(_, grant string) { h.Delete("/auth/authorizations/" + grant).Want(204) }, false},
	} {
		for _, in := range []obj{{}, {"mailboxes": names}} {
			got := export(in, c.revoke)
			assert.Check(t, (got == len(names)) == c.all, "%s revoked: %d of %d rows", name, got, len(names))
		}
	}
	got := export(obj{"mailboxes": names}, func(string, string) { h.Delete("/mailboxes/" + names[600]).Want(204) })
	assert.Check(t, got == len(names)-1, "a mailbox deleted: %d of %d rows", got, len(names))
}

// TestRequestIDIsNotTheKey checks that a request id that contains an Idempotency-Key is replaced, in
// any header for keys, also of other versions. The id is logged and stored, and the key decrypts the
// stored response.
func TestRequestIDIsNotTheKey(t *testing.T) {
	h := apitest.New(t)
	const key = "3f0c9d7e-1111-4222-8333-444444444444"
	for _, header := range []string{"Idempotency-Key", "Idempotency-Lookup"} {
		for _, id := range []string{key, strings.ToUpper(key), strings.ReplaceAll(key, "-", ""), "urn:uuid:" + key} {
			for _, pair := range [][2]string{{id, key}, {key, id}, {"job-7." + id, key}} {
				got := h.Do(http.MethodPost, "/workspaces", obj{"name": "w"}, "X-Request-Id", pair[0], header, pair[1]).Header.Get("X-Request-Id")
				assert.Check(t, got != pair[0], "%s is kept as the request id of the %s %s", pair[0], header, pair[1])
			}
		}
	}
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

// TestOwnersOfTheIssuerStay checks that a user or a group counts as an owner if access tokens are
// accepted.
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

// operator returns a client of a person with access to the server's database.
func operator(t *testing.T, s *apitest.Server) *apitest.Client {
	return &apitest.Client{T: t, HTTP: s.Service.OperatorClient(apitest.AccountID, "jane"), URL: "http://in.process", Account: apitest.AccountID}
}

// TestOperatorIsNeverLockedOut checks that a person with access to the database can create an
// owner's token when every grant is revoked and the account is cancelled, and can empty the
// account, and that the audit log names them.
func TestOperatorIsNeverLockedOut(t *testing.T) {
	db := apitest.OpenStore(t)
	s := apitest.New(t, func(o *apiserver.Options) { o.Store = db })
	admin, superAdmin := s.ServiceAccount(s.Client, apitest.Object{"name": "super"})
	as := operator(t, s)
	as.Post("/auth/authorizations", apitest.Object{"grant_kind": vocab.GrantSuperAdmin, "subject_type": vocab.SubjectServiceAccount, "subject_id": admin}).Want(http.StatusCreated)
	paths := []string{"/mailboxes/jane@example.com", "/credentials/" + s.Password("p", nil), "/domains/example.com", "/dedicated-ips/" + s.Post("/dedicated-ips/claim", obj{"option_id": s.Option("eu")}).Str("id")}
	s.Domain("example.com")
	s.Mailbox("example.com", "jane")
	superAdmin.Post("/billing/cancel-plan", apitest.Object{"cancel_immediately": true}).Want(http.StatusOK)
	for _, path := range paths {
		superAdmin.Delete(path).Refused(http.StatusForbidden, "path.account_id account_cancelled")
		as.Delete(path).Want(http.StatusNoContent)
	}

	var grants []api.Authorization
	as.Get("/auth/authorizations").Want(http.StatusOK).Into(&grants)
	for _, g := range grants {
		as.Delete("/auth/authorizations/" + g.ID).Want(http.StatusNoContent)
	}
	s.Get("/auth/authorizations").Want(http.StatusForbidden)
	superAdmin.Get("/auth/authorizations").Want(http.StatusForbidden)
	as.Get("/auth/caller").Want(http.StatusOK).Is("name", "jane", "grants.0.grant_kind", vocab.GrantAccountOwner)

	as.GrantTo("group", "ops", apitest.Grant{Capability: vocab.CapMailboxView}) // although the account is cancelled
	as.Post("/workspaces", apitest.Object{"name": "w"}).Refused(http.StatusForbidden, "path.account_id account_cancelled")
	_, owner := s.ServiceAccount(as, apitest.Object{"name": "new"})
	owner.Get("/auth/authorizations").Want(http.StatusOK).Is("1.grant_kind", vocab.GrantAccountOwner)
	err := db.View(t.Context(), func(r store.Reader) error {
		return r.EachAuditEntry(store.AuditFilter{Limit: 1}, func(e store.AuditEntry) error {
			assert.Check(t, e.Operation == "create-service-account" && e.Subject == (store.AuditSubject{Type: "operator", Name: "jane"}), "the audit log has %+v", e)
			return nil
		})
	})
	assert.Check(t, err)
}
