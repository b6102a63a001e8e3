package domain_test

import (
	"testing"

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
