package apiserver_test

import (
	"net/http"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// operator returns a client of a person who holds the server's database.
func operator(t *testing.T, s *apitest.Server) *apitest.Client {
	return &apitest.Client{T: t, HTTP: s.Service.OperatorClient(apitest.AccountID, "jane"), URL: "http://in.process", Account: apitest.AccountID}
}

// TestOperatorIsNeverLockedOut checks that whoever holds the database can create an owner's
// token when every grant is revoked and the account is cancelled, and that the audit log
// names them.
func TestOperatorIsNeverLockedOut(t *testing.T) {
	db := apitest.OpenStore(t)
	s := apitest.New(t, func(o *apiserver.Options) { o.Store = db })
	admin, superAdmin := s.ServiceAccount(s.Client, apitest.Object{"name": "super"})
	as := operator(t, s)
	as.Post("/auth/authorizations", apitest.Object{"grant_kind": vocab.GrantSuperAdmin, "subject_type": vocab.SubjectServiceAccount, "subject_id": admin}).Want(http.StatusCreated)
	superAdmin.Post("/billing/cancel-plan", apitest.Object{"cancel_immediately": true}).Want(http.StatusOK)

	var grants []api.Authorization
	as.Get("/auth/authorizations").Want(http.StatusOK).Into(&grants)
	for _, g := range grants {
		as.Delete("/auth/authorizations/" + g.ID).Want(http.StatusNoContent)
	}
	s.Get("/auth/authorizations").Want(http.StatusForbidden)
	superAdmin.Get("/auth/authorizations").Want(http.StatusForbidden)
	as.Get("/auth/caller").Want(http.StatusOK).Is("name", "jane", "grants.0.grant_kind", vocab.GrantAccountOwner)

	as.GrantTo("group", "ops", apitest.Grant{Capability: vocab.CapMailboxView}) // although the account is cancelled
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
