package serviceaccount_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
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

// TestLostToken loses the response of an API that ignores idempotency keys. Terraform
// taints the object, and the next apply replaces it.
func TestLostToken(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Fault(t, fault.Rule{Operation: api.CreateServiceAccount.ID, Drop: fault.After, Nth: 1})
	p := s.Protocol(t, s.WithoutKeys(t))
	o, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "CI"}, nil)
	expect(t, diags, `Can't create the service account "CI"`, "tainted in Terraform's state: run apply again")
	if left := living(t, s); !slices.Contains(left, o.Text("id")) || !o.Null("token") {
		t.Fatalf("the state has %s, and there are %v", o.State, left)
	}
	_, diags = p.Destroy(t.Context(), typeName, o)
	p.NoErrors(diags)
	lost := o.Text("id")
	o, diags = p.Apply(t.Context(), typeName, map[string]any{"name": "CI"}, nil)
	p.NoErrors(diags)
	if left := living(t, s); slices.Contains(left, lost) || !works(s, o.Text("token")) {
		t.Errorf("there are %v", left)
	}
}

// TestOutcomeUnknown loses the response of an API without a list.
func TestOutcomeUnknown(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	s.Fault(t, fault.Rule{Operation: api.CreateServiceAccount.ID, Drop: fault.After})
	p := s.Protocol(t, s.WithoutKeys(t))
	_, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "CI"}, nil)
	expect(t, diags, `Can't create the service account "CI"`, "may have been created", "revoke what is too much")
}

// TestPublished uses an API that can neither read nor revoke.
func TestPublished(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	p := s.Protocol(t, "")
	until := time.Now().Add(time.Hour).Format(time.RFC3339)
	for want, config := range map[string]map[string]any{
		"it never expires": {"name": "CI"},
		"until " + until:   {"name": "CI", "expires_at": until},
	} {
		o, diags := p.Apply(t.Context(), typeName, config, nil)
		p.NoErrors(diags)
		read, diags := p.Read(typeName, o)
		p.NoErrors(diags)
		if !read.State.Equal(o.State) || len(diags) > 0 {
			t.Errorf("read %s\n%s", read.State, acctest.Render(diags))
		}
		gone, diags := p.Destroy(t.Context(), typeName, o)
		p.NoErrors(diags)
		expect(t, diags, `service account "CI" will still exist`, "ITS TOKEN STILL WORKS", want, o.Text("id"), o.Text("token_last4"))
		if text := acctest.Render(diags); !gone.Gone() || strings.Contains(text, o.Text("token")) || !works(s, o.Text("token")) {
			t.Errorf("destroyed: %s", text)
		}
	}
}

// TestUnknown plans with unknown values.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	config := map[string]any{"name": acctest.Unknown, "expires_at": acctest.Unknown, "rotation_triggers": acctest.Unknown}
	p.NoErrors(p.Validate(typeName, config))
	_, diags := p.Plan(typeName, config, nil)
	p.NoErrors(diags)
	p.NoErrors(p.Validate(typeName, map[string]any{"name": "CI", "rotation_triggers": map[string]any{"a": acctest.Unknown}}))
	_, diags = p.Plan(typeName, map[string]any{"name": "CI", "rotation_triggers": map[string]any{"a": acctest.Unknown}}, nil)
	p.NoErrors(diags)
	o, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "CI", "rotation_triggers": map[string]any{"a": "1"}}, nil)
	p.NoErrors(diags)
	plan, diags := p.Plan(typeName, map[string]any{"name": "CI", "rotation_triggers": map[string]any{"a": acctest.Unknown}}, o)
	p.NoErrors(diags)
	if len(plan.Replace) != 1 {
		t.Errorf("triggers that may change replace %v", plan.Replace)
	}
}
