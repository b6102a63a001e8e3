package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/internal/compact"
)

// NewServer returns the server of the plugin protocol for a provider.
func NewServer(p provider.Provider) tfprotov6.ProviderServer {
	return compact.NewServer(p, &server{providerserver.NewProtocol6(p)().(compact.Framework)})
}

// Factory returns NewServer as a factory for the plugin-testing framework.
func Factory(p provider.Provider) func() (tfprotov6.ProviderServer, error) {
	return func() (tfprotov6.ProviderServer, error) { return NewServer(p), nil }
}

// server is the framework's server, whose schema has the fields of [nested] attributes.
type server struct{ compact.Framework }
