package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestUnknownTokenWithoutDeferral checks that creates, which need no API, are planned, and
// that existing objects cause one error with the two steps to run.
func TestUnknownTokenWithoutDeferral(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.ProtocolOfUnknownToken(t, false).Together()
	var all []*tfprotov6.Diagnostic
	for name, r := range everyKind(t, s) {
		o, diags := s.Protocol(t, "").Apply(t.Context(), name, r.config, nil)
		p.NoErrors(diags)
		o.Identity = nil // like a CLI without identities
		plan, diags := p.Plan(name, r.config, nil)
		assert.Check(t, acctest.Errors(diags) <= 0 && plan.Deferred == nil, "the create of %s: %s", name, acctest.Render(diags))
		read, diags := p.Read(name, o)
		assert.Check(t, read.State.Equal(o.State), "the read of %s returns %s", name, read.State)
		all = append(all, diags...)
	}
	assert.Check(t, acctest.Errors(all) == 1, "%d errors: %s", acctest.Errors(all), acctest.Render(all))
	acctest.Expect(t, all, "ERROR: Provider setting not known yet", "token in the provider block", "-target=mailhost_service_account.", "\n  terraform apply\n")
}
