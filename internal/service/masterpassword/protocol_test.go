package masterpassword_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

const (
	typeName = "mailhost_master_password"
	hunter   = "hunter22 with \"quotes\" & more"
)

// expect fails the test unless the diagnostics contain all parts and do not contain the
// secret.
func expect(t *testing.T, diags []*tfprotov6.Diagnostic, parts ...string) {
	t.Helper()
	text := acctest.Render(diags)
	for _, part := range parts {
		assert.Check(t, strings.Contains(text, part), "%q is missing in:\n%s", part, text)
	}
	assert.Check(t, !strings.Contains(text, "hunter22"), "the diagnostics contain the secret:\n%s", text)
}

// TestWriteOnlyLeftOut checks that a plan without the secret, for example in a pipeline that
// only plans, fails only for a new version or a replacement.
func TestWriteOnlyLeftOut(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "ops", "value_wo": "hunter22", "value_wo_version": 1}, nil)
	p.NoErrors(diags)
	for name, c := range map[string]struct {
		config map[string]any
		prior  *acctest.Object
		want   string
	}{
		"as it was":       {map[string]any{"name": "ops", "value_wo_version": 1}, o, ""},
		"another name":    {map[string]any{"name": "dev", "value_wo_version": 1}, o, ""},
		"another version": {map[string]any{"name": "ops", "value_wo_version": 2}, o, "value_wo_version without value_wo"},
		"a create":        {map[string]any{"name": "ops", "value_wo_version": 1}, nil, "A master password without a secret"},
	} {
		p.NoErrors(p.Validate(typeName, c.config))
		plan, diags := p.Plan(typeName, c.config, c.prior)
		if c.want != "" {
			acctest.Expect(t, diags, "ERROR", c.want)
			continue
		}
		assert.Check(t, len(diags) == 0 && len(plan.Replace) == 0, "%s: %s, replaces %v", name, acctest.Render(diags), plan.Replace)
	}
}

// TestAPIErrors checks that an error of the API that quotes the secret is redacted.
func TestAPIErrors(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		switch {
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/credentials"):
			acctest.Refuse(w, http.StatusUnprocessableEntity, "body.value", "Value error, "+hunter+" is too simple")
		case r.Method == http.MethodPatch:
			acctest.Refuse(w, http.StatusConflict, "body.name", "the name is taken, with the id 1234")
		default:
			next.ServeHTTP(w, r)
		}
	}))
	_, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "ops", "value": hunter}, nil)
	expect(t, diags, `AttributeName("value")`, `Can't create the master password "ops"`, "too simple", "refused-by-test")
	_, diags = p.Apply(t.Context(), typeName, map[string]any{"name": "ops", "value_wo": hunter, "value_wo_version": 1}, nil)
	expect(t, diags, `AttributeName("value_wo")`, "too simple")

	created, err := s.Client.CreateMasterPassword(t.Context(), api.CreateMasterPasswordBody{Name: "ops", Generate: true})
	assert.NilError(t, err)
	o, diags := p.Import(typeName, created.ID, nil)
	p.NoErrors(diags)
	o, diags = p.Read(typeName, o)
	p.NoErrors(diags)
	expect(t, diags, `AttributeName("value")`, `The secret of the imported master password "ops" is not known`)
	o, diags = p.Apply(t.Context(), typeName, map[string]any{"name": "ops 2", "value": hunter}, o)
	expect(t, diags, `AttributeName("name")`, `Can't rename the master password "ops" to "ops 2"`, "1234")
	assert.Check(t, o.Text("name") == "ops", "after the failure the state has %q", o.Text("name"))
}

// TestSecretLost loses the response with a generated secret, with an API that ignores
// idempotency keys. Terraform taints the object, and the next apply replaces it.
func TestSecretLost(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Fault(t, fault.Rule{Operation: api.CreateMasterPassword.ID, Drop: fault.After, Nth: 1})
	p := s.Protocol(t, s.WithoutKeys(t))
	o, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "ops", "generate": true}, nil)
	found, err := s.Client.FindMasterPassword(t.Context(), "OPS", client.Scope{})
	assert.NilError(t, err)
	expect(t, diags, `Can't create the master password "ops"`, found.ID, "tainted in Terraform's state: run apply again")
	assert.Check(t, o.Text("id") == found.ID && o.Null("generated_secret"), "the state has %s", o.State)
	_, diags = p.Destroy(t.Context(), typeName, o)
	p.NoErrors(diags)
	o, diags = p.Apply(t.Context(), typeName, map[string]any{"name": "ops", "generate": true}, nil)
	p.NoErrors(diags)
	assert.Check(t, !o.Null("generated_secret"), "there is no secret")
}

// TestDestroyed plans the destroy of a master password, and a new name, which ends nothing.
func TestDestroyed(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "ops", "value": "hunter22"}, nil)
	p.NoErrors(diags)
	_, diags = p.Plan(typeName, nil, o)
	expect(t, diags, `WARNING: The plan deletes the master password "ops"`, "is locked out", "Concerns: access")
	_, diags = p.Plan(typeName, map[string]any{"name": "renamed", "value": "hunter22"}, o)
	assert.Check(t, len(diags) == 0, "a new name ends nothing: %s", acctest.Render(diags))
}
