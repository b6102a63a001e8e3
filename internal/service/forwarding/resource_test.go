package forwarding_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
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

func TestLifecycle(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "bücher.com")
		s.Mailbox(t, d.ID, "office")
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{
				Config: rule(s, `domain = "Bücher.Com."`, `target_email = "Jane@Example.ORG"`),
				ConfigStateChecks: []statecheck.StateCheck{
					has("domain", knownvalue.StringExact("Bücher.Com.")),
					has("target_email", knownvalue.StringExact("Jane@Example.ORG")),
					has("scope_type", knownvalue.StringExact(vocab.ScopeDomain)),
					has("scope_id", knownvalue.StringExact(d.ID)),
					has("workspace_id", knownvalue.Null()),
					has("active", knownvalue.Bool(false)),
					has("verification_required", knownvalue.Bool(true)),
					has("verification_state", knownvalue.StringExact(vocab.VerificationPending)),
					has("verification_sent_at", knownvalue.NotNull()),
					has("verification_verified_at", knownvalue.Null()),
				},
			},
			{Config: rule(s, `domain = "xn--bcher-kva.com"`, `target_email = "jane@example.org"`), PlanOnly: true},
			{Config: rule(s, fmt.Sprintf("domain = %q", strings.ToUpper(d.ID)), `target_email = "JANE@example.org"`), PlanOnly: true},
			{
				Config: rule(s, `domain = "bücher.com"`, `target_email = "office@bücher.com"`),
				ConfigPlanChecks: plans(plancheck.ResourceActionUpdate,
					plancheck.ExpectKnownValue(address, tfjsonpath.New("scope_id"), knownvalue.StringExact(d.ID)),
					plancheck.ExpectKnownValue(address, tfjsonpath.New("id"), knownvalue.NotNull()),
					plancheck.ExpectKnownValue(address, tfjsonpath.New("created_at"), knownvalue.NotNull()),
					plancheck.ExpectUnknownValue(address, tfjsonpath.New("verification_state"))),
				ConfigStateChecks: []statecheck.StateCheck{
					has("active", knownvalue.Bool(true)),
					has("verification_state", knownvalue.StringExact(vocab.VerificationInternal)),
					has("verification_sent_at", knownvalue.Null()),
				},
			},
			{ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"domain", "target_email"}},
			{
				ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"domain", "target_email"},
				ImportStateId: "BÜCHER.com/Office@bücher.com",
			},
			{
				ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"domain", "target_email"},
				ImportStateId: d.ID + "/office@bücher.com",
			},
			{
				Config:           rule(s, `target_email = "office@bücher.com"`),
				ConfigPlanChecks: plans(plancheck.ResourceActionReplace),
				ConfigStateChecks: []statecheck.StateCheck{
					has("scope_type", knownvalue.StringExact(vocab.ScopeAccount)),
					has("scope_id", knownvalue.StringExact(s.AccountID)),
				},
			},
			{ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"target_email"}, ImportStateId: "office@bücher.com"},
			{
				Config:           rule(s, fmt.Sprintf("workspace_id = %q", strings.ToUpper(s.WorkspaceID)), `target_email = "office@bücher.com"`),
				ConfigPlanChecks: plans(plancheck.ResourceActionReplace),
			},
			{Config: rule(s, fmt.Sprintf("workspace_id = %q", s.WorkspaceID), `target_email = "office@bücher.com"`), PlanOnly: true},
			{
				ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"target_email", "workspace_id"},
				ImportStateId: s.WorkspaceID + "/office@bücher.com",
			},
		}})
	})
}

// TestImportIntoEmptyState checks that the plan after an import is empty for any spelling
// of the domain.
func TestImportIntoEmptyState(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "example.com")
		create(t, s, api.CreateForwardingBody{TargetEmail: "jane@example.org", Domain: &d.ID})
		f := create(t, s, api.CreateForwardingBody{TargetEmail: "joe@example.org", WorkspaceID: &s.WorkspaceID})
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{
			Config: s.ProviderConfig() + fmt.Sprintf(`
import {
  to = mailhost_forwarding.this
  id = "Example.com/JANE@example.org"
}
import {
  to = mailhost_forwarding.other
  id = %[3]q
}
resource "mailhost_forwarding" "this" {
  domain       = %[1]q
  target_email = "Jane@Example.org"
}
resource "mailhost_forwarding" "other" {
  workspace_id = upper(%[2]q)
  target_email = "JOE@example.org"
}
`, d.ID, s.WorkspaceID, f.ID),
			ConfigPlanChecks: plans(plancheck.ResourceActionNoop, plancheck.ExpectResourceAction("mailhost_forwarding.other", plancheck.ResourceActionNoop)),
			ConfigStateChecks: []statecheck.StateCheck{
				has("domain", knownvalue.StringExact("example.com")),
				has("workspace_id", knownvalue.Null()),
			},
		}}})
	})
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

