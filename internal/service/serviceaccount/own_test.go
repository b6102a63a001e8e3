package serviceaccount_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

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
