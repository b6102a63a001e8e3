package masterpassword_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// create creates a master password outside Terraform.
func create(t *testing.T, s *acctest.Server, body api.CreateMasterPasswordBody) *api.MasterPassword {
	t.Helper()
	body.Generate = true
	p, err := s.Client.CreateMasterPassword(t.Context(), body)
	assert.NilError(t, err)
	return &p.MasterPassword
}

// TestGeneratedConfiguration checks a generated configuration, which has no secret:
// changes without a secret are applied, and a replacement is refused.
func TestGeneratedConfiguration(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	created := create(t, s, api.CreateMasterPasswordBody{Name: "ops", Domain: new("example.com")})
	p := s.Protocol(t, "")
	o, diags := p.Import(typeName, created.ID, nil)
	p.NoErrors(diags)
	o, diags = p.Read(typeName, o)
	p.NoErrors(diags)
	config := p.AsConfig(typeName, o)
	config["name"] = "dev"
	o, diags = p.Apply(t.Context(), typeName, config, o)
	p.NoErrors(diags)
	assert.Check(t, o.Text("name") == "dev" && o.Text("id") == created.ID, "renamed to %s", o.State)
	config["domain"] = nil
	plan, diags := p.Plan(typeName, config, o)
	p.NoErrors(diags)
	assert.Check(t, len(plan.Replace) == 1, "another scope replaces because of %v", plan.Replace)
	_, diags = p.Plan(typeName, config, nil) // Terraform then plans the create
	expect(t, diags, "A master password without a secret", "Set value, value_wo with value_wo_version, or generate = true")
}