// TestDrift checks that a change outside Terraform is reverted, and that a resent message
// causes no plan.
func TestDrift(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		config := rule(s, `target_email = "jane@example.org"`)
		retarget := func(target string) {
			_, err := s.Client.UpdateForwarding(t.Context(), rules(t, s)[0].ID, api.UpdateForwardingBody{TargetEmail: target})
			must(t, err)
		}
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig: func() { retarget("joe@example.org") }, Config: config,
				ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate, plancheck.ExpectKnownValue(address, tfjsonpath.New("target_email"), knownvalue.StringExact("jane@example.org"))),
				ConfigStateChecks: []statecheck.StateCheck{has("target_email", knownvalue.StringExact("jane@example.org"))},
			},
			{
				PreConfig: func() {
					if got := rules(t, s)[0].TargetEmail; got != "jane@example.org" {
						t.Errorf("mail goes to %s", got)
					}
					s.Advance(hour)
					retarget("jane@example.org")
				},
				Config: config, ConfigPlanChecks: plans(plancheck.ResourceActionNoop),
			},
		}})
	})
}

func TestDisappears(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "example.com")
		config := rule(s, `target_email = "jane@example.org"`, `domain = "example.com"`)
		var id string
		acctest.Test(t, resource.TestCase{
			CheckDestroy: func(*terraform.State) error {
				if n := len(rules(t, s)); s.PublishedOnly != (n == 1) {
					return fmt.Errorf("%d rules are left", n)
				}
				return nil
			},
			Steps: []resource.TestStep{
				{Config: config, Check: func(state *terraform.State) error {
					id = state.RootModule().Resources[address].Primary.ID
					return nil
				}},
				{
					PreConfig: func() { must(t, s.Client.DeleteForwarding(t.Context(), id)) },
					Config:    config, ConfigPlanChecks: plans(plancheck.ResourceActionCreate),
				},
				{ // deleted with its domain
					PreConfig: func() {
						must(t, s.Client.DeleteDomain(t.Context(), d.ID))
						s.Domain(t, "example.com")
					},
					Config: config, ConfigPlanChecks: plans(plancheck.ResourceActionCreate),
				},
			},
		})
	})
}

func TestRefused(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	f := create(t, s, api.CreateForwardingBody{TargetEmail: "jane@example.org", Domain: new("example.com")})
	fails := func(want string, attributes ...string) resource.TestStep {
		return resource.TestStep{Config: rule(s, attributes...), ExpectError: regexp.MustCompile(strings.ReplaceAll(want, " ", `\s+`))}
	}
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		fails(`target_email must be an e-mail address`, `target_email = "jane.example.org"`),
		fails(`domain must be a domain's UUID or a domain name`, `target_email = "jane@example.org"`, `domain = "example"`),
		fails(`workspace_id must be a UUID`, `target_email = "jane@example.org"`, `workspace_id = "default"`),
		fails(`Both domain and workspace_id`, `target_email = "jane@example.org"`, `domain = "example.com"`, fmt.Sprintf("workspace_id = %q", s.WorkspaceID)),
		fails(`domain = "example.net"(?s:.*)The account has no domain "example.net"(?s:.*)refer to it`, `target_email = "jane@example.org"`, `domain = "example.net"`),
		fails(`workspace_id = "7f0c1c1e-(?s:.*)The account has no workspace`, `target_email = "jane@example.org"`, `workspace_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"`),
		fails(`exists already(?s:.*)`+f.ID+`(?s:.*)id = "example.com/Jane@example.org"`, `target_email = "Jane@example.org"`, `domain = "example.com"`),
		{
			Config: rule(s, `target_email = "jane@example.org"`), ResourceName: address, ImportState: true, ImportStateId: "example.com/joe@example.org",
			ExpectError: regexp.MustCompile(`Forwarding\s+rule\s+to\s+joe@example.org\s+of\s+domain\s+example.com:\s+not\s+found`),
		},
	}})
}
