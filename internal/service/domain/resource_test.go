package domain_test

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
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

const address = "mailhost_domain.test"

// registrant is a contact_info; %s is the phone number.
const registrant = `
  contact_info = {
    first_name = "Zoë", last_name = "O'Neil", organization = "Example GmbH", email = "Zoe@Example.ORG", phone = "%s"
    address_1 = "Weg 1", zip = "10115", city = "Berlin", state = "BE", country = "de"
  }`

// config returns a provider block and one domain.
func config(s *acctest.Server, name string, attributes ...string) string {
	return s.ProviderConfig() + fmt.Sprintf("resource \"mailhost_domain\" \"test\" {\n  name = %q\n%s\n}\n", name, strings.Join(attributes, "\n"))
}

func contactInfo(phone string) string { return fmt.Sprintf(registrant, phone) }

// get reads a domain of the account.
func get(t *testing.T, s *acctest.Server, name string) *api.Domain {
	t.Helper()
	d, err := s.Client.GetDomain(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func value(name string, v knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), v)
}

func planned(name string, v knownvalue.Check) plancheck.PlanCheck {
	return plancheck.ExpectKnownValue(address, tfjsonpath.New(name), v)
}

func action(a plancheck.ResourceActionType) plancheck.PlanCheck {
	return plancheck.ExpectResourceAction(address, a)
}

func text(s string) knownvalue.Check { return knownvalue.StringExact(s) }

var emptyPlan = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		const name, canonical = "Bücher-Laden.DE", "xn--bcher-laden-thb.de"
		acctest.Test(t, resource.TestCase{
			CheckDestroy: func(*terraform.State) error {
				_, err := s.Client.GetDomain(t.Context(), canonical)
				if published := strings.HasSuffix(t.Name(), "/published"); published == client.IsNotFound(err) {
					return fmt.Errorf("after the destroy: %w", err)
				}
				return nil
			},
			Steps: []resource.TestStep{
				{
					Config: config(s, name, contactInfo("+4930123456")),
					ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
						action(plancheck.ResourceActionCreate), planned("auto_renew", knownvalue.Bool(false)), planned("redirect_url", knownvalue.Null()),
					}},
					ConfigStateChecks: []statecheck.StateCheck{
						value("name", text(name)), value("status", text("active")), value("workspace_id", text(s.WorkspaceID)),
						value("auto_renew", knownvalue.Bool(false)), value("redirect_url", knownvalue.Null()), value("redirect_mode", knownvalue.Null()),
						value("outbound_routing_ready", knownvalue.Bool(true)), value("tags", knownvalue.ListSizeExact(0)),
						value("dedicated_ip_id", knownvalue.Null()), value("inbound_tenant_id", knownvalue.Null()),
						statecheck.ExpectKnownValue(address, tfjsonpath.New("contact_info").AtMapKey("country"), text("de")),
						statecheck.ExpectSensitiveValue(address, tfjsonpath.New("contact_info").AtMapKey("phone")),
						statecheck.ExpectSensitiveValue(address, tfjsonpath.New("contact_info").AtMapKey("email")),
					},
				},
				{
					Config:           config(s, "XN--BCHER-LADEN-THB.de.", contactInfo("+4930123456"), "workspace_id = "+quote(strings.ToUpper(s.WorkspaceID)), "auto_renew = false"),
					ConfigPlanChecks: emptyPlan,
				},
				{
					Config: config(s, name, contactInfo("+4930123456"), "auto_renew = true", `redirect_url = "https://www.Example.com"`),
					ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
						action(plancheck.ResourceActionUpdate), planned("id", knownvalue.NotNull()), planned("status", text("active")),
						planned("workspace_id", text(s.WorkspaceID)), planned("created_at", knownvalue.NotNull()), planned("tags", knownvalue.ListSizeExact(0)),
						plancheck.ExpectUnknownValue(address, tfjsonpath.New("redirect_mode")), plancheck.ExpectUnknownValue(address, tfjsonpath.New("updated_at")),
					}},
					ConfigStateChecks: []statecheck.StateCheck{
						value("auto_renew", knownvalue.Bool(true)), value("redirect_url", text("https://www.Example.com")), value("redirect_mode", text("301")),
					},
				},
				{
					Config:           config(s, name, contactInfo("+4930123456"), "auto_renew = true", `redirect_url = "HTTPS://www.example.com:443/"`),
					ConfigPlanChecks: emptyPlan,
				},
				{ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"acquisition", "contact_info", "name", "purchase_price", "redirect_url"}},
				{
					ResourceName: address, ImportState: true, ImportStateId: "BÜCHER-laden.de.", ImportStateVerify: true,
					ImportStateVerifyIgnore: []string{"acquisition", "contact_info", "name", "purchase_price", "redirect_url"},
				},
				{
					Config: config(s, name, contactInfo("+4930123456"), "auto_renew = true"),
					ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
						action(plancheck.ResourceActionUpdate), planned("redirect_url", knownvalue.Null()), planned("redirect_mode", knownvalue.Null()),
					}},
					ConfigStateChecks: []statecheck.StateCheck{
						value("auto_renew", knownvalue.Bool(true)), value("redirect_url", knownvalue.Null()), value("redirect_mode", knownvalue.Null()),
					},
				},
			},
		})
	})
}

