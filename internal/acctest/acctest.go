package acctest

import (
	"maps"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// Providers serves the provider in the test's process.
func Providers() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"mailhost": providerserver.NewProtocol6WithError(provider.New("test")()),
	}
}

// Test runs a test case with the provider, and those that the case has besides.
// Tests run side by side: each has a server of its own.
func Test(t *testing.T, c resource.TestCase) {
	t.Helper()
	served := Providers()
	maps.Copy(served, c.ProtoV6ProviderFactories)
	c.ProtoV6ProviderFactories = served
	resource.ParallelTest(t, c)
}

// Modes runs a test against a server with all operations, and against one with
// the published operations alone: what it asserts must hold on both.
func Modes(t *testing.T, test func(t *testing.T, s *Server)) {
	for name, publishedOnly := range map[string]bool{"full": false, "published": true} {
		t.Run(name, func(t *testing.T) { test(t, NewServer(t, Options{PublishedOnly: publishedOnly})) })
	}
}
