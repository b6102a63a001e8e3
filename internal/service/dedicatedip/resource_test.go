package dedicatedip_test

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
)

const address = "mailhost_dedicated_ip.test"

// option is the id of an offer of every account: eu or us.
func option(s *acctest.Server, region string) string {
	return api.DerivedID(s.AccountID, "dedicated-ip-option:"+region)
}

func config(s *acctest.Server, optionID string, attributes ...string) string {
	return s.ProviderConfig() + fmt.Sprintf("resource \"mailhost_dedicated_ip\" \"test\" {\n  option_id = %q\n%s\n}\n", optionID, strings.Join(attributes, "\n"))
}

func claim(t *testing.T, s *acctest.Server, region string) *api.DedicatedIP {
	t.Helper()
	d, err := s.Client.ClaimDedicatedIP(t.Context(), option(s, region))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// claimed returns the account's dedicated IPs.
func claimed(t *testing.T, s *acctest.Server) []api.DedicatedIP {
	t.Helper()
	var all []api.DedicatedIP
	for d, err := range s.Client.ListDedicatedIPs(t.Context(), api.ListDedicatedIPsRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

func value(name string, v knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), v)
}

func before(checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: checks}
}

func action(a plancheck.ResourceActionType) plancheck.PlanCheck {
	return plancheck.ExpectResourceAction(address, a)
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		var id string
		keep := func(*terraform.State) error {
			all := claimed(t, s)
			if len(all) != 1 || id != "" && all[0].ID != id {
				return fmt.Errorf("claimed %v, want %s alone", all, id)
			}
			id = all[0].ID
			return nil
		}
		acctest.Test(t, resource.TestCase{
			CheckDestroy: func(*terraform.State) error {
				if left, published := len(claimed(t, s)), strings.HasSuffix(t.Name(), "/published"); published != (left > 0) {
					return fmt.Errorf("after the destroy %d are left", left)
				}
				return nil
			},
			Steps: []resource.TestStep{
				{
					Config: config(s, option(s, "eu")),
					Check:  keep,
					ConfigStateChecks: []statecheck.StateCheck{
						value("option_id", knownvalue.StringExact(option(s, "eu"))), value("status", knownvalue.StringExact("active")),
						value("type", knownvalue.StringExact("dedicated")), value("country_code", knownvalue.StringExact("DE")), value("asn", knownvalue.Int64Exact(64496)),
						value("name", knownvalue.StringRegexp(regexp.MustCompile(`^Europe 198\.51\.100\.\d+$`))), value("created_at", knownvalue.NotNull()),
						value("ip_addresses", knownvalue.ListExact([]knownvalue.Check{knownvalue.ObjectExact(map[string]knownvalue.Check{
							"ip":               knownvalue.StringRegexp(regexp.MustCompile(`^198\.51\.100\.\d+$`)),
							"fcrdns_confirmed": knownvalue.Bool(false), "healthy": knownvalue.Bool(true), "rdns": knownvalue.Null(),
						})})),
					},
				},
				{
					Config:           config(s, strings.ToUpper(option(s, "eu"))),
					ConfigPlanChecks: before(plancheck.ExpectEmptyPlan()),
				},
				{
					// The API can't change an address; timeouts are only in the state.
					Config: config(s, option(s, "eu"), `timeouts = { create = "1h" }`),
					ConfigPlanChecks: before(action(plancheck.ResourceActionUpdate),
						plancheck.ExpectKnownValue(address, tfjsonpath.New("updated_at"), knownvalue.NotNull()),
						plancheck.ExpectKnownValue(address, tfjsonpath.New("ip_addresses"), knownvalue.ListSizeExact(1))),
					Check: keep,
				},
				{
					// If the option is omitted, it keeps the value of the state, also in
					// an update.
					Config:            s.ProviderConfig() + "resource \"mailhost_dedicated_ip\" \"test\" {\n  timeouts = { create = \"1h\" }\n}\n",
					ConfigPlanChecks:  before(plancheck.ExpectEmptyPlan()),
					ConfigStateChecks: []statecheck.StateCheck{value("option_id", knownvalue.StringExact(option(s, "eu")))},
				},
				{
					Config:            s.ProviderConfig() + "resource \"mailhost_dedicated_ip\" \"test\" {}\n",
					ConfigPlanChecks:  before(action(plancheck.ResourceActionUpdate), plancheck.ExpectKnownValue(address, tfjsonpath.New("option_id"), knownvalue.StringExact(option(s, "eu")))),
					ConfigStateChecks: []statecheck.StateCheck{value("option_id", knownvalue.StringExact(option(s, "eu")))},
					Check:             keep,
				},
				{ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"option_id", "timeouts"}},
				{
					ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"option_id", "timeouts"},
					ImportStateIdFunc: func(*terraform.State) (string, error) { return claimed(t, s)[0].Name, nil },
				},
				{
					ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"option_id", "timeouts"},
					ImportStateIdFunc: func(*terraform.State) (string, error) { return claimed(t, s)[0].IPAddresses[0].IP, nil },
				},
				{ResourceName: address, ImportState: true, ImportStateId: "203.0.113.99", ExpectError: regexp.MustCompile(`(?s)Can't import "203.0.113.99".*not\s+found`)},
			},
		})
	})
}

