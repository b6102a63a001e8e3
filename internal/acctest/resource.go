package acctest

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"
)

// Config returns a resource's configuration. Missing attributes are null.
func (p *Protocol) Config(typeName string, config map[string]any) tftypes.Value {
	return NewValue(p.resourceType(typeName), config)
}

// Validate validates a configuration.
func (p *Protocol) Validate(typeName string, config map[string]any) []*tfprotov6.Diagnostic {
	resp := result(p.server.ValidateResourceConfig(p.t.Context(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: typeName, Config: p.dynamic(p.Config(typeName, config)),
		ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
	}))
	return resp.Diagnostics
}

// Upgrade returns a state, as JSON that was written by a version of the schema.
func (p *Protocol) Upgrade(typeName string, version int64, state []byte) (*Object, []*tfprotov6.Diagnostic) {
	resp := result(p.server.UpgradeResourceState(p.t.Context(), &tfprotov6.UpgradeResourceStateRequest{
		TypeName: typeName, Version: version, RawState: &tfprotov6.RawState{JSON: state},
	}))
	if resp.UpgradedState == nil {
		return nil, resp.Diagnostics
	}
	return &Object{State: p.decode(typeName, resp.UpgradedState)}, resp.Diagnostics
}

// Plan plans a configuration. prior is nil for a create, config is nil for a destroy.
func (p *Protocol) Plan(typeName string, config map[string]any, prior *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	if !p.together { // plans of one walk may run at once
		if p.planned {
			p.Walk()
		}
		p.planned = true
	}
	req := &tfprotov6.PlanResourceChangeRequest{TypeName: typeName}
	before, configured := p.Null(typeName), p.Null(typeName)
	if prior != nil {
		before = prior.State
		req.PriorPrivate, req.PriorIdentity = prior.Private, prior.Identity
	}
	proposed := configured
	if config != nil {
		configured = p.Config(typeName, config)
		proposed = Proposed(p.schema.ResourceSchemas[typeName].Block.Attributes, before, configured)
	}
	req.PriorState, req.Config, req.ProposedNewState = p.dynamic(before), p.dynamic(configured), p.dynamic(proposed)
	resp := result(p.server.PlanResourceChange(p.t.Context(), req))
	return &Object{
		State: p.decode(typeName, resp.PlannedState), Identity: resp.PlannedIdentity,
		Private: resp.PlannedPrivate, Replace: resp.RequiresReplace,
	}, resp.Diagnostics
}

// PlanReplacement plans the replacement of prior as Terraform does, because an attribute
// changed or because it was requested with -replace: the second plan has no prior
// state, and its diagnostics count only if one of them is an error.
func (p *Protocol) PlanReplacement(typeName string, config map[string]any, prior *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	first, diags := p.Plan(typeName, config, prior)
	if Errors(diags) > 0 {
		return first, diags
	}
	p.planned = false // one walk plans both
	second, more := p.Plan(typeName, config, &Object{State: p.Null(typeName), Private: first.Private, Identity: first.Identity})
	if Errors(more) > 0 {
		diags = append(diags, more...)
	}
	return second, diags
}

// Apply plans a configuration in a new walk and applies the plan. It returns the diagnostics
// of the apply, or of a plan with errors, which is not applied.
func (p *Protocol) Apply(ctx context.Context, typeName string, config map[string]any, prior *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	p.Walk()
	plan, diags := p.Plan(typeName, config, prior)
	if Errors(diags) > 0 {
		return &Object{State: p.Null(typeName)}, diags
	}
	return p.ApplyPlan(ctx, typeName, config, prior, plan)
}

