package serviceaccount_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

func TestDataSources(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	old := create(t, s, "CI")
	revoke(t, s, "CI")
	a := create(t, s, "CI")
	config := s.ProviderConfig() + fmt.Sprintf(`
data "mailhost_service_account" "by_id" {
  id = %q
}
data "mailhost_service_account" "by_name" {
  name = "CI"
}
data "mailhost_service_account" "revoked" {
  id = %q
}
data "mailhost_service_accounts" "all" {}
`, a.ID, old.ID)
	const of = "data.mailhost_service_account."
	one := func(id string, revoked knownvalue.Check) knownvalue.Check {
		return knownvalue.ObjectPartial(map[string]knownvalue.Check{"id": knownvalue.StringExact(id), "revoked_at": revoked})
	}
	checks := []statecheck.StateCheck{
		statecheck.ExpectKnownValue(of+"revoked", tfjsonpath.New("revoked_at"), knownvalue.NotNull()),
		// The first one belongs to the credential of the test.
		statecheck.ExpectKnownValue("data.mailhost_service_accounts.all", tfjsonpath.New("service_accounts"), knownvalue.ListPartial(map[int]knownvalue.Check{
			1: one(old.ID, knownvalue.NotNull()), 2: one(a.ID, knownvalue.Null()),
		})),
	}
	for name, value := range map[string]knownvalue.Check{
		"id": knownvalue.StringExact(a.ID), "name": knownvalue.StringExact("CI"), "account_id": knownvalue.StringExact(s.AccountID),
		"expires_at": knownvalue.Null(), "token_last4": knownvalue.StringExact(a.TokenLast4), "token_prefix": knownvalue.StringExact(api.TokenPrefix),
		"token_public_id": knownvalue.StringExact(a.TokenPublicID), "created_at": knownvalue.StringExact(a.CreatedAt), "revoked_at": knownvalue.Null(),
	} {
		for _, by := range []string{"by_id", "by_name"} {
			checks = append(checks, statecheck.ExpectKnownValue(of+by, tfjsonpath.New(name), value))
		}
	}
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{Config: config, ConfigStateChecks: checks},
		{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
	}})
}

func TestDataSourceRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	published := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	create(t, s, "gone")
	revoke(t, s, "gone")
	twins := []any{create(t, s, "twin").ID, create(t, s, "twin").ID}
	for name, c := range map[string]struct {
		s            *acctest.Server
		config, want string
	}{
		"missing":     {s, `data "mailhost_service_account" "a" { name = "ci" }`, `(?s)Can't find the service account with name = "ci".*Check the`},
		"revoked":     {s, `data "mailhost_service_account" "a" { name = "gone" }`, `(?s)Can't find the service account with name = "gone"`},
		"two of them": {s, `data "mailhost_service_account" "a" { name = "twin" }`, fmt.Sprintf(`(?s)%s,\s+%s.*Refer to it by its id`, twins...)},
		"no argument": {s, `data "mailhost_service_account" "a" {}`, `(?s)id.*name`},
		"no id":       {s, `data "mailhost_service_account" "a" { id = "ci" }`, `id must be`},
		"published":   {published, `data "mailhost_service_account" "a" { name = "CI" }`, `(?s)Can't find the service account.*This API has no operation for it.*published\s+operations\s+only`},
		"published, all": {
			published, `data "mailhost_service_accounts" "a" {}`, `(?s)Can't list the service accounts.*This API has no operation for it.*published\s+operations\s+only`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{Config: c.s.ProviderConfig() + c.config, ExpectError: regexp.MustCompile(c.want)}}})
		})
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	create(t, s, "gone")
	revoke(t, s, "gone")
	// A service account that has expired by the provider's clock.
	s.Advance(-2 * time.Hour)
	over := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	if _, err := s.Client.CreateServiceAccount(t.Context(), api.CreateServiceAccountBody{Name: "over", ExpiresAt: &over}); err != nil {
		t.Fatal(err)
	}
	s.Advance(2 * time.Hour)
	create(t, s, "CI")
	p := s.Protocol(t, "")
	p.ExpectListed(t, typeName, nil, "acceptance test", "over", "CI")
	listed, diags := p.List(typeName, nil, 2)
	if p.NoErrors(diags); len(listed) != 2 {
		t.Errorf("listed %d, want the limit of 2", len(listed))
	}
	_, diags = acctest.NewServer(t, acctest.Options{PublishedOnly: true}).Protocol(t, "").List(typeName, nil, 100)
	acctest.Expect(t, diags, "ERROR: Can't list the service accounts", "This API has no operation for it", "published operations only")
}