// TestDisappears checks that an address that was released outside Terraform is claimed
// again.
func TestDisappears(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		remove := func() {
			for _, d := range claimed(t, s) {
				if err := s.Client.ReleaseDedicatedIP(t.Context(), d.ID); err != nil {
					t.Error(err)
				}
			}
		}
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: config(s, option(s, "eu"))},
			{
				PreConfig:        remove,
				Config:           config(s, option(s, "eu")),
				ConfigPlanChecks: before(action(plancheck.ResourceActionCreate)),
				Check: func(*terraform.State) error {
					if n := len(claimed(t, s)); n != 1 {
						return fmt.Errorf("%d addresses are claimed", n)
					}
					return nil
				},
			},
			{
				PreConfig:   remove,
				Config:      s.ProviderConfig() + "resource \"mailhost_dedicated_ip\" \"test\" {}\n",
				ExpectError: regexp.MustCompile(`option_id is missing to claim a dedicated IP`),
			},
		}})
	})
}

// TestOptionKnownLater checks that the plan accepts an unknown option.
func TestOptionKnownLater(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	later := func(value string) string {
		return strings.ReplaceAll(config(s, "x"), `"x"`, "terraform_data.option.output") + "resource \"terraform_data\" \"option\" {\n  input = " + value + "\n}\n"
	}
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{Config: later("null"), ExpectError: regexp.MustCompile(`(?s)option_id is missing to claim a dedicated IP.*Europe,\s+DE,\s+16\s+left`)},
		{Config: later(fmt.Sprintf("%q", option(s, "eu")))},
	}})
}

// TestImportIntoEmptyState checks that the configured option is stored after an import,
// which can't read it, and that a later change replaces the address.
func TestImportIntoEmptyState(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := claim(t, s, "eu")
		block := fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, d.IPAddresses[0].IP)
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{
				// The import needs no option.
				Config: s.ProviderConfig() + "resource \"mailhost_dedicated_ip\" \"test\" {}\n" + block,
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             []plancheck.PlanCheck{action(plancheck.ResourceActionNoop)},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
				ConfigStateChecks: []statecheck.StateCheck{value("option_id", knownvalue.Null())},
			},
			{Config: s.ProviderConfig() + "removed {\n  from = " + address + "\n  lifecycle {\n    destroy = false\n  }\n}\n"},
			{Config: config(s, "eu"), ExpectError: regexp.MustCompile(`(?s)Invalid option_id.*option_id = "eu".*must be a\s+UUID`)},
			{
				Config: config(s, option(s, "eu")) + block,
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             []plancheck.PlanCheck{action(plancheck.ResourceActionUpdate), plancheck.ExpectKnownValue(address, tfjsonpath.New("id"), knownvalue.StringExact(d.ID))},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
				ConfigStateChecks: []statecheck.StateCheck{value("option_id", knownvalue.StringExact(option(s, "eu")))},
			},
			{
				Config:            config(s, option(s, "us")),
				ConfigPlanChecks:  before(action(plancheck.ResourceActionReplace)),
				ConfigStateChecks: []statecheck.StateCheck{value("country_code", knownvalue.StringExact("US"))},
			},
		}})
	})
}
