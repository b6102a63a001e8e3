package simulate

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// errKilled is the error of a call to a killed provider.
var errKilled = errors.New("the provider was killed")

// plugin is a provider process that serves one walk.
type plugin struct {
	server  tfprotov6.ProviderServer
	schemas *schemas
	report  *report
	run     *run
	// kill ends the process and cancels ctx.
	ctx  context.Context
	kill context.CancelFunc
}

// schemas are the provider's schemas, which all processes share.
type schemas struct {
	resources map[string]*schema
	provider  tftypes.Type
}

var loadSchemas = sync.OnceValue(func() *schemas {
	server := provider.NewServer(provider.New("simulation")())
	all, err := server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		panic(err)
	}
	ids, err := server.GetResourceIdentitySchemas(context.Background(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		panic(err)
	}
	s := &schemas{resources: map[string]*schema{}, provider: all.Provider.ValueType()}
	for name, r := range all.ResourceSchemas {
		if len(r.Block.BlockTypes) > 0 {
			panic(name + " has blocks, which the engine does not support")
		}
		s.resources[name] = &schema{
			typeName: name, attributes: r.Block.Attributes, objectType: r.ValueType().(tftypes.Object),
			identity: ids.IdentitySchemas[name].ValueType(), version: r.Version,
		}
	}
	return s
})

// start starts the provider process of a walk, and configures it for the run's account.
func (w *environment) start(run *run) (*plugin, error) {
	ctx, cancel := context.WithCancel(context.Background())
	replaced := provider.Replacements{Transport: &network{environment: w, run: run, kill: cancel}, Hooks: w.hooks(run)}
	p := &plugin{report: &w.report, run: run, ctx: ctx, kill: cancel, schemas: loadSchemas(), server: provider.NewServer(provider.NewReplaced("simulation", replaced)())}
	a := w.accounts[run.account]
	config := newValue(p.schemas.provider, map[string]any{"base_url": "http://api.example.com", "account_id": a.id, "token": a.token})
	validated, err := call(p, "ValidateProviderConfig", p.server.ValidateProviderConfig, &tfprotov6.ValidateProviderConfigRequest{Config: dynamic(config)})
	if err == nil {
		err = p.checkDiagnostics("provider", validated.Diagnostics)
	}
	if err != nil {
		return p, err
	}
	resp, err := call(p, "ConfigureProvider", p.server.ConfigureProvider, &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.15.0", Config: dynamic(config)})
	if err != nil {
		return p, err
	}
	return p, p.checkDiagnostics("provider", resp.Diagnostics)
}

// call makes one call. It returns errKilled if the process was killed. A panic is a
// finding.
func call[Req, Resp any](p *plugin, name string, fn func(context.Context, Req) (Resp, error), req Req) (resp Resp, err error) {
	if p.ctx.Err() != nil {
		return resp, errKilled
	}
	p.run.slept = 0
	if p.run.yield != nil {
		p.run.yield()
	}
	defer func() {
		if cause := recover(); cause != nil {
			if f, ok := cause.(finding); ok {
				panic(f)
			}
			p.report.fail("panic", "%s: %v\n%s", name, cause, debug.Stack())
		}
	}()
	resp, err = fn(p.ctx, req)
	if p.ctx.Err() != nil {
		return resp, errKilled
	}
	if err != nil {
		p.report.fail("protocol", "%s: %v", name, err)
	}
	return resp, nil
}

// diagnostics is the error of a call with error diagnostics.
type diagnostics []*tfprotov6.Diagnostic

func (d diagnostics) Error() string {
	var parts []string
	for _, one := range d {
		if one.Severity == tfprotov6.DiagnosticSeverityError {
			parts = append(parts, one.Summary+": "+one.Detail)
		}
	}
	return strings.Join(parts, "\n")
}

func warningsOf(diags []*tfprotov6.Diagnostic) (all []string) {
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityWarning {
			all = append(all, d.Summary+"\n"+d.Detail+"\n")
		}
	}
	return all
}

