package serviceaccount_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const typeName = "mailhost_service_account"

// expect fails the test unless the diagnostics contain all parts.
func expect(t *testing.T, diags []*tfprotov6.Diagnostic, parts ...string) {
	t.Helper()
	text := acctest.Render(diags)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

func revoke(t *testing.T, s *acctest.Server, name string) {
	t.Helper()
	a, err := s.Client.FindServiceAccount(t.Context(), name)
	if err == nil {
		err = s.Client.RevokeServiceAccount(t.Context(), a.ID)
	}
	if err != nil {
		t.Error(err)
	}
}

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

// TestIdentity imports a service account: the first triggers are only stored, and others
// replace it.
func TestIdentity(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "CI"}, nil)
	p.NoErrors(diags)
	id := o.Text("id")
	check := func(o *acctest.Object, when string) {
		t.Helper()
		if got := p.IdentityOf(typeName, o); got["id"] != id || got["account_id"] != s.AccountID {
			t.Errorf("%s: the identity is %v, the id %s", when, got, id)
		}
	}
	check(o, "create")
	imported, diags := p.Import(typeName, "", map[string]any{"id": strings.ToUpper(id)})
	p.NoErrors(diags)
	expect(t, diags, "The token of the imported service account", "-replace")
	imported, diags = p.Read(typeName, imported)
	p.NoErrors(diags)
	check(imported, "import")
	triggered := map[string]any{"name": "CI", "rotation_triggers": map[string]any{"a": "1"}}
	plan, diags := p.Plan(typeName, triggered, imported)
	p.NoErrors(diags)
	if len(plan.Replace) > 0 || !plan.Null("token") || plan.Text("updated_at") != o.Text("updated_at") {
		t.Errorf("the first triggers plan %s, replacing %v", plan.State, plan.Replace)
	}
	imported, diags = p.ApplyPlan(t.Context(), typeName, triggered, imported, plan)
	p.NoErrors(diags)
	check(imported, "update")
	plan, diags = p.Plan(typeName, map[string]any{"name": "CI", "rotation_triggers": map[string]any{"a": "2"}}, imported)
	p.NoErrors(diags)
	replacing(t, "other triggers", plan, "rotation_triggers")

	revoke(t, s, "CI")
	o.Identity = nil // like in a state of an older Terraform
	o, diags = p.Read(typeName, o)
	p.NoErrors(diags)
	expect(t, diags, `service account "CI" was revoked`, "the next apply creates a new one", id)
	check(o, "revoked")
	if !o.Gone() {
		t.Error("a revoked service account is still in the state")
	}
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
	expect(t, diags, `AttributeName("expires_at")`, "would be expired when it is created", over)

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
	expect(t, diags, `service account "CI" has expired`, "set another expires_at")
	plan, diags := expired.Plan(typeName, config, o)
	expired.NoErrors(diags)
	if o.Gone() || !plan.State.Equal(o.State) {
		t.Errorf("planned %s", plan.State)
	}
}
