package serviceaccount_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const typeName = "mailhost_service_account"

// works reports whether the API accepts a token.
func works(s *acctest.Server, token string) bool {
	r, _ := http.NewRequest(http.MethodGet, s.URL+"/v1/public/accounts/"+s.AccountID+"/domains", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// TestImported imports a service account: the first triggers are only stored, and others replace
// it. A revoked service account leaves the state with a warning.
func TestImported(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "CI"}, nil)
	p.NoErrors(diags)
	imported, diags := p.Import(typeName, o.Text("id"), nil)
	p.NoErrors(diags)
	imported, diags = p.Read(typeName, imported)
	p.NoErrors(diags)
	acctest.Expect(t, diags, `The token of the imported service account "CI" is not known`, "-replace")
	_, diags = p.Read(typeName, imported)
	assert.Check(t, len(diags) == 0, "a later read: %s", acctest.Render(diags))
	triggered := map[string]any{"name": "CI", "rotation_triggers": map[string]any{"a": "1"}}
	plan, diags := p.Plan(typeName, triggered, imported)
	p.NoErrors(diags)
	assert.Check(t, len(plan.Replace) == 0 && plan.Null("token") && plan.Text("updated_at") == o.Text("updated_at"), "the first triggers plan %s, replacing %v", plan.State, plan.Replace)
	imported, diags = p.ApplyPlan(t.Context(), typeName, triggered, imported, plan)
	p.NoErrors(diags)
	plan, diags = p.Plan(typeName, map[string]any{"name": "CI", "rotation_triggers": map[string]any{"a": "2"}}, imported)
	p.NoErrors(diags)
	replacing(t, "other triggers", plan, "rotation_triggers")

	assert.NilError(t, s.Client.ServiceAccounts.Delete(t.Context(), o.Text("id")))
	_, diags = p.Read(typeName, o)
	acctest.Expect(t, diags, `WARNING: The service account "CI" was revoked`, "the next apply creates a new one", o.Text("id"))
}

// TestExpired checks that an expired service account is kept with a warning, and that
// nothing is planned until another time is configured.
func TestExpired(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	over := time.Now().Add(-24 * time.Hour).Format(time.RFC3339)
	config := map[string]any{"name": "CI", "expires_at": over}
	_, diags := p.Plan(typeName, config, nil)
	acctest.Expect(t, diags, `AttributeName("expires_at")`, "would be expired when it is created", over)

	soon := time.Now().Add(time.Hour).Format(time.RFC3339)
	o, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "CI", "expires_at": soon}, nil)
	p.NoErrors(diags)
	// The time in the response changes, not the clock.
	expired := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		acctest.Rewrite(w, r, next, func(body string) string {
			at, _ := time.Parse(time.RFC3339, soon)
			return strings.ReplaceAll(body, at.UTC().Format("2006-01-02T15:04:05.000000Z"), over)
		})
	}))
	o, diags = expired.Read(typeName, o)
	expired.NoErrors(diags)
	acctest.Expect(t, diags, `service account "CI" has expired`, "set another expires_at")
	plan, diags := expired.Plan(typeName, config, o)
	expired.NoErrors(diags)
	assert.Check(t, !o.Gone() && plan.State.Equal(o.State), "planned %s", plan.State)
}

// TestOwnCredential checks that only changes that revoke the provider's own service
// account are refused.
func TestOwnCredential(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	config := map[string]any{"name": "terraform", "rotation_triggers": map[string]any{"a": "1"}}
	own, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	other, diags := p.Apply(t.Context(), typeName, config, nil) // with the same name
	p.NoErrors(diags)
	unmanaged := &acctest.Server{Server: s.Server, AccountID: s.AccountID, Token: own.Text("token")}
	p = unmanaged.Protocol(t, "")
	imported, diags := p.Import(typeName, own.Text("id"), nil)
	p.NoErrors(diags)
	imported, diags = p.Read(typeName, imported)
	p.NoErrors(diags)

	refusal := []string{`ERROR: The service account "terraform" is the provider's own credential`, own.Text("token_last4"), "MAILHOST_TOKEN", "removed block"}
	for what, replaced := range map[string]map[string]any{
		"destroy":       nil,
		"another name":  {"name": "tf", "rotation_triggers": map[string]any{"a": "1"}},
		"unknown name":  {"name": acctest.Unknown, "rotation_triggers": map[string]any{"a": "1"}},
		"valid_for":     {"name": "terraform", "valid_for": "1h", "rotation_triggers": map[string]any{"a": "1"}},
		"expires_at":    {"name": "terraform", "expires_at": "2099-01-01T00:00:00Z", "rotation_triggers": map[string]any{"a": "1"}},
		"other trigger": {"name": "terraform", "rotation_triggers": map[string]any{"a": "2"}},
	} {
		_, diags := p.Plan(typeName, replaced, own)
		assert.Check(t, acctest.Errors(diags) == 1, "%s: %s", what, acctest.Render(diags))
		acctest.Expect(t, diags, refusal...)
		_, diags = p.Plan(typeName, replaced, other)
		p.NoErrors(diags)
	}
	_, diags = p.Plan(typeName, nil, imported)
	acctest.Expect(t, diags, refusal...)
	_, diags = p.Plan(typeName, config, own)
	p.NoErrors(diags)

	// Terraform plans -replace and a tainted object as a create.
	destroy := &acctest.Object{State: tftypes.NewValue(own.State.Type(), nil)}
	kept, diags := p.ApplyPlan(t.Context(), typeName, nil, own, destroy)
	acctest.Expect(t, diags, refusal...)
	assert.Check(t, !kept.Gone(), "it is not in the state any more")
	_, diags = p.Read(typeName, own)
	p.NoErrors(diags) // the token still works
	gone, diags := p.ApplyPlan(t.Context(), typeName, nil, other, destroy)
	if p.NoErrors(diags); !gone.Gone() {
		t.Error("the other one is still in the state")
	}
	// Another credential can revoke it.
	p = s.Protocol(t, "")
	if gone, diags := p.Apply(t.Context(), typeName, nil, own); !gone.Gone() {
		t.Error(acctest.Render(diags))
	}
}

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
		acctest.Expect(t, diags, `ERROR at AttributeName("lifetime")`, "Can't create the service account", "not be later than "+limit)
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
			assert.NilError(t, s.Client.ServiceAccounts.Delete(t.Context(), a.ID))
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
