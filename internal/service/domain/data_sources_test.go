package domain_test

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

// Ids of the objects of stock.
const (
	stockedAccount   = "0a7d6d0e-3f3b-4c57-9d0c-4b0f8a1f5d10"
	stockedWorkspace = "1b8e7e1f-4f4c-4d68-8e1d-5c1f9b2f6e21"
)

// stock switches the server to another account, with domains that a purchase can't create.
func stock(t *testing.T, s *acctest.Server) {
	t.Helper()
	err := s.Service.LoadFixture(t.Context(), &fixture.Fixture{Accounts: []fixture.Account{{
		ID:           stockedAccount,
		Workspaces:   []fixture.Workspace{{ID: stockedWorkspace, Name: "Sales"}},
		DedicatedIPs: []fixture.DedicatedIP{{Name: "First", Option: "Europe"}},
		Domains: []fixture.Domain{
			{
				Name: "bücher.com", AutoRenew: true, RedirectURL: "https://www.example.com/shop", RedirectMode: vocab.RedirectTemporary, DedicatedIP: "First",
				InboundTenant: &fixture.InboundTenant{ExternalID: "x", Name: "n", Type: "y"}, Tags: []string{"blue", "shop"},
			},
			{Name: "mail.stocked.com", Workspace: "Sales", Tags: []string{"blue"}},
			{Name: "unpaid.com", Status: vocab.DomainPendingPayment},
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

// filters maps each filter to the domains that match it.
var filters = map[string]struct {
	filters map[string]any
	want    []string
}{
	"all":       {nil, []string{"xn--bcher-kva.com", "mail.stocked.com", "unpaid.com"}},
	"workspace": {map[string]any{"workspace_id": stockedWorkspace}, []string{"mail.stocked.com"}},
	"status":    {map[string]any{"status": "pending_payment"}, []string{"unpaid.com"}},
	"tag":       {map[string]any{"tag": "blue"}, []string{"xn--bcher-kva.com", "mail.stocked.com"}},
	"search":    {map[string]any{"search": "BÜCH"}, []string{"xn--bcher-kva.com"}},
	"two":       {map[string]any{"tag": "blue", "search": "mail"}, []string{"mail.stocked.com"}},
	"none":      {map[string]any{"tag": "shop", "status": "failed"}, nil},
}

func TestDataSources(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		stock(t, s)
		const shop = "xn--bcher-kva.com"
		id := api.DerivedID(stockedAccount, "domain:"+shop)
		all := s.ProviderConfig() + fmt.Sprintf("data \"mailhost_domain\" \"by_id\" {\n  id = %q\n}\ndata \"mailhost_domain\" \"by_name\" {\n  name = \"BÜCHER.com.\"\n}\n", id)
		var checks []statecheck.StateCheck
		for name, f := range filters {
			all += fmt.Sprintf("data \"mailhost_domains\" %q {\n", name)
			for filter, v := range f.filters {
				all += fmt.Sprintf("  %s = %q\n", filter, v)
			}
			all += "}\n"
			var found []knownvalue.Check
			for _, name := range f.want {
				found = append(found, knownvalue.ObjectPartial(map[string]knownvalue.Check{"name": text(name)}))
			}
			checks = append(checks, statecheck.ExpectKnownValue("data.mailhost_domains."+name, tfjsonpath.New("domains"), knownvalue.ListExact(found)))
		}
		for name, v := range map[string]knownvalue.Check{
			"id": text(id), "workspace_id": text(s.WorkspaceID), "status": text("active"), "auto_renew": knownvalue.Bool(true), "outbound_routing_ready": knownvalue.Bool(true),
			"redirect_url": text("https://www.example.com/shop"), "redirect_mode": text("302"), "dedicated_ip_id": knownvalue.NotNull(),
			"inbound_tenant_id": knownvalue.NotNull(), "inbound_tenant_external_id": text("x"), "inbound_tenant_name": text("n"), "inbound_tenant_type": text("y"),
			"tags": knownvalue.ListExact([]knownvalue.Check{
				knownvalue.ObjectPartial(map[string]knownvalue.Check{"name": text("blue")}), knownvalue.ObjectPartial(map[string]knownvalue.Check{"name": text("shop")}),
			}),
			"created_at": knownvalue.NotNull(), "updated_at": knownvalue.NotNull(),
		} {
			for _, by := range []string{"by_id", "by_name"} {
				checks = append(checks, statecheck.ExpectKnownValue("data.mailhost_domain."+by, tfjsonpath.New(name), v))
			}
		}
		checks = append(checks, statecheck.ExpectKnownValue("data.mailhost_domain.by_id", tfjsonpath.New("name"), text(shop)))
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: all, ConfigStateChecks: checks},
			{Config: all, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		}})
	})
}

func TestDataSourceRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for name, c := range map[string]struct{ config, want string }{
		"missing":      {`data "mailhost_domain" "d" { name = "example.com" }`, `(?s)Can't find the domain with name\s+=\s+"example.com".*Check the`},
		"missing id":   {`data "mailhost_domain" "d" { id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e" }`, `(?s)Can't find the domain with id`},
		"no argument":  {`data "mailhost_domain" "d" {}`, `(?s)id.*name`},
		"no name":      {`data "mailhost_domain" "d" { name = "example" }`, `name must be`},
		"no id":        {`data "mailhost_domain" "d" { id = "example.com" }`, `id must be`},
		"no status":    {`data "mailhost_domains" "d" { status = "asleep" }`, `status must be one of pending_payment`},
		"no workspace": {`data "mailhost_domains" "d" { workspace_id = "default" }`, `workspace_id must be`},
	} {
		t.Run(name, func(t *testing.T) {
			acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{Config: s.ProviderConfig() + c.config, ExpectError: regexp.MustCompile(c.want)}}})
		})
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		stock(t, s)
		p := s.Protocol(t, "")
		for _, f := range filters {
			p.ExpectListed(t, domainType, f.filters, f.want...)
		}
		_, diags := p.List(domainType, map[string]any{"status": "asleep"}, 100)
		acctest.Expect(t, diags, `at AttributeName("status")`, "must be one of")
	})
}
