package acctest

import (
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// ViewCapabilities returns the capabilities that only read, which are enough for a
// plan.
func ViewCapabilities() []vocab.Capability {
	return slices.DeleteFunc(api.Capabilities(), func(c vocab.Capability) bool { return !strings.HasSuffix(string(c), ".view") })
}

// LimitedToken creates a service account that has the capabilities and nothing
// else, and returns its token.
func (s *Server) LimitedToken(t testing.TB, capabilities ...vocab.Capability) string {
	t.Helper()
	created, err := s.Client.CreateServiceAccount(t.Context(), api.CreateServiceAccountBody{Name: "limited"})
	must(t, err)
	for _, c := range slices.Compact(slices.Sorted(slices.Values(capabilities))) {
		key := string(c)
		_, err := s.Client.GrantAuthorization(t.Context(), api.GrantAuthorizationBody{
			GrantKind: vocab.GrantCapability, SubjectType: vocab.SubjectServiceAccount, SubjectID: created.ID, CapabilityKey: &key,
		})
		must(t, err)
	}
	inherited := api.ListAuthorizationsRequest{SubjectID: created.ID, GrantKind: vocab.GrantAccountOwner}
	for a, err := range s.Client.ListAuthorizations(t.Context(), inherited) {
		must(t, err)
		must(t, s.Client.RevokeAuthorization(t.Context(), a.ID))
	}
	return created.Token
}