func quote(s string) string { return fmt.Sprintf("%q", s) }

// TestContactInfoIsStored checks that a change of contact_info after the purchase only
// changes the state.
func TestContactInfoIsStored(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	stored := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
		action(plancheck.ResourceActionUpdate), planned("updated_at", knownvalue.NotNull()), planned("redirect_mode", knownvalue.Null()),
	}}
	var before string
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{Config: config(s, "example.com", contactInfo("+4930123456"))},
		{
			PreConfig:        func() { before = get(t, s, "example.com").UpdatedAt },
			Config:           config(s, "example.com", contactInfo("+49301111111")),
			ConfigPlanChecks: stored,
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(address, tfjsonpath.New("contact_info").AtMapKey("phone"), text("+49301111111")),
			},
		},
		{
			Config:            config(s, "example.com"),
			ConfigPlanChecks:  stored,
			ConfigStateChecks: []statecheck.StateCheck{value("contact_info", knownvalue.Null())},
			Check: func(*terraform.State) error {
				if after := get(t, s, "example.com").UpdatedAt; after != before {
					return fmt.Errorf("a change of the domain was sent to the API: %s, %s", before, after)
				}
				return nil
			},
		},
	}})
}

// TestImportIntoEmptyState checks that the configured contact_info is stored after an
// import, without a replacement or a purchase.
func TestImportIntoEmptyState(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.com")
		s.Domain(t, "example.net")
		block := func(id string) string { return fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, id) }
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{
				Config: config(s, "EXAMPLE.com.") + block("Example.COM"),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             []plancheck.PlanCheck{action(plancheck.ResourceActionNoop)},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
			},
			{Config: s.ProviderConfig() + "removed {\n  from = " + address + "\n  lifecycle {\n    destroy = false\n  }\n}\n"},
			{
				Config: config(s, "example.com", contactInfo("+4930123456")) + block(strings.ToUpper(get(t, s, "example.com").ID)),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             []plancheck.PlanCheck{action(plancheck.ResourceActionUpdate), planned("updated_at", knownvalue.NotNull())},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
			},
			{ResourceName: address, ImportState: true, ImportStateId: "example.org", ExpectError: regexp.MustCompile(`(?s)Can't import "example.org".*not\s+found`)},
		}})
	})
}

// TestAdopt checks that a domain that the account owns is adopted and changed to the
// configuration.
func TestAdopt(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		owned := s.Domain(t, "example.com")
		yes := true
		_, err := s.Client.UpdateDomain(t.Context(), owned.ID, api.UpdateDomainBody{AutoRenew: &yes, RedirectURL: api.NullableFrom(new("https://old.example.com/"))})
		if err != nil {
			t.Fatal(err)
		}
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{
				Config: config(s, "Example.com", `redirect_url = "https://new.example.com"`, `on_existing = "adopt"`),
				ConfigStateChecks: []statecheck.StateCheck{
					value("id", text(owned.ID)), value("name", text("Example.com")), value("auto_renew", knownvalue.Bool(false)),
					value("redirect_url", text("https://new.example.com")), value("redirect_mode", text("301")), value("contact_info", knownvalue.Null()),
				},
			},
		}})
	})
}

// TestDisappears checks that a domain that is deleted outside Terraform is bought again,
// or adopted if it exists again.
func TestDisappears(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		remove := func() {
			if err := s.Client.DeleteDomain(t.Context(), "example.com"); err != nil {
				t.Error(err)
			}
		}
		create := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{action(plancheck.ResourceActionCreate)}}
		var back string
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: config(s, "example.com", contactInfo("+4930123456"))},
			{
				PreConfig:        remove,
				Config:           config(s, "example.com", contactInfo("+4930123456")),
				ConfigPlanChecks: create,
			},
			{
				PreConfig:        func() { remove(); back = s.Domain(t, "example.com").ID },
				Config:           config(s, "example.com", contactInfo("+4930123456"), `on_existing = "adopt"`),
				ConfigPlanChecks: create,
				Check: func(state *terraform.State) error {
					if id := state.RootModule().Resources[address].Primary.ID; id != back {
						return fmt.Errorf("the state has %s, the account %s", id, back)
					}
					return nil
				},
			},
			{
				PreConfig:   remove,
				Config:      config(s, "example.com"),
				ExpectError: regexp.MustCompile(`contact_info is missing to buy the domain example.com`),
			},
		}})
	})
}

