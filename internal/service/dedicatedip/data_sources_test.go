package dedicatedip_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const stockedAccount = "0a7d6d0e-3f3b-4c57-9d0c-4b0f8a1f5d10"

// stock switches the server to another account, with addresses that a claim can't create.
func stock(t *testing.T, s *acctest.Server) {
	t.Helper()
	err := s.Service.LoadFixture(t.Context(), &fixture.Fixture{Accounts: []fixture.Account{{
		ID: stockedAccount,
		DedicatedIPOptions: []fixture.DedicatedIPOption{
			{Name: "Europe", CountryCode: "DE", ASN: 64496, Addresses: []string{"198.51.100.1", "2001:db8::1"}},
			{Name: "America", CountryCode: "US", Addresses: []string{"203.0.113.1", "203.0.113.2"}},
		},
		DedicatedIPs: []fixture.DedicatedIP{
			{Name: "First", Option: "Europe", IP: "198.51.100.1", FCrDNSConfirmed: true},
			{Name: "Second", Option: "Europe", IP: "2001:db8::1"},
			{Name: "Third", Option: "America", IP: "203.0.113.1", Status: vocab.DedicatedIPReleasing},
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	s.AccountID, s.WorkspaceID = stockedAccount, api.DefaultWorkspaceID(stockedAccount)
	if s.Token, err = s.Service.IssueOwnerToken(t.Context(), s.AccountID, "acceptance test"); err != nil {
		t.Fatal(err)
	}
}

func TestDataSourceOptions(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		stock(t, s)
		step := resource.TestStep{Config: s.ProviderConfig() + `data "mailhost_dedicated_ip_options" "all" {}`}
		if s.PublishedOnly {
			step.ExpectError = regexp.MustCompile(`(?s)Can't list the dedicated IP options.*no operation for it.*published\s+operations\s+only`)
		} else {
			offer := func(name, country string, left int64) knownvalue.Check {
				return knownvalue.ObjectExact(map[string]knownvalue.Check{
					"id": knownvalue.StringExact(api.DerivedID(stockedAccount, "dedicated-ip-option:"+name)), "name": knownvalue.StringExact(name),
					"type": knownvalue.StringExact("dedicated"), "country_code": knownvalue.StringExact(country), "available": knownvalue.Int64Exact(left),
				})
			}
			step.ConfigStateChecks = []statecheck.StateCheck{statecheck.ExpectKnownValue("data.mailhost_dedicated_ip_options.all", tfjsonpath.New("dedicated_ip_options"),
				knownvalue.ListExact([]knownvalue.Check{offer("Europe", "DE", 0), offer("America", "US", 1)}))}
		}
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{step}})
	})
}
