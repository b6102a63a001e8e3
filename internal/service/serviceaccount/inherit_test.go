package serviceaccount_test

import (
	"net/http"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// as makes the provider use another service account, which expires at this time.
func as(t *testing.T, s *acctest.Server, expiresAt *string) (id string) {
	t.Helper()
	created, err := s.Client.CreateServiceAccount(t.Context(), api.CreateServiceAccountBody{Name: "provider", ExpiresAt: expiresAt})
	assert.NilError(t, err)
	s.Token = created.Token
	return created.ID
}

// TestInheritedExpiry creates service accounts with a credential that expires.
func TestInheritedExpiry(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		limit := time.Now().Add(time.Hour).UTC().Truncate(time.Second).Format(api.TimestampLayout)
		as(t, s, &limit)
		p := s.Protocol(t, "")
		config := map[string]any{"name": "CI"}
		plan, diags := p.Plan(typeName, config, nil)
		p.NoErrors(diags)
		assert.Check(t, plan.Text("expires_at") == "(unknown)", "planned %s", plan.State)
		o, diags := p.Apply(t.Context(), typeName, config, nil)
		p.NoErrors(diags)
		acctest.Expect(t, diags, `AttributeName("expires_at")`, "expires with the provider's credential", limit)
		assert.Check(t, o.Text("expires_at") == limit, "it expires at %s, want %s", o.Text("expires_at"), limit)
		o, diags = p.Read(typeName, o)
		p.NoErrors(diags)
		plan, diags = p.Plan(typeName, config, o)
		if p.NoErrors(diags); len(plan.Replace) > 0 || !plan.State.Equal(o.State) {
			t.Errorf("the second plan replaces because of %v: %s", plan.Replace, plan.State)
		}
		plan, diags = p.Plan(typeName, map[string]any{"name": "other"}, o)
		p.NoErrors(diags)
		replacing(t, "another name", plan, "name")

		_, diags = p.Apply(t.Context(), typeName, lasting("2h", nil), nil)
		acctest.Expect(t, diags, `ERROR at AttributeName("valid_for")`, "not be later than "+limit, "a credential that expires later")
		_, diags = p.Apply(t.Context(), typeName, map[string]any{"name": "CI", "expires_at": "2099-01-01T00:00:00Z"}, nil)
		acctest.Expect(t, diags, `ERROR at AttributeName("expires_at")`, "not be later than "+limit)
		_, diags = p.Open("mailhost_service_account_token", map[string]any{"lifetime": "2h"})
		acctest.Expect(t, diags, `ERROR at AttributeName("lifetime")`, "not be later than "+limit)
	})
}

// TestRefusedRevocations destroys service accounts that the provider's credential may not
// revoke.
func TestRefusedRevocations(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	owner := s.Protocol(t, "")
	o, diags := owner.Apply(t.Context(), typeName, map[string]any{"name": "CI"}, nil)
	owner.NoErrors(diags)
	own := as(t, s, nil)
	// If a gateway adds the credential, the provider can't recognize its own service
	// account.
	gateway := s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Header.Set("Authorization", "Bearer "+s.Token)
		next.ServeHTTP(w, r)
	})
	p := (&acctest.Server{Server: s.Server, AccountID: s.AccountID, Token: "of-the-gateway"}).Protocol(t, gateway)
	for a, err := range s.Client.ListServiceAccounts(t.Context()) {
		assert.NilError(t, err)
		if a.ID != own && a.ID != o.Text("id") {
			assert.NilError(t, s.Client.RevokeServiceAccount(t.Context(), a.ID))
			break
		}
	}
	_, diags = p.Apply(t.Context(), typeName, nil, o)
	p.NoErrors(diags)
	imported, diags := p.Import(typeName, own, nil)
	p.NoErrors(diags)
	imported, diags = p.Read(typeName, imported)
	p.NoErrors(diags)
	_, diags = p.Apply(t.Context(), typeName, nil, imported)
	acctest.Expect(t, diags, `Can't revoke the service account "provider"`, "without an owner who can act", "grant account_owner to another service account first")
}