// TestDrift checks that the next apply reverts changes outside Terraform, and that changes
// by the API cause no plan.
func TestDrift(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		w := s.Workspace(t, "Sales")
		change := func(body api.UpdateDomainBody) func() {
			return func() {
				if _, err := s.Client.UpdateDomain(t.Context(), "example.com", body); err != nil {
					t.Error(err)
				}
			}
		}
		configured := config(s, "example.com", contactInfo("+4930123456"), `redirect_url = "https://www.example.com/"`, "workspace_id = "+quote(s.WorkspaceID))
		no, yes := false, true
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: configured},
			{PreConfig: change(api.UpdateDomainBody{AutoRenew: &no}), Config: configured, ConfigPlanChecks: emptyPlan}, // only updated_at changes
			{
				PreConfig: change(api.UpdateDomainBody{
					AutoRenew: &yes, WorkspaceID: &w.ID, RedirectURL: api.NullableFrom(new("https://elsewhere.example.com/")),
				}),
				Config:           configured,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{action(plancheck.ResourceActionUpdate)}},
				Check: func(*terraform.State) error {
					if d := get(t, s, "example.com"); d.AutoRenew || d.WorkspaceID != s.WorkspaceID || *d.RedirectURL != "https://www.example.com/" {
						return fmt.Errorf("not reverted: %+v", d)
					}
					return nil
				},
			},
		}})
	})
}

// TestContactRefusedOnTheCLI checks that the API's error about contact_info names the
// field, wherever the CLI shows it.
func TestContactRefusedOnTheCLI(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{
		Config:      strings.ReplaceAll(config(s, "example.com", contactInfo("+4930123456")), s.URL, refuseContact(t, s)),
		ExpectError: regexp.MustCompile(`(?s)Can't buy the domain example.com.*mailhost_domain.test.*contact_info.email: The\s+registry\s+refuses\s+it.*contact_info.phone: Has`),
	}}})
}

// TestNotRegistrableOnTheCLI checks that a name that can't be bought fails in the plan, at
// its line.
func TestNotRegistrableOnTheCLI(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{
		Config: config(s, "mail.example.org", contactInfo("+4930123456")), PlanOnly: true,
		ExpectError: regexp.MustCompile(`(?s)Can't buy the domain mail.example.org.*name = "mail.example.org".*lies\s+below\s+"example.org"`),
	}}})
}

// TestReplaceAndMove checks that another name, even an unknown one, replaces the domain,
// and that another workspace changes it in place.
func TestReplaceAndMove(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	w := s.Workspace(t, "Sales")
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config:            config(s, "example.com", contactInfo("+4930123456"), "workspace_id = "+quote(strings.ToUpper(w.ID))),
			ConfigStateChecks: []statecheck.StateCheck{value("workspace_id", text(strings.ToUpper(w.ID)))},
		},
		{
			// Without the attribute the domain stays in its workspace.
			Config:           config(s, "example.com", contactInfo("+4930123456")),
			ConfigPlanChecks: emptyPlan,
		},
		{
			Config:            config(s, "example.com", contactInfo("+4930123456"), "workspace_id = "+quote(s.WorkspaceID)),
			ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{action(plancheck.ResourceActionUpdate)}},
			ConfigStateChecks: []statecheck.StateCheck{value("workspace_id", text(s.WorkspaceID))},
		},
		{
			Config:      config(s, "example.com", contactInfo("+4930123456"), `workspace_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"`),
			ExpectError: regexp.MustCompile(`(?s)Can't update the domain example.com.*with mailhost_domain.test,.*workspace_id = "7f0c`),
		},
		{
			Config:           config(s, "example.net", contactInfo("+4930123456")),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{action(plancheck.ResourceActionReplace)}},
		},
		{
			Config: strings.ReplaceAll(config(s, "x", contactInfo("+4930123456")), `"x"`, "terraform_data.name.output") +
				"resource \"terraform_data\" \"name\" {\n  input = \"example.org\"\n}\n",
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{action(plancheck.ResourceActionReplace)}},
		},
	}})
}
