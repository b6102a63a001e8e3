package acctest

import (
	"context"
	"testing"

	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// Protocol speaks to a configured provider as Terraform does, without a CLI: it
// tells diagnostics and identities, which a test through an old CLI can't see.
type Protocol struct {
	t      testing.TB
	server tfprotov6.ProviderServer
	schema *tfprotov6.GetProviderSchemaResponse
	ids    map[string]*tfprotov6.ResourceIdentitySchema
	// accountID is the account that the provider is configured for.
	accountID string
	config    tftypes.Value
	defers    bool
	// planned: the walk has planned something. together: it goes on all the same.
	planned, together bool
	// testFile: the provider was configured once for all walks.
	testFile bool
}

// Object is a resource between two calls.
type Object struct {
	State    tftypes.Value
	Identity *tfprotov6.ResourceIdentityData
	Private  []byte
	// Replace is set in a plan.
	Replace []*tftypes.AttributePath
	// Deferred is set by a plan or a read that the provider has put off.
	Deferred *tfprotov6.Deferred
}

// Protocol returns the provider, configured for the server at a URL; "" is this
// server.
func (s *Server) Protocol(t testing.TB, url string) *Protocol {
	t.Helper()
	return s.ProtocolOf(t, url, provider.New("test")())
}

// ProtocolOf is Protocol for another provider with the same settings, such as one
// with a clock of the test.
func (s *Server) ProtocolOf(t testing.TB, url string, served framework.Provider) *Protocol {
	t.Helper()
	if url == "" {
		url = s.URL
	}
	return s.configured(t, served, map[string]any{"base_url": url, "account_id": s.AccountID, "token": s.Token}, false)
}

// ProtocolOfUnknownToken is Protocol with a token that is known only after an
// apply, for a CLI that can or can't defer what depends on it.
func (s *Server) ProtocolOfUnknownToken(t testing.TB, defers bool) *Protocol {
	t.Helper()
	return s.configured(t, provider.New("test")(), map[string]any{"base_url": s.URL, "account_id": s.AccountID, "token": Unknown}, defers)
}

// Embedded returns the provider, configured for an embedded account.
func Embedded(t testing.TB, accountID, dataDir string) *Protocol {
	t.Helper()
	s := &Server{AccountID: accountID}
	return s.configured(t, provider.New("test")(), map[string]any{"account_id": accountID, "embedded": map[string]any{"data_dir": dataDir}}, false)
}

func (s *Server) configured(t testing.TB, served framework.Provider, settings map[string]any, defers bool) *Protocol {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(served)()
	must(t, err)
	p := &Protocol{t: t, server: server}
	p.schema, err = server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	must(t, err)
	ids, err := server.GetResourceIdentitySchemas(t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	must(t, err)
	p.ids, p.accountID = ids.IdentitySchemas, s.AccountID
	p.config, p.defers = p.value(p.schema.Provider.ValueType(), settings), defers
	return p.Walk()
}

// Walk configures the provider anew, as Terraform does before each plan and each
// apply, and returns p. Apply begins a walk by itself, and so does a second Plan.
func (p *Protocol) Walk() *Protocol {
	p.t.Helper()
	if p.testFile {
		return p
	}
	p.planned, p.together = false, false
	validated, err := p.server.ValidateProviderConfig(p.t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: p.dynamic(p.config)})
	must(p.t, err)
	p.NoErrors(validated.Diagnostics)
	p.configure()
	return p
}

// TestFile configures the provider as terraform test does for the provider blocks of a
// test file: once for all walks, and without validating the configuration.
func (p *Protocol) TestFile() *Protocol {
	p.t.Helper()
	p.configure()
	p.testFile = true
	return p
}

func (p *Protocol) configure() {
	p.t.Helper()
	resp, err := p.server.ConfigureProvider(p.t.Context(), &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.12.0", Config: p.dynamic(p.config),
		ClientCapabilities: &tfprotov6.ConfigureProviderClientCapabilities{DeferralAllowed: p.defers},
	})
	must(p.t, err)
	p.NoErrors(resp.Diagnostics)
}

// Together begins a walk that goes on until Walk or Apply, so that calls for several
// resources are those of one plan, or of one apply.
func (p *Protocol) Together() *Protocol {
	p.t.Helper()
	p.Walk().together = true
	return p
}

// Config makes a configuration of a resource: what is not named is null.
func (p *Protocol) Config(typeName string, config map[string]any) tftypes.Value {
	p.t.Helper()
	return p.value(p.resourceType(typeName), config)
}

// Validate checks a configuration.
func (p *Protocol) Validate(typeName string, config map[string]any) []*tfprotov6.Diagnostic {
	p.t.Helper()
	resp, err := p.server.ValidateResourceConfig(p.t.Context(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: typeName, Config: p.dynamic(p.Config(typeName, config)),
		ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
	})
	must(p.t, err)
	return resp.Diagnostics
}

