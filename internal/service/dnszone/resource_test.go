package dnszone_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const address = typeName + ".this"

// zone returns a configuration of a zone with the records, in HCL, and further attributes.
func zone(s *acctest.Server, records string, more ...string) string {
	return s.ProviderConfig() + fmt.Sprintf("resource %q \"this\" {\n  domain = \"example.com\"\n  records = {\n%s\n  }\n  %s\n}\n", typeName, records, strings.Join(more, "\n  "))
}

const forget = "removed {\n  from = %s\n  lifecycle {\n    destroy = false\n  }\n}\n"

// words returns a pattern in which a space also matches the CLI's line breaks.
func words(pattern string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(pattern, " ", `[\s│]+`))
}

func plans(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}}
}

// served checks the domain's records.
func served(t *testing.T, s *acctest.Server, want contents) resource.TestCheckFunc {
	return func(*terraform.State) error { expectExisting(t, s, want); return nil }
}

// TestMoves moves single records into a zone and out of it again, as the guide describes:
// no request changes a record.
func TestMoves(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	single := s.ProviderConfig() + "resource \"mailhost_dns_record\" \"www\" {\n  domain = \"example.com\"\n  name = \"www\"\n  type = \"A\"\n  value = \"192.0.2.1\"\n}\n"
	whole := zone(s, `"www A" = { values = ["192.0.2.1"] }`)
	record := contents{"www A 192.0.2.1": 3600}
	resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Providers(), Steps: []resource.TestStep{
		{Config: single},
		{Config: whole, ExpectError: words("Resources of their own manage DNS records|A DNS zone has the A record www")},
		{
			PreConfig: func() { exist(t, s, contents{"stranger A 192.0.2.9": 300}) },
			Config:    whole + fmt.Sprintf(forget, "mailhost_dns_record.www") + "import {\n  to = " + address + "\n  id = \"example.com\"\n}\n",
			Check:     served(t, s, record), ConfigPlanChecks: plans(plancheck.ResourceActionUpdate),
		},
		{Config: whole, ConfigPlanChecks: plans(plancheck.ResourceActionNoop)},
		{
			Config: single + fmt.Sprintf(forget, address) + "import {\n  to = mailhost_dns_record.www\n  id = \"example.com/A/www\"\n}\n",
			Check:  served(t, s, record),
		},
		{Config: single, Check: func(*terraform.State) error {
			assert.Check(t, is.DeepEqual(s.Sent(), []string{"create-dns-record", "delete-dns-record"})) // the single record, and the stranger's removal
			return nil
		}},
	}})
}

func remove(t *testing.T, s *acctest.Server, line string) {
	fields := strings.Fields(line)
	found, err := s.Client.FindDNSRecords(t.Context(), "example.com", fields[1], fields[0], fields[2])
	assert.NilError(t, err)
	assert.NilError(t, s.Client.DNSRecords.Delete(t.Context(), strconv.FormatInt(found[0].ID, 10)))
}

// outside is a change by others between a plan and its apply.
type outside func()

func (change outside) CheckPlan(context.Context, plancheck.CheckPlanRequest, *plancheck.CheckPlanResponse) {
	change()
}

// TestChangedAfterThePlan changes a domain's records between plan and apply. Core compares the
// known values of the two plans, and calls a difference a bug of the provider.
func TestChangedAfterThePlan(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, s *acctest.Server, name string){
		"added": func(t *testing.T, s *acctest.Server, name string) {
			exist(t, s, contents{"more" + name + " A 192.0.2.7": 300})
		},
		"removed": func(t *testing.T, s *acctest.Server, name string) { remove(t, s, "old"+name+" A 192.0.2.9") },
		"changed": func(t *testing.T, s *acctest.Server, name string) {
			remove(t, s, "old"+name+" A 192.0.2.9")
			exist(t, s, contents{"old" + name + " A 192.0.2.8": 300})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := acctest.NewServer(t, acctest.Options{})
			s.Domain(t, "example.com")
			exist(t, s, contents{"old A 192.0.2.9": 300, "old.dev A 192.0.2.9": 300})
			after := func(name string) resource.ConfigPlanChecks {
				return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{outside(func() { change(t, s, name) })}}
			}
			const records = `"www A" = { values = ["192.0.2.1"] }`
			www := contents{"www A 192.0.2.1": 3600}
			resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Providers(), Steps: []resource.TestStep{
				{Config: zone(s, records, `ignore = ["**.dev"]`), ConfigPlanChecks: after("")},
				{Config: zone(s, records), ConfigPlanChecks: after(".dev"), ExpectNonEmptyPlan: name != "removed"},
				{Config: zone(s, records), Check: served(t, s, www)},
			}})
		})
	}
}
