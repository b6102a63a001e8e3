// Package core replaces Terraform's core, so that tests need no CLI: it calls a provider
// over the plugin protocol, and checks each response as Terraform does.
//
//   - [Provider] is a provider's process. Its methods are the calls for one resource
//     (Validate, Upgrade, Read, Import, Plan, Apply), and Change, which plans
//     with the same calls as Terraform: two plans for a replacement, for instance.
//   - [RunPlan] and [RunApply] are terraform plan and terraform apply for a [Configuration]
//     and a [State]. Where Terraform works concurrently, they choose a random order.
//   - An [Observer] takes part in each call. A response that Terraform would refuse, such as
//     an inconsistent result, ends the test.
package core

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Provider is a provider's process.
type Provider struct {
	Server   tfprotov6.ProviderServer
	Schemas  *Schemas
	Observer Observer
	// Context is the context of each call.
	Context context.Context
}

// Observer takes part in the calls of a provider.
type Observer interface {
	// Call makes a call. It returns false if the provider was killed before the response.
	Call(method string, call func()) bool
	// Diagnostics is called with the diagnostics of each response.
	Diagnostics(addr string, diags Diagnostics)
	// Fail ends the test because of an incorrect response. kind names the violated rule, such
	// as "invalid plan". It does not return.
	Fail(kind, text string)
}

// Schemas are a provider's schemas, which its processes share.
type Schemas struct {
	*tfprotov6.GetProviderSchemaResponse
	Resources map[string]*Schema
}

// Schema is a resource's schema.
type Schema struct {
	Attributes []*tfprotov6.SchemaAttribute
	Type       tftypes.Object
	Identity   tftypes.Type
	Version    int64
	stored     cty.Type // Type, for the JSON of a state
}

// Null returns a null object, the planned state of a destroy.
func (s *Schema) Null() Value { return tftypes.NewValue(s.Type, nil) }

// LoadSchemas returns the schemas of a provider.
func LoadSchemas(server tfprotov6.ProviderServer) *Schemas {
	all := Must(server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{}))
	ids := Must(server.GetResourceIdentitySchemas(context.Background(), &tfprotov6.GetResourceIdentitySchemasRequest{}))
	s := &Schemas{all, map[string]*Schema{}}
	for name, r := range all.ResourceSchemas {
		if len(r.Block.BlockTypes) > 0 {
			panic(name + " has blocks, which this package does not support")
		}
		t := r.ValueType().(tftypes.Object)
		stored := Must(ctyjson.UnmarshalType(Must(t.MarshalJSON()))) //nolint:staticcheck // there is no other conversion
		s.Resources[name] = &Schema{r.Block.Attributes, t, ids.IdentitySchemas[name].ValueType(), r.Version, stored}
	}
	return s
}

// Resource returns the schema of the resource at an address.
func (s *Schemas) Resource(addr string) *Schema {
	found, ok := s.Resources[TypeOf(addr)]
	if !ok {
		panic("the provider has no resource " + addr)
	}
	return found
}

// TypeOf returns the resource type of an address. A type alone is the address of the only
// resource of the type.
func TypeOf(addr string) string {
	name, _, _ := strings.Cut(addr, ".")
	return name
}

// Diagnostics are the diagnostics of one or several responses.
type Diagnostics []*tfprotov6.Diagnostic

// Failed reports whether the diagnostics contain an error.
func (d Diagnostics) Failed() bool {
	return slices.ContainsFunc(d, func(one *tfprotov6.Diagnostic) bool { return one.Severity == tfprotov6.DiagnosticSeverityError })
}

// Error implements error.
func (d Diagnostics) Error() string {
	var parts []string
	for _, one := range d {
		if one.Severity == tfprotov6.DiagnosticSeverityError {
			parts = append(parts, one.Summary+": "+one.Detail)
		}
	}
	return strings.Join(parts, "\n")
}

// noResponse is Terraform's own error for a call of a killed provider.
var noResponse = &tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityError, Summary: "Plugin did not respond"}

// ErrKilled means that the provider was killed.
var ErrKilled = errors.New("the provider was killed")

// Err returns the errors as one error, ErrKilled, or nil.
func (d Diagnostics) Err() error {
	switch {
	case slices.Contains(d, noResponse):
		return ErrKilled
	case d.Failed():
		return d
	}
	return nil
}

// call makes a call. Without a response, it returns an empty response and noResponse.
func call[Req, Resp any](p *Provider, method string, fn func(context.Context, *Req) (*Resp, error), req *Req) (*Resp, Diagnostics) {
	var resp *Resp
	var err error
	if !p.Observer.Call(method, func() { resp, err = fn(p.Context, req) }) {
		return new(Resp), Diagnostics{noResponse}
	}
	if err != nil {
		p.fail("protocol", "%s: %v", method, err)
	}
	return resp, nil
}

