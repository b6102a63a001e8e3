package provider_test

import (
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// TestServerHasEveryMethodOfTheFramework fails if a newer framework serves a part of the protocol
// that the layers in front of it hide.
func TestServerHasEveryMethodOfTheFramework(t *testing.T) {
	t.Parallel()
	p := provider.New("test")()
	server := reflect.TypeOf(provider.NewServer(p))
	for method := range reflect.TypeOf(providerserver.NewProtocol6(p)()).Methods() {
		_, ok := server.MethodByName(method.Name)
		assert.Check(t, ok, "%s of the framework's server is hidden", method.Name)
	}
}