// ApplyPlan applies the plan of a configuration.
func (p *Protocol) ApplyPlan(ctx context.Context, typeName string, config map[string]any, prior, plan *Object) (*Object, []*tfprotov6.Diagnostic) {
	req := &tfprotov6.ApplyResourceChangeRequest{
		TypeName: typeName, PriorState: p.dynamic(p.Null(typeName)), Config: p.dynamic(p.Null(typeName)),
		PlannedState: p.dynamic(plan.State), PlannedPrivate: plan.Private, PlannedIdentity: plan.Identity,
	}
	if prior != nil {
		req.PriorState = p.dynamic(prior.State)
	}
	if config != nil {
		req.Config = p.dynamic(p.Config(typeName, config))
	}
	resp := result(p.server.ApplyResourceChange(ctx, req))
	o := &Object{State: p.decode(typeName, resp.NewState), Identity: resp.NewIdentity, Private: resp.Private}
	assert.Check(p.t, Errors(resp.Diagnostics) > 0 || o.State.IsFullyKnown(), "the apply leaves unknown values: %s", o.State)
	return o, resp.Diagnostics
}

// Read refreshes an object.
func (p *Protocol) Read(typeName string, o *Object) (*Object, []*tfprotov6.Diagnostic) {
	resp := result(p.server.ReadResource(p.t.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: typeName, CurrentState: p.dynamic(o.State), CurrentIdentity: o.Identity, Private: o.Private,
	}))
	return &Object{State: p.decode(typeName, resp.NewState), Identity: resp.NewIdentity, Private: resp.Private}, resp.Diagnostics
}

// Identity returns a resource identity.
func (p *Protocol) Identity(typeName string, identity map[string]any) *tfprotov6.ResourceIdentityData {
	return &tfprotov6.ResourceIdentityData{IdentityData: p.dynamic(NewValue(p.ids[typeName].ValueType(), identity))}
}

// Import imports an object by its import id, or by its identity if id is empty.
func (p *Protocol) Import(typeName, id string, identity map[string]any) (*Object, []*tfprotov6.Diagnostic) {
	req := &tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: id}
	if id == "" {
		req.Identity = p.Identity(typeName, identity)
	}
	resp := result(p.server.ImportResourceState(p.t.Context(), req))
	if len(resp.ImportedResources) == 0 {
		return nil, resp.Diagnostics
	}
	got := resp.ImportedResources[0]
	return &Object{State: p.decode(typeName, got.State), Identity: got.Identity, Private: got.Private}, resp.Diagnostics
}

// IdentityOf returns the attributes of an object's identity, or nil.
func (p *Protocol) IdentityOf(typeName string, o *Object) map[string]string {
	if o.Identity == nil {
		return nil
	}
	out := map[string]string{}
	for name, field := range Attributes(result(o.Identity.IdentityData.Unmarshal(p.ids[typeName].ValueType()))) {
		var s *string
		if field.As(&s) == nil && s != nil {
			out[name] = *s
		}
	}
	return out
}

// ApplyReplacement replaces an object as Terraform does without
// create_before_destroy: it plans, destroys the object and then creates its
// successor. It returns the successor and the diagnostics of both applies. An error
// ends the test.
func (p *Protocol) ApplyReplacement(ctx context.Context, typeName string, config map[string]any, prior *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	plan, diags := p.Walk().PlanReplacement(typeName, config, prior)
	p.NoErrors(diags)
	_, all := p.ApplyPlan(ctx, typeName, nil, prior, &Object{State: p.Null(typeName), Private: plan.Private, Identity: prior.Identity})
	p.NoErrors(all)
	o, diags := p.ApplyPlan(ctx, typeName, config, nil, plan)
	p.NoErrors(diags)
	return o, append(all, diags...)
}

// Destroy plans and applies the destruction of an object. The diagnostics are those of
// the plan and then of the apply.
func (p *Protocol) Destroy(ctx context.Context, typeName string, o *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	plan, all := p.Walk().Plan(typeName, nil, o)
	p.NoErrors(all)
	gone, diags := p.ApplyPlan(ctx, typeName, nil, o, plan)
	return gone, append(all, diags...)
}
