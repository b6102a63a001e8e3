package dedicatedip_test

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

// filters maps each filter to the addresses that match it.
var filters = map[string]struct {
	filters map[string]any
	want    []string
}{
	"all":     {nil, []string{"First", "Second", "Third"}},
	"status":  {map[string]any{"status": "releasing"}, []string{"Third"}},
	"country": {map[string]any{"country_code": "de"}, []string{"First", "Second"}},
	"none":    {map[string]any{"country_code": "US", "status": "active"}, nil},
}

func TestDataSources(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		stock(t, s)
		id := api.DerivedID(stockedAccount, "dedicated-ip:Second")
		all := s.ProviderConfig()
		var checks []statecheck.StateCheck
		for key, v := range map[string]string{"id": id, "name": "Second", "ip": "2001:DB8:0::1"} {
			all += fmt.Sprintf("data \"mailhost_dedicated_ip\" \"by_%s\" {\n  %s = %q\n}\n", key, key, v)
			by := "data.mailhost_dedicated_ip.by_" + key
			for name, v := range map[string]knownvalue.Check{
				"id": knownvalue.StringExact(id), "name": knownvalue.StringExact("Second"), "status": knownvalue.StringExact("active"),
				"type": knownvalue.StringExact("dedicated"), "country_code": knownvalue.StringExact("DE"), "asn": knownvalue.Int64Exact(64496),
				"created_at": knownvalue.NotNull(), "ip_addresses": knownvalue.ListExact([]knownvalue.Check{
					knownvalue.ObjectPartial(map[string]knownvalue.Check{"ip": knownvalue.StringExact("2001:db8::1"), "rdns": knownvalue.Null()}),
				}),
			} {
				checks = append(checks, statecheck.ExpectKnownValue(by, tfjsonpath.New(name), v))
			}
			if key != "ip" {
				v = "2001:db8::1"
			}
			checks = append(checks, statecheck.ExpectKnownValue(by, tfjsonpath.New("ip"), knownvalue.StringExact(v)))
		}
		for name, f := range filters {
			all += fmt.Sprintf("data \"mailhost_dedicated_ips\" %q {\n", name)
			for filter, v := range f.filters {
				all += fmt.Sprintf("  %s = %q\n", filter, v)
			}
			all += "}\n"
			var found []knownvalue.Check
			for _, name := range f.want {
				found = append(found, knownvalue.ObjectPartial(map[string]knownvalue.Check{"name": knownvalue.StringExact(name)}))
			}
			checks = append(checks, statecheck.ExpectKnownValue("data.mailhost_dedicated_ips."+name, tfjsonpath.New("dedicated_ips"), knownvalue.ListExact(found)))
		}
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: all, ConfigStateChecks: checks},
			{Config: all, ConfigPlanChecks: before(plancheck.ExpectEmptyPlan())},
		}})
	})
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

func TestDataSourceRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	for name, test := range map[string]struct {
		typeName string
		config   map[string]any
		want     []string
	}{
		"missing":       {ipType, map[string]any{"ip": "192.0.2.1"}, []string{`ERROR: Can't find the dedicated IP with ip = "192.0.2.1"`, "Check the spelling"}},
		"missing name":  {ipType, map[string]any{"name": "Moon"}, []string{`ERROR: Can't find the dedicated IP with name = "Moon"`}},
		"no argument":   {ipType, nil, []string{"id", "name", "ip"}},
		"two arguments": {ipType, map[string]any{"name": "Moon", "ip": "192.0.2.1"}, []string{"id", "name", "ip"}},
		"no id":         {ipType, map[string]any{"id": "Moon"}, []string{`ERROR at AttributeName("id")`, "id must be"}},
		"no name":       {ipType, map[string]any{"name": ""}, []string{`ERROR at AttributeName("name")`}},
		"no ip":         {ipType, map[string]any{"ip": "192.0.2"}, []string{`ERROR at AttributeName("ip")`, "ip must be an IP address such as 198.51.100.1"}},
		"no status":     {"mailhost_dedicated_ips", map[string]any{"status": "asleep"}, []string{`ERROR at AttributeName("status")`, "must be one of provisioning"}},
		"no country":    {"mailhost_dedicated_ips", map[string]any{"country_code": "Germany"}, []string{`ERROR at AttributeName("country_code")`, "ISO 3166"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := p.ReadData(test.typeName, test.config)
			acctest.Expect(t, diags, test.want...)
		})
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		stock(t, s)
		p := s.Protocol(t, "")
		for _, f := range filters {
			p.ExpectListed(t, ipType, f.filters, f.want...)
		}
		_, diags := p.List(ipType, map[string]any{"country_code": "Germany"}, 100)
		acctest.Expect(t, diags, `at AttributeName("country_code")`, "ISO 3166")
	})
}
