package forwarding_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestSwitchUnsupported checks that an API that can't switch a rule off creates it with a
// warning, and that later plans are empty.
func TestSwitchUnsupported(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	p := s.Protocol(t, "")
	config := attributes{"target_email": "jane@example.org", "active": false}
	made, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	acctest.Expect(t, diags, `WARNING at AttributeName("active")`, "no operation that switches a rule off", "as soon as the recipient has confirmed")
	read, diags := p.Read(typeName, made)
	p.NoErrors(diags)
	plan, _ := p.Plan(typeName, config, read)
	assert.Check(t, plan.State.Equal(made.State), "the second plan is %s", plan.State)
	confirm(t, s)
	p = s.Protocol(t, "") // a new process has an empty cache
	read, diags = p.Read(typeName, read)
	p.NoErrors(diags)
	_, diags = p.Apply(t.Context(), typeName, config, read)
	acctest.Expect(t, diags, `ERROR at AttributeName("active")`, "Can't switch the forwarding rule to jane@example.org of the account off", "still forwards mail")
}