// checkDiagnostics checks all diagnostics and returns the errors among them.
func (p *plugin) checkDiagnostics(addr string, diags []*tfprotov6.Diagnostic) error {
	failed := false
	for _, d := range diags {
		p.report.checkDiagnostic(addr, d)
		failed = failed || d.Severity == tfprotov6.DiagnosticSeverityError
		p.run.incomplete = p.run.incomplete || strings.HasSuffix(d.Summary, "were not created")
		p.run.appeared = p.run.appeared || strings.HasSuffix(d.Summary, "appeared after the plan")
	}
	if failed {
		p.report.logf("%s: %v", addr, diagnostics(diags))
		return diagnostics(diags)
	}
	return nil
}

func dynamic(v value) *tfprotov6.DynamicValue {
	d, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		panic(err)
	}
	return &d
}

func (p *plugin) decode(s *schema, addr string, d *tfprotov6.DynamicValue) value {
	if d == nil {
		return s.null()
	}
	v, err := d.Unmarshal(s.objectType)
	if err != nil {
		p.report.fail("invalid object", "%s: %v", addr, err)
	}
	return v
}

// validate calls ValidateResourceConfig.
func (p *plugin) validate(s *schema, addr string, config value) error {
	resp, err := call(p, "ValidateResourceConfig", p.server.ValidateResourceConfig, &tfprotov6.ValidateResourceConfigRequest{
		TypeName: s.typeName, Config: dynamic(config),
		ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
	})
	if err != nil {
		return err
	}
	return p.checkDiagnostics(addr, resp.Diagnostics)
}

// upgrade calls UpgradeResourceState with an object in the format of a state file.
func (p *plugin) upgrade(s *schema, addr string, o *object) (*object, error) {
	resp, err := call(p, "UpgradeResourceState", p.server.UpgradeResourceState, &tfprotov6.UpgradeResourceStateRequest{
		TypeName: s.typeName, Version: s.version, RawState: &tfprotov6.RawState{JSON: stateJSON(s, o.value)},
	})
	if err != nil {
		return nil, err
	}
	if err := p.checkDiagnostics(addr, resp.Diagnostics); err != nil {
		return nil, err
	}
	upgraded := o.with(p.decode(s, addr, resp.UpgradedState))
	if problems := incompatibilities(o.value, upgraded.value, addr); len(problems) > 0 {
		p.report.fail("upgrade", "a state of the current version changed: %s", joined(problems))
	}
	return upgraded, nil
}

// read calls ReadResource. It returns nil if the object no longer exists.
func (p *plugin) read(s *schema, addr string, o *object) (*object, error) {
	resp, err := call(p, "ReadResource", p.server.ReadResource, &tfprotov6.ReadResourceRequest{
		TypeName: s.typeName, CurrentState: dynamic(o.value), CurrentIdentity: o.identity, Private: o.private,
	})
	if err != nil {
		return nil, err
	}
	if err := p.checkDiagnostics(addr, resp.Diagnostics); err != nil {
		return nil, err
	}
	p.checkIdentity(s, addr, resp.NewIdentity, true)
	now := p.decode(s, addr, resp.NewState)
	if !now.IsFullyKnown() {
		p.report.fail("invalid object", "%s: unknown values after a read", addr)
	}
	p.checkWriteOnly(s, addr, now)
	if now.IsNull() {
		return nil, nil
	}
	out := o.with(now)
	out.private, out.identity = resp.Private, resp.NewIdentity
	return out, nil
}

// checkWriteOnly fails if a write-only attribute has a value.
func (p *plugin) checkWriteOnly(s *schema, addr string, v value) {
	attributes := attributesOf(v)
	for _, a := range s.attributes {
		if got, ok := attributes[a.Name]; ok && a.WriteOnly && !got.IsNull() {
			p.report.fail("invalid object", "%s: %s: value returned for a write-only attribute", addr, a.Name)
		}
	}
}

// checkIdentity checks an identity that a provider returned.
func (p *plugin) checkIdentity(s *schema, addr string, id *tfprotov6.ResourceIdentityData, known bool) {
	if id == nil || id.IdentityData == nil {
		return
	}
	v, err := id.IdentityData.Unmarshal(s.identity)
	if err != nil {
		p.report.fail("invalid identity", "%s: %v", addr, err)
	}
	if known && !v.IsFullyKnown() {
		p.report.fail("invalid identity", "%s: the identity has unknown values: %s", addr, v)
	}
}

