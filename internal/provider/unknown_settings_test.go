package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestUnknownTokenIsDeferred checks that everything is deferred if the CLI supports
// deferral.
func TestUnknownTokenIsDeferred(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	resources := everyResource(t, s)
	p := s.ProtocolOfUnknownToken(t, true)
	for name, r := range resources {
		o, diags := s.Protocol(t, "").Apply(t.Context(), name, r.config, nil)
		p.NoErrors(diags)
		for what, call := range map[string]func() (*acctest.Object, []*tfprotov6.Diagnostic){
			"create": func() (*acctest.Object, []*tfprotov6.Diagnostic) { return p.Plan(name, r.config, nil) },
			"read":   func() (*acctest.Object, []*tfprotov6.Diagnostic) { return p.Read(name, o) },
			"change": func() (*acctest.Object, []*tfprotov6.Diagnostic) { return p.Plan(name, r.config, o) },
		} {
			got, diags := call()
			if len(diags) > 0 || got.Deferred == nil || got.Deferred.Reason != tfprotov6.DeferredReasonProviderConfigUnknown {
				t.Errorf("%s of %s: %+v %s", what, name, got.Deferred, acctest.Render(diags))
			}
		}
	}
}

// TestUnknownTokenWithoutDeferral checks that creates, which need no API, are planned, and
// that existing objects cause one error with the two steps to run.
func TestUnknownTokenWithoutDeferral(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.ProtocolOfUnknownToken(t, false).Together()
	var all []*tfprotov6.Diagnostic
	for name, r := range everyResource(t, s) {
		if name == "mailhost_domain" {
			r.config["contact_info"] = nil
		}
		o, diags := s.Protocol(t, "").Apply(t.Context(), name, r.config, nil)
		p.NoErrors(diags)
		o.Identity = nil // like a CLI without identities
		plan, diags := p.Plan(name, r.config, nil)
		if acctest.Errors(diags) > 0 || plan.Deferred != nil {
			t.Errorf("the create of %s: %s", name, acctest.Render(diags))
		}
		read, diags := p.Read(name, o)
		if !read.State.Equal(o.State) {
			t.Errorf("the read of %s returns %s", name, read.State)
		}
		all = append(all, diags...)
	}
	if acctest.Errors(all) != 1 {
		t.Errorf("%d errors: %s", acctest.Errors(all), acctest.Render(all))
	}
	acctest.Expect(t, all, "ERROR: Provider setting not known yet", "token in the provider block", "-target=mailhost_service_account.", "\n  terraform apply\n")
}
