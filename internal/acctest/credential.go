package acctest

import (
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// ViewCapabilities returns the capabilities that only read, which are enough for a
// plan.
func ViewCapabilities() []api.Capability {
	return slices.DeleteFunc(api.Capabilities(), func(c api.Capability) bool { return !strings.HasSuffix(string(c), ".view") })
}

// LimitedToken creates a service account that has the capabilities and nothing
// else, and returns its token.
func (s *Server) LimitedToken(t testing.TB, capabilities ...api.Capability) string {
	t.Helper()
	created, err := s.Client.CreateServiceAccount(t.Context(), api.CreateServiceAccountBody{Name: "limited"})
	must(t, err)
	for _, c := range slices.Compact(slices.Sorted(slices.Values(capabilities))) {
		key := string(c)
		_, err := s.Client.GrantAuthorization(t.Context(), api.GrantAuthorizationBody{
			GrantKind: api.GrantCapability, SubjectType: api.SubjectServiceAccount, SubjectID: created.ID, CapabilityKey: &key,
		})
		must(t, err)
	}
	inherited := api.ListAuthorizationsRequest{SubjectID: created.ID, GrantKind: api.GrantAccountOwner}
	for a, err := range s.Client.ListAuthorizations(t.Context(), inherited) {
		must(t, err)
		must(t, s.Client.RevokeAuthorization(t.Context(), a.ID))
	}
	return created.Token
}
