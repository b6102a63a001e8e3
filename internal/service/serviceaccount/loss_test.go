package serviceaccount_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestLosses changes one argument at a time: a plan names the access that ends with it, and a rotation is silent.
func TestLosses(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	type values = map[string]any
	permissions := func(keys ...string) (all []any) {
		for _, key := range keys {
			all = append(all, values{"capability_key": key})
		}
		return all
	}
	both := permissions("mailbox.view", "domain.view")
	until, earlier, later := "2050-01-01T00:00:00Z", "2049-01-01T00:00:00Z", "2051-01-01T00:00:00Z"
	for name, c := range map[string]struct {
		before, after values
		want          []string // none: the plan is silent
	}{
		"destroyed":                    {values{"name": "CI"}, nil, []string{`The plan revokes the service account "CI"`, "stops working", "Concerns: access"}},
		"another name":                 {values{"name": "CI"}, values{"name": "CD"}, []string{`The plan replaces the service account "CI"`, "stops working", "Concerns: access"}},
		"without permissions":          {values{"name": "CI", "permissions": both}, values{"name": "CI"}, nil},
		"fewer permissions":            {values{"name": "CI", "permissions": both}, values{"name": "CI", "permissions": permissions("domain.view")}, []string{`The plan takes permissions from the service account "CI"`, "- mailbox.view", "Concerns: access"}},
		"the first permissions":        {values{"name": "CI"}, values{"name": "CI", "permissions": both}, []string{`The plan takes permissions from the service account "CI"`, "- all that", "Concerns: access"}},
		"more permissions":             {values{"name": "CI", "permissions": permissions("domain.view")}, values{"name": "CI", "permissions": both}, nil},
		"triggers":                     {values{"name": "CI", "permissions": both, "rotation_triggers": values{"a": "1"}}, values{"name": "CI", "permissions": both, "rotation_triggers": values{"a": "2"}}, nil},
		"triggers, and no permissions": {values{"name": "CI", "permissions": both, "rotation_triggers": values{"a": "1"}}, values{"name": "CI", "rotation_triggers": values{"a": "2"}}, []string{`The plan gives the successor of the service account "CI" other rights`, "Concerns: access", "an owner"}},
		"an earlier expiry":            {values{"name": "CI", "permissions": both, "expires_at": until}, values{"name": "CI", "permissions": both, "expires_at": earlier}, []string{`The plan shortens the validity of the service account "CI"`, until, earlier, "Concerns: access"}},
		"a later expiry":               {values{"name": "CI", "permissions": both, "expires_at": until}, values{"name": "CI", "permissions": both, "expires_at": later}, nil},
		"an expiry":                    {values{"name": "CI", "permissions": both}, values{"name": "CI", "permissions": both, "expires_at": until}, []string{"The plan shortens the validity", "without end", until}},
		"no expiry":                    {values{"name": "CI", "permissions": both, "expires_at": until}, values{"name": "CI", "permissions": both}, nil},
		"a shorter validity":           {values{"name": "CI", "permissions": both, "valid_for": "720h"}, values{"name": "CI", "permissions": both, "valid_for": "24h"}, []string{"The plan shortens the validity", "for 720h", "for 24h"}},
		"a longer validity":            {values{"name": "CI", "permissions": both, "valid_for": "24h"}, values{"name": "CI", "permissions": both, "valid_for": "720h"}, nil},
		"a validity":                   {values{"name": "CI", "permissions": both}, values{"name": "CI", "permissions": both, "valid_for": "24h"}, []string{"The plan shortens the validity", "without end", "for 24h"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := s.Protocol(t, "")
			o, diags := p.Apply(t.Context(), typeName, c.before, nil)
			p.NoErrors(diags)
			_, diags = p.Walk().Plan(typeName, c.after, o)
			p.NoErrors(diags)
			if acctest.Expect(t, diags, c.want...); c.want == nil {
				assert.Check(t, len(diags) == 0, acctest.Render(diags))
			}
		})
	}
}

// TestLeftOverInApply plans a create beside a service account of the same name whose token was used: outside a
// plan it is the one that a create_before_destroy replaces.
func TestLeftOverInApply(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	config := map[string]any{"name": "CI", "permissions": []any{map[string]any{"capability_key": "domain.view"}}}
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	other, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "CD"}, nil)
	p.NoErrors(diags)
	const warning = `An active service account "CI" exists that the state may not have`
	_, diags = p.Walk().Plan(typeName, config, nil)
	acctest.Expect(t, diags, warning, o.Text("id"))

	assert.Check(t, works(s, o.Text("token")))
	_, diags = p.Walk().Plan(typeName, config, nil)
	assert.Check(t, len(diags) == 0, "the apply of a replacement: %s", acctest.Render(diags))
	p.Together()
	_, diags = p.Read(typeName, other)
	p.NoErrors(diags)
	_, diags = p.Plan(typeName, config, nil)
	acctest.Expect(t, diags, warning, o.Text("id"))
}
