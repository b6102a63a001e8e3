package mailbox_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const address = "mailhost_mailbox.jane"

// mailbox returns a configuration of one mailbox.
func mailbox(s *acctest.Server, domain, localPart, firstName string) string {
	return s.ProviderConfig() + fmt.Sprintf(`
resource "mailhost_mailbox" "jane" {
  domain     = %q
  local_part = %q
  first_name = %q
  last_name  = "Doe"
}
`, domain, localPart, firstName)
}

// same expects attributes that a changed name must not change.
func same(before *api.Mailbox) []plancheck.PlanCheck {
	var checks []plancheck.PlanCheck
	for name, value := range map[string]string{
		"id": before.ID, "domain_id": before.DomainID, "domain_name": before.DomainName,
		"primary_email": before.PrimaryEmail, "status": before.Status, "created_at": before.CreatedAt,
	} {
		checks = append(checks, plancheck.ExpectKnownValue(address, tfjsonpath.New(name), knownvalue.StringExact(value)))
	}
	return checks
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "bücher.com")
		var before api.Mailbox
		read := func() {
			m, err := s.Client.FindMailbox(t.Context(), "jane@bücher.com")
			if err != nil {
				t.Error(err)
				return
			}
			before = *m
		}
		empty := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{
				Config: mailbox(s, "Bücher.COM.", "Jane", "Jane"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("domain"), knownvalue.StringExact("Bücher.COM.")),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("local_part"), knownvalue.StringExact("Jane")),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("primary_email"), knownvalue.StringExact("jane@"+d.Name)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("domain_id"), knownvalue.StringExact(d.ID)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("workspace_id"), knownvalue.StringExact(s.WorkspaceID)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("aliases"), knownvalue.ListExact(nil)),
				},
			},
			{Config: mailbox(s, "xn--bcher-kva.com", "jane", "Jane"), ConfigPlanChecks: empty},
			{Config: mailbox(s, d.ID, "JANE", "Jane"), ConfigPlanChecks: empty},
			{
				PreConfig: read,
				Config:    mailbox(s, "bücher.com", "jane", "Janet"),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
					checks(func() []plancheck.PlanCheck { return same(&before) }),
					plancheck.ExpectUnknownValue(address, tfjsonpath.New("updated_at")),
				}},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("first_name"), knownvalue.StringExact("Janet")),
				},
			},
			{ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"domain", "local_part"}},
			{ResourceName: address, ImportState: true, ImportStateId: "Jane@Bücher.com", ImportStateVerify: true, ImportStateVerifyIgnore: []string{"domain", "local_part"}},
			{
				Config:           mailbox(s, "bücher.com", "john", "Janet"),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionReplace)}},
			},
		}})
	})
}

// TestImportIntoEmptyState checks that the plan after an import with an import block is
// empty for another spelling than the API's.
func TestImportIntoEmptyState(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "bücher.com")
		m := s.Mailbox(t, "bücher.com", "jane")
		for name, id := range map[string]string{"address": "JANE@bücher.com.", "id": m.ID} {
			t.Run(name, func(t *testing.T) {
				acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{
					Config: mailbox(s, "BÜCHER.com", "Jane", "Jane") + fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, id),
					ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
						plancheck.ExpectResourceAction(address, plancheck.ResourceActionNoop),
					}},
				}, {
					// Another test checks this.
					Config: s.ProviderConfig() + fmt.Sprintf("removed {\n  from = %s\n  lifecycle {\n    destroy = false\n  }\n}\n", address),
				}}})
			})
		}
	})
}

func TestDisappears(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.com")
		config := mailbox(s, "example.com", "jane", "Jane")
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig: func() {
					if err := s.Client.DeleteMailbox(t.Context(), "jane@example.com"); err != nil {
						t.Error(err)
					}
				},
				Config: config,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionCreate),
				}},
			},
		}})
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	s.Mailbox(t, "example.com", "jane")
	for name, c := range map[string]struct {
		config string
		want   string
	}{
		"local part":     {mailbox(s, "example.com", "jane doe", "Jane"), `local_part must be`},
		"domain":         {mailbox(s, "exa mple", "jane", "Jane"), `domain must be`},
		"no name":        {mailbox(s, "example.com", "jane", ""), `first_name must be 1 to 100 characters`},
		"unknown domain": {mailbox(s, "missing.example", "jane", "Jane"), `(?s)domain += "missing.example".*has no domain`},
		"taken":          {mailbox(s, "example.com", "Jane", "Jane"), `(?s)mailbox jane@example.com exists already.*import it`},
	} {
		t.Run(name, func(t *testing.T) {
			acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{Config: c.config, ExpectError: regexp.MustCompile(c.want)}}})
		})
	}
}
