package acctest

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// Open validates the configuration of an ephemeral resource and, if it is valid,
// opens it. The diagnostics are those of both.
func (p *Protocol) Open(typeName string, config map[string]any) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	t := schemaType(p, "ephemeral resource", typeName, p.schema.EphemeralResourceSchemas)
	asked := p.dynamic(p.value(t, config))
	valid, err := p.server.ValidateEphemeralResourceConfig(p.t.Context(), &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: typeName, Config: asked})
	must(p.t, err)
	if hasError(valid.Diagnostics) {
		return nil, valid.Diagnostics
	}
	resp, err := p.server.OpenEphemeralResource(p.t.Context(), &tfprotov6.OpenEphemeralResourceRequest{TypeName: typeName, Config: asked})
	must(p.t, err)
	return &Object{State: p.unmarshal(t, resp.Result), Private: resp.Private}, append(valid.Diagnostics, resp.Diagnostics...)
}

// Close closes what Open has opened.
func (p *Protocol) Close(typeName string, o *Object) []*tfprotov6.Diagnostic {
	p.t.Helper()
	resp, err := p.server.CloseEphemeralResource(p.t.Context(), &tfprotov6.CloseEphemeralResourceRequest{TypeName: typeName, Private: o.Private})
	must(p.t, err)
	return resp.Diagnostics
}

// Interrupt does what Terraform does when it is interrupted: the calls that are
// under way are cancelled.
func (p *Protocol) Interrupt() {
	_, _ = p.server.StopProvider(context.Background(), &tfprotov6.StopProviderRequest{})
}