// planRequest is the input of plan.
type planRequest struct {
	prior    value
	config   value
	private  []byte
	identity *tfprotov6.ResourceIdentityData
}

// plan calls PlanResourceChange.
func (p *plugin) plan(s *schema, addr string, req planRequest) (*tfprotov6.PlanResourceChangeResponse, value, error) {
	resp, err := call(p, "PlanResourceChange", p.server.PlanResourceChange, &tfprotov6.PlanResourceChangeRequest{
		TypeName: s.typeName, PriorState: dynamic(req.prior), Config: dynamic(req.config),
		ProposedNewState: dynamic(acctest.Proposed(s.attributes, req.prior, req.config)), PriorPrivate: req.private, PriorIdentity: req.identity,
	})
	if err != nil {
		return nil, value{}, err
	}
	if err := p.checkDiagnostics(addr, resp.Diagnostics); err != nil {
		return nil, value{}, err
	}
	planned := p.decode(s, addr, resp.PlannedState)
	p.checkWriteOnly(s, addr, planned)
	if problems := planProblems(s, req.prior, req.config, planned); len(problems) > 0 {
		p.report.fail("invalid plan", "%s: %s", addr, joined(problems))
	}
	return resp, planned, nil
}

// apply calls ApplyResourceChange. With an error it returns the provider's partial
// result, or nil.
func (p *plugin) apply(s *schema, addr string, prior, config, planned value, private []byte, identity *tfprotov6.ResourceIdentityData) (*object, error) {
	resp, err := call(p, "ApplyResourceChange", p.server.ApplyResourceChange, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: s.typeName, PriorState: dynamic(prior), Config: dynamic(config), PlannedState: dynamic(planned),
		PlannedPrivate: private, PlannedIdentity: identity,
	})
	if err != nil {
		return nil, err
	}
	failure := p.checkDiagnostics(addr, resp.Diagnostics)
	p.checkIdentity(s, addr, resp.NewIdentity, true)
	now := p.decode(s, addr, resp.NewState)
	p.checkWriteOnly(s, addr, now)
	switch {
	case failure != nil:
	case !now.IsFullyKnown():
		p.report.fail("invalid result", "%s: unknown values after an apply", addr)
	case planned.IsNull() != now.IsNull():
		p.report.fail("invalid result", "%s: null is %v, planned was %v", addr, now.IsNull(), planned.IsNull())
	case resp.UnsafeToUseLegacyTypeSystem: //nolint:staticcheck // Terraform only logs incompatibilities then
	default:
		if problems := incompatibilities(planned, now, addr); len(problems) > 0 {
			p.report.fail("inconsistent result", "%s", joined(problems))
		}
	}
	if now.IsNull() {
		return nil, failure
	}
	if !now.IsFullyKnown() {
		p.report.fail("invalid result", "%s: unknown values after a failed apply", addr)
	}
	return &object{value: now, private: resp.Private, identity: resp.NewIdentity}, failure
}

// importState calls ImportResourceState with an id or an identity, then reads the object.
func (p *plugin) importState(s *schema, addr, id string, identity value) (*object, error) {
	req := &tfprotov6.ImportResourceStateRequest{TypeName: s.typeName, ID: id}
	if id == "" {
		req.Identity = &tfprotov6.ResourceIdentityData{IdentityData: dynamic(identity)}
	}
	resp, err := call(p, "ImportResourceState", p.server.ImportResourceState, req)
	if err != nil {
		return nil, err
	}
	if err := p.checkDiagnostics(addr, resp.Diagnostics); err != nil {
		return nil, err
	}
	if len(resp.ImportedResources) != 1 {
		p.report.fail("invalid import", "%s: %d objects", addr, len(resp.ImportedResources))
	}
	got := resp.ImportedResources[0]
	p.checkIdentity(s, addr, got.Identity, true)
	imported, err := p.read(s, addr, &object{value: p.decode(s, addr, got.State), private: got.Private, identity: got.Identity})
	if err == nil && imported == nil {
		err = fmt.Errorf("%s: cannot import non-existent remote object", addr)
	}
	return imported, err
}
