package control_test

import (
	"net/http"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// TestAudit checks that changes through the control plane are attributed to it in the
// audit log.
func TestAudit(t *testing.T) {
	db := apitest.OpenStore(t)
	h := newHarness(t, func(o *apiserver.Options) {
		o.Store, o.Registrar = db, apiserver.Registrar{PaymentNeeded: true}
	})
	var bought struct {
		ID string `json:"purchase_batch_id"`
	}
	h.network.Purchase(workspaceID, "example.com").Want(http.StatusOK).Into(&bought)
	for _, tt := range []struct {
		what string
		do   func()
		want []string // the newest entries
	}{
		{"before", func() {}, []string{"operator issue-owner-token", "service_account purchase-domains"}},
		{"POST /accounts", func() { h.want(201, "POST", "/accounts", `{}`) }, []string{"control_plane init-account"}},
		{"POST /fixture", func() {
			h.want(200, "POST", "/fixture", `{"accounts":[{"id":"22222222-2222-4333-8444-555555555555"}]}`)
		}, []string{"control_plane load-fixture"}},
		{"POST /payments", func() { h.want(200, "POST", "/payments/"+bought.ID, "") }, []string{"control_plane settle-payment"}},
		{"POST /reset", func() { h.want(200, "POST", "/reset", "") },
			[]string{"control_plane reset", "control_plane reset", "control_plane reset"}}, // one per account
		{"EnsureAccount", func() {
			_, err := h.service.EnsureAccount(t.Context(), accountID)
			assert.NilError(t, err)
		}, []string{"operator ensure-account"}},
		{"Reset", func() {
			assert.NilError(t, h.plane.Reset(t.Context(), h.service))
		}, []string{"control_plane reset"}},
	} {
		tt.do()
		var got []string
		err := db.View(t.Context(), func(r store.Reader) error {
			return r.EachAuditEntry(store.AuditFilter{}, func(e store.AuditEntry) error {
				got = append(got, e.Subject.Type+" "+e.Operation)
				return nil
			})
		})
		assert.NilError(t, err)
		assert.Check(t, is.DeepEqual(got[max(0, len(got)-len(tt.want)):], tt.want), "%s: logged", tt.what)
	}
}