// providerBug matches diagnostics that blame the provider's developers, which the plugin
// framework returns for incorrect behaviour of a provider.
var providerBug = regexp.MustCompile(`(?i)report (this|the|it)\b.*(developer|issue|provider)|provider developer|bug in the provider|always an error in the provider|Missing Resource Identity|Unexpected Identity Change|Provider (produced|returned) (an )?(invalid|inconsistent)|Value Conversion Error|panic`)

// observed returns the diagnostics of a call, after checking those of a response.
func (p *Provider) observed(addr string, killed Diagnostics, diags []*tfprotov6.Diagnostic) Diagnostics {
	if killed != nil {
		return killed
	}
	for _, d := range diags {
		if all := d.Summary + "\n" + d.Detail; providerBug.MatchString(all) {
			p.fail("blame", "%s: %s", addr, all)
		}
	}
	p.Observer.Diagnostics(addr, diags)
	return diags
}

func (p *Provider) fail(kind, format string, args ...any) {
	p.Observer.Fail(kind, fmt.Sprintf(format, args...))
}

// ValidateConfig validates the provider's configuration.
func (p *Provider) ValidateConfig(config Value) Diagnostics {
	resp, killed := call(p, "ValidateProviderConfig", p.Server.ValidateProviderConfig, &tfprotov6.ValidateProviderConfigRequest{Config: Dynamic(config)})
	return p.observed("provider", killed, resp.Diagnostics)
}

// Configure configures the provider, as Terraform does before each plan and each apply.
func (p *Provider) Configure(config Value) Diagnostics {
	resp, killed := call(p, "ConfigureProvider", p.Server.ConfigureProvider, &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.15.0", Config: Dynamic(config), ClientCapabilities: &tfprotov6.ConfigureProviderClientCapabilities{},
	})
	return p.observed("provider", killed, resp.Diagnostics)
}

// Validate validates the configuration of a resource.
func (p *Provider) Validate(addr string, config Value) Diagnostics {
	resp, killed := call(p, "ValidateResourceConfig", p.Server.ValidateResourceConfig, &tfprotov6.ValidateResourceConfigRequest{
		TypeName: TypeOf(addr), Config: Dynamic(config),
		ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
	})
	return p.observed(addr, killed, resp.Diagnostics)
}

// Upgrade upgrades an object in the format of a state file, as a version of the schema
// wrote it.
func (p *Provider) Upgrade(addr string, version int64, state []byte) (*Object, Diagnostics) {
	resp, killed := call(p, "UpgradeResourceState", p.Server.UpgradeResourceState, &tfprotov6.UpgradeResourceStateRequest{
		TypeName: TypeOf(addr), Version: version, RawState: &tfprotov6.RawState{JSON: state},
	})
	diags := p.observed(addr, killed, resp.Diagnostics)
	return &Object{State: p.decode(addr, resp.UpgradedState)}, diags
}

// Read refreshes an object. The result is null if the object no longer exists.
func (p *Provider) Read(addr string, o *Object) (*Object, Diagnostics) {
	resp, killed := call(p, "ReadResource", p.Server.ReadResource, &tfprotov6.ReadResourceRequest{
		TypeName: TypeOf(addr), CurrentState: Dynamic(o.State), CurrentIdentity: o.Identity, Private: o.Private,
	})
	diags := p.observed(addr, killed, resp.Diagnostics)
	now := *o
	now.State, now.Identity, now.Private = p.decode(addr, resp.NewState), resp.NewIdentity, resp.Private
	if !diags.Failed() {
		p.check(addr, &now, "a read")
	}
	return &now, diags
}

// Import imports an object by its import id, or by its identity if id is empty. Terraform
// then reads the object.
func (p *Provider) Import(addr, id string, identity Value) (*Object, Diagnostics) {
	req := &tfprotov6.ImportResourceStateRequest{TypeName: TypeOf(addr), ID: id}
	if id == "" {
		req.Identity = &tfprotov6.ResourceIdentityData{IdentityData: Dynamic(identity)}
	}
	resp, killed := call(p, "ImportResourceState", p.Server.ImportResourceState, req)
	diags := p.observed(addr, killed, resp.Diagnostics)
	if diags.Failed() {
		return nil, diags
	}
	if len(resp.ImportedResources) != 1 {
		p.fail("invalid import", "%s: %d objects", addr, len(resp.ImportedResources))
	}
	got := resp.ImportedResources[0]
	p.checkIdentity(addr, got.Identity, true)
	return &Object{State: p.decode(addr, got.State), Private: got.Private, Identity: got.Identity}, diags
}

