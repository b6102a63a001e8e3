package serviceaccount_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

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
// it. A revoked one leaves the state with a warning.
func TestImported(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "CI"}, nil)
	p.NoErrors(diags)
	imported, diags := p.Import(typeName, o.Text("id"), nil)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "The token of the imported service account", "-replace")
	imported, diags = p.Read(typeName, imported)
	p.NoErrors(diags)
	triggered := map[string]any{"name": "CI", "rotation_triggers": map[string]any{"a": "1"}}
	plan, diags := p.Plan(typeName, triggered, imported)
	p.NoErrors(diags)
	if len(plan.Replace) > 0 || !plan.Null("token") || plan.Text("updated_at") != o.Text("updated_at") {
		t.Errorf("the first triggers plan %s, replacing %v", plan.State, plan.Replace)
	}
	imported, diags = p.ApplyPlan(t.Context(), typeName, triggered, imported, plan)
	p.NoErrors(diags)
	plan, diags = p.Plan(typeName, map[string]any{"name": "CI", "rotation_triggers": map[string]any{"a": "2"}}, imported)
	p.NoErrors(diags)
	replacing(t, "other triggers", plan, "rotation_triggers")

	assert.NilError(t, s.Client.RevokeServiceAccount(t.Context(), o.Text("id")))
	_, diags = p.Read(typeName, o)
	acctest.Expect(t, diags, `WARNING: The service account "CI" was revoked`, "the next apply creates a new one", o.Text("id"))
}

// TestExpired checks that an expired service account is kept with a warning, and that
// nothing is planned until the configuration has another time.
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
	// The time in the response changes, and not the clock.
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