// Plan plans a configuration; prior is nil for a create, config is nil for a
// destroy.
func (p *Protocol) Plan(typeName string, config map[string]any, prior *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	if p.planned && !p.together {
		p.Walk()
	}
	p.planned = true
	req := &tfprotov6.PlanResourceChangeRequest{TypeName: typeName}
	before, asked := p.null(typeName), p.null(typeName)
	if prior != nil {
		before = prior.State
		req.PriorPrivate, req.PriorIdentity = prior.Private, prior.Identity
	}
	proposed := asked
	if config != nil {
		asked = p.Config(typeName, config)
		proposed = p.proposed(typeName, asked, before)
	}
	req.PriorState, req.Config, req.ProposedNewState = p.dynamic(before), p.dynamic(asked), p.dynamic(proposed)
	resp, err := p.server.PlanResourceChange(p.t.Context(), req)
	must(p.t, err)
	return &Object{
		State: p.decode(typeName, resp.PlannedState), Identity: resp.PlannedIdentity,
		Private: resp.PlannedPrivate, Replace: resp.RequiresReplace, Deferred: resp.Deferred,
	}, resp.Diagnostics
}

// PlanReplacement plans the replacement of prior as Terraform does, because an attribute
// changed or because it was requested with -replace: the second plan has no prior
// state, and its diagnostics count only if one of them is an error.
func (p *Protocol) PlanReplacement(typeName string, config map[string]any, prior *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	first, diags := p.Plan(typeName, config, prior)
	if hasError(diags) {
		return first, diags
	}
	p.planned = false // one walk plans both
	second, more := p.Plan(typeName, config, &Object{State: p.null(typeName), Private: first.Private, Identity: first.Identity})
	if hasError(more) {
		diags = append(diags, more...)
	}
	return second, diags
}

// Apply plans a configuration in a walk of its own, and applies the plan if it has
// no errors. The diagnostics are those of the apply.
func (p *Protocol) Apply(ctx context.Context, typeName string, config map[string]any, prior *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	p.Walk()
	plan, diags := p.Plan(typeName, config, prior)
	p.NoErrors(diags)
	return p.ApplyPlan(ctx, typeName, config, prior, plan)
}

// ApplyPlan applies the plan of a configuration.
func (p *Protocol) ApplyPlan(ctx context.Context, typeName string, config map[string]any, prior, plan *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	req := &tfprotov6.ApplyResourceChangeRequest{
		TypeName: typeName, PriorState: p.dynamic(p.null(typeName)), Config: p.dynamic(p.null(typeName)),
		PlannedState: p.dynamic(plan.State), PlannedPrivate: plan.Private, PlannedIdentity: plan.Identity,
	}
	if prior != nil {
		req.PriorState = p.dynamic(prior.State)
	}
	if config != nil {
		req.Config = p.dynamic(p.Config(typeName, config))
	}
	resp, err := p.server.ApplyResourceChange(ctx, req)
	must(p.t, err)
	return &Object{State: p.decode(typeName, resp.NewState), Identity: resp.NewIdentity, Private: resp.Private}, resp.Diagnostics
}

// Read refreshes an object.
func (p *Protocol) Read(typeName string, o *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	resp, err := p.server.ReadResource(p.t.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: typeName, CurrentState: p.dynamic(o.State), CurrentIdentity: o.Identity, Private: o.Private,
	})
	must(p.t, err)
	return &Object{State: p.decode(typeName, resp.NewState), Identity: resp.NewIdentity, Private: resp.Private, Deferred: resp.Deferred}, resp.Diagnostics
}

// Import imports an object by what was written after its address, or by its
// identity where that is empty.
func (p *Protocol) Import(typeName, id string, identity map[string]any) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	req := &tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: id}
	if id == "" {
		v := p.value(p.ids[typeName].ValueType(), identity)
		req.Identity = &tfprotov6.ResourceIdentityData{IdentityData: p.dynamic(v)}
	}
	resp, err := p.server.ImportResourceState(p.t.Context(), req)
	must(p.t, err)
	if len(resp.ImportedResources) == 0 {
		return nil, resp.Diagnostics
	}
	got := resp.ImportedResources[0]
	return &Object{State: p.decode(typeName, got.State), Identity: got.Identity, Private: got.Private}, resp.Diagnostics
}

// IdentityOf returns an identity's attributes.
func (p *Protocol) IdentityOf(typeName string, o *Object) map[string]string {
	p.t.Helper()
	if o.Identity == nil {
		return nil
	}
	v, err := o.Identity.IdentityData.Unmarshal(p.ids[typeName].ValueType())
	must(p.t, err)
	fields := map[string]tftypes.Value{}
	must(p.t, v.As(&fields))
	out := map[string]string{}
	for name, field := range fields {
		var s *string
		must(p.t, field.As(&s))
		if s != nil {
			out[name] = *s
		}
	}
	return out
}

// NoErrors fails the test where there is an error.
func (p *Protocol) NoErrors(diags []*tfprotov6.Diagnostic) {
	p.t.Helper()
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			p.t.Fatalf("%s: %s\n%s", d.Attribute, d.Summary, d.Detail)
		}
	}
}
