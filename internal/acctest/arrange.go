package acctest

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Registrant is somebody who may register domains.
var Registrant = api.ContactInfo{
	FirstName: "Zoë", LastName: "Müller", Organization: "Example GmbH", Email: "hostmaster@example.com", Phone: "+493023125000",
	Address1: "Straße der Beispiele 1", Zip: "10115", City: "Berlin", State: "Berlin", Country: "DE",
}

// Domain buys a domain outside of Terraform.
func (s *Server) Domain(t testing.TB, name string) *api.Domain {
	t.Helper()
	_, err := s.Client.PurchaseDomain(t.Context(), name, s.WorkspaceID, Registrant)
	must(t, err)
	d, err := s.Client.GetDomain(t.Context(), name)
	must(t, err)
	return d
}

// UnpaidDomain buys a domain, outside of Terraform, that waits for its payment: the
// server's registrar must want one.
func (s *Server) UnpaidDomain(t testing.TB, name string) {
	t.Helper()
	served, err := client.New(client.Options{BaseURL: s.URL, AccountID: s.AccountID, Token: s.Token})
	must(t, err)
	_, err = served.PurchaseDomain(t.Context(), name, s.WorkspaceID, Registrant)
	must(t, err)
}

// Mailbox creates a mailbox outside of Terraform.
func (s *Server) Mailbox(t testing.TB, domain, localPart string) *api.Mailbox {
	t.Helper()
	m, _, err := s.Client.CreateMailbox(t.Context(), api.CreateMailboxBody{Domain: domain, LocalPart: localPart, FirstName: "Jane", LastName: "Doe"})
	must(t, err)
	return m
}
