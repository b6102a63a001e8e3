package authorization_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const typeName = "mailhost_authorizations"

// grant grants a capability on a domain, outside Terraform.
func grant(t *testing.T, s *acctest.Server, subjectID string, key vocab.Capability, domainID string) *api.Authorization {
	t.Helper()
	capability, on := string(key), vocab.ResourceDomain
	return s.Grant(t, api.GrantAuthorizationBody{
		GrantKind: vocab.GrantCapability, SubjectType: vocab.SubjectGroup, SubjectID: subjectID,
		CapabilityKey: &capability, ResourceType: &on, ResourceID: &domainID,
	})
}

func TestDataSource(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "example.com")
		sales := grant(t, s, "sales", vocab.CapMailboxCreate, d.ID)
		support := grant(t, s, "support", vocab.CapMailboxCreate, d.ID)
		ops := grant(t, s, "ops", vocab.CapDNSRecordCreate, d.ID)
		s.RevokeGrant(t, support.ID)
		config := s.ProviderConfig() + `
data "mailhost_authorizations" "owners" {
  grant_kind   = "account_owner"
  subject_type = "service_account"
}
data "mailhost_authorizations" "groups" {
  subject_type = "group"
}
data "mailhost_authorizations" "all_groups" {
  subject_type    = "group"
  include_revoked = true
}
data "mailhost_authorizations" "mailboxes" {
  capability_key  = "mailbox.create"
  include_revoked = false
}
data "mailhost_authorizations" "of_ops" {
  subject_id = "ops"
}
data "mailhost_authorizations" "none" {
  subject_id     = "ops"
  capability_key = "mailbox.create"
}
`
		found := func(name string, all ...knownvalue.Check) statecheck.StateCheck {
			return statecheck.ExpectKnownValue("data.mailhost_authorizations."+name, tfjsonpath.New("authorizations"), knownvalue.ListExact(all))
		}
		is := func(a *api.Authorization) knownvalue.Check {
			return knownvalue.ObjectPartial(map[string]knownvalue.Check{"id": knownvalue.StringExact(a.ID)})
		}
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{
				found("owners", knownvalue.ObjectPartial(map[string]knownvalue.Check{
					"grant_kind": knownvalue.StringExact("account_owner"), "capability_key": knownvalue.Null(), "resource_id": knownvalue.Null(),
				})),
				found("groups", is(sales), is(ops)),
				found("all_groups", is(sales), knownvalue.ObjectPartial(map[string]knownvalue.Check{
					"id": knownvalue.StringExact(support.ID), "revoked_at": knownvalue.NotNull(),
				}), is(ops)),
				found("mailboxes", is(sales)),
				found("of_ops", knownvalue.ObjectExact(map[string]knownvalue.Check{
					"id": knownvalue.StringExact(ops.ID), "grant_kind": knownvalue.StringExact("capability"),
					"subject_type": knownvalue.StringExact("group"), "subject_id": knownvalue.StringExact("ops"),
					"capability_key": knownvalue.StringExact("dns_record.create"), "resource_type": knownvalue.StringExact("domain"),
					"resource_id": knownvalue.StringExact(d.ID), "created_at": knownvalue.StringExact(*ops.CreatedAt), "revoked_at": knownvalue.Null(),
				})),
				found("none"),
			}},
			{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		}})
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for name, want := range map[string]string{"subject_type": `subject_type must be one of user, group`, "grant_kind": `grant_kind must be one of capability`} {
		t.Run(name, func(t *testing.T) {
			config := s.ProviderConfig() + fmt.Sprintf("data \"mailhost_authorizations\" \"a\" {\n  %s = \"robot\"\n}", name)
			acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{Config: config, ExpectError: regexp.MustCompile(want)}}})
		})
	}
}

// TestRefusedByAPI checks that the API's error about a filter is reported at the filter's
// attribute.
func TestRefusedByAPI(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	url := s.Front(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		acctest.Refuse(w, http.StatusUnprocessableEntity, "query.capability_key", "there is no such capability")
	})
	_, diags := s.Protocol(t, url).ReadData(typeName, map[string]any{"capability_key": "mailbox.fly"})
	acctest.Expect(t, diags, `ERROR at AttributeName("capability_key"): Can't list the authorizations`, "There is no such capability.", "request id refused-by-test")
}
