package provider_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestDeposedInTheApply replaces an object of each kind with create_before_destroy. The plan warns of what is
// lost, and the apply, in which core plans the destruction again, does not begin a warning with "The plan".
func TestDeposedInTheApply(t *testing.T) {
	t.Parallel()
	for typeName := range schemas(t).ResourceSchemas {
		s := acctest.NewServer(t, acctest.Options{})
		k := kinds(t, s)[typeName]
		if k.replacing == nil {
			continue
		}
		p := s.Protocol(t, "")
		old, diags := p.Apply(t.Context(), typeName, k.config, nil)
		p.NoErrors(diags)
		_, diags = p.Walk().PlanReplacement(typeName, k.replacing, old)
		p.NoErrors(diags)
		before := acctest.Render(diags)

		p.Together() // the apply
		plan, diags := p.Plan(typeName, k.replacing, nil)
		p.NoErrors(diags)
		o, diags := p.ApplyPlan(t.Context(), typeName, k.replacing, nil, plan)
		p.NoErrors(diags)
		destroy, diags := p.Plan(typeName, nil, old)
		p.NoErrors(diags)
		assert.Check(t, !strings.Contains(acctest.Render(diags), "The plan"), "%s: %s\nThe plan has said: %s", typeName, acctest.Render(diags), before)
		_, diags = p.ApplyPlan(t.Context(), typeName, nil, old, destroy)
		p.NoErrors(diags)
		_, diags = p.Apply(t.Context(), typeName, nil, o)
		p.NoErrors(diags)
	}
}