// Plan plans a configuration, with the proposed new state. The result lists the attributes
// that require a replacement.
func (p *Provider) Plan(addr string, prior *Object, config Value) (*Object, Diagnostics) {
	s := p.Schemas.Resource(addr)
	resp, killed := call(p, "PlanResourceChange", p.Server.PlanResourceChange, &tfprotov6.PlanResourceChangeRequest{
		TypeName: TypeOf(addr), PriorState: Dynamic(prior.State), Config: Dynamic(config),
		ProposedNewState: Dynamic(proposed(s.Attributes, prior.State, config)), PriorPrivate: prior.Private, PriorIdentity: prior.Identity,
	})
	diags := p.observed(addr, killed, resp.Diagnostics)
	planned := &Object{State: p.decode(addr, resp.PlannedState), Private: resp.PlannedPrivate, Identity: resp.PlannedIdentity, Replace: resp.RequiresReplace}
	if diags.Failed() {
		return planned, diags
	}
	p.checkWriteOnly(addr, planned.State)
	if problems := planProblems(s, prior.State, config, planned.State); len(problems) > 0 {
		p.fail("invalid plan", "%s: %s", addr, joined(problems))
	}
	for _, path := range planned.Replace {
		_, before := valueAt(prior.State, path)
		_, after := valueAt(planned.State, path)
		if !before && !after {
			p.fail("invalid plan", "%s: replacement required by a path that does not exist: %s", addr, path)
		}
	}
	return planned, diags
}

// Apply applies a planned object. With an error it returns the provider's partial result.
func (p *Provider) Apply(addr string, prior, config Value, planned *Object) (*Object, Diagnostics) {
	resp, killed := call(p, "ApplyResourceChange", p.Server.ApplyResourceChange, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: TypeOf(addr), PriorState: Dynamic(prior), Config: Dynamic(config), PlannedState: Dynamic(planned.State),
		PlannedPrivate: planned.Private, PlannedIdentity: planned.Identity,
	})
	diags := p.observed(addr, killed, resp.Diagnostics)
	now := &Object{State: p.decode(addr, resp.NewState), Private: resp.Private, Identity: resp.NewIdentity}
	p.check(addr, now, "an apply")
	if diags.Failed() {
		return now, diags
	}
	if planned.Gone() != now.Gone() {
		p.fail("invalid result", "%s: null is %v, planned was %v", addr, now.Gone(), planned.Gone())
	}
	problems := incompatibilities(planned.State, now.State, addr)
	if len(problems) > 0 && !resp.UnsafeToUseLegacyTypeSystem { //nolint:staticcheck // Terraform only logs the problems then
		p.fail("inconsistent result", "%s", joined(problems))
	}
	return now, diags
}

// Dynamic encodes a value for the plugin protocol.
func Dynamic(v Value) *tfprotov6.DynamicValue {
	return new(Must(tfprotov6.NewDynamicValue(v.Type(), v)))
}

// Decode decodes a value of a response. A missing value is null.
func (p *Provider) Decode(addr string, t tftypes.Type, d *tfprotov6.DynamicValue) Value {
	if d == nil {
		return tftypes.NewValue(t, nil)
	}
	v, err := d.Unmarshal(t)
	if err != nil {
		p.fail("invalid object", "%s: %v", addr, err)
	}
	return v
}

func (p *Provider) decode(addr string, d *tfprotov6.DynamicValue) Value {
	return p.Decode(addr, p.Schemas.Resource(addr).Type, d)
}

// check checks the result of a read or of an apply, even of a failed apply.
func (p *Provider) check(addr string, o *Object, after string) {
	p.checkIdentity(addr, o.Identity, true)
	if !o.State.IsFullyKnown() {
		p.fail("invalid object", "%s: unknown values after %s: %s", addr, after, o.State)
	}
	p.checkWriteOnly(addr, o.State)
}

// checkWriteOnly fails if a write-only attribute is not null.
func (p *Provider) checkWriteOnly(addr string, v Value) {
	attributes := Attributes(v)
	for _, a := range p.Schemas.Resource(addr).Attributes {
		if got, ok := attributes[a.Name]; ok && a.WriteOnly && !got.IsNull() {
			p.fail("invalid object", "%s: %s: value returned for a write-only attribute", addr, a.Name)
		}
	}
}

// checkIdentity checks an identity that a provider returned.
func (p *Provider) checkIdentity(addr string, id *tfprotov6.ResourceIdentityData, known bool) {
	if id == nil || id.IdentityData == nil {
		return
	}
	v, err := id.IdentityData.Unmarshal(p.Schemas.Resource(addr).Identity)
	if err != nil {
		p.fail("invalid identity", "%s: %v", addr, err)
	}
	if known && !v.IsFullyKnown() {
		p.fail("invalid identity", "%s: the identity has unknown values: %s", addr, v)
	}
}

// Must returns the result of a call that fails only if the provider or this package is broken.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
