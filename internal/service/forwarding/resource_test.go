package forwarding_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const address = "mailhost_forwarding.this"

// rule returns a configuration of one rule.
func rule(s *acctest.Server, attributes ...string) string {
	return s.ProviderConfig() + "resource \"mailhost_forwarding\" \"this\" {\n  " + strings.Join(attributes, "\n  ") + "\n}\n"
}

func has(name string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), want)
}

func plans(action plancheck.ResourceActionType, more ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: append([]plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}, more...)}
}

// TestVolatile checks that a verification and its expiry cause no plan.
func TestVolatile(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	config := rule(s, `target_email = "jane@example.org"`)
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{Config: config},
		{
			PreConfig: func() { s.Advance(100 * hour) }, Config: config, ConfigPlanChecks: plans(plancheck.ResourceActionNoop),
			ConfigStateChecks: []statecheck.StateCheck{has("verification_state", knownvalue.StringExact(vocab.VerificationExpired))},
		},
		{ // as the documentation recommends
			Taint: []string{address}, Config: config, ConfigPlanChecks: plans(plancheck.ResourceActionReplace),
			ConfigStateChecks: []statecheck.StateCheck{has("verification_state", knownvalue.StringExact(vocab.VerificationPending))},
		},
		{
			PreConfig: func() { confirm(t, s) }, Config: config, ConfigPlanChecks: plans(plancheck.ResourceActionNoop),
			ConfigStateChecks: []statecheck.StateCheck{
				has("verification_state", knownvalue.StringExact(vocab.VerificationVerified)),
				has("active", knownvalue.Bool(true)),
			},
		},
	}})
}
