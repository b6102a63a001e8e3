package acctest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

// Null returns a null object, the planned state of a destroy.
func (p *Protocol) Null(typeName string) tftypes.Value {
	return p.core.Schemas.Resource(typeName).Null()
}

// value returns a resource's configuration, with null for missing attributes, or null if config is nil.
func (p *Protocol) value(typeName string, config map[string]any) tftypes.Value {
	if config == nil {
		return p.Null(typeName)
	}
	return core.NewValue(p.core.Schemas.Resource(typeName).Type, config)
}

// object returns o, or a null object if o is nil.
func (p *Protocol) object(typeName string, o *Object) *Object {
	if o == nil {
		return &Object{State: p.Null(typeName)}
	}
	return o
}

// With returns a copy of the object with another value of an attribute.
func (p *Protocol) With(typeName string, o *Object, name string, v any) *Object {
	fields := maps.Clone(Attributes(o.State)) // the map of the value itself
	fields[name] = core.NewValue(fields[name].Type(), v)
	changed := *o
	changed.State = tftypes.NewValue(o.State.Type(), fields)
	return &changed
}

// Validate validates a configuration.
func (p *Protocol) Validate(typeName string, config map[string]any) []*tfprotov6.Diagnostic {
	return p.core.Validate(typeName, p.value(typeName, config))
}

// Upgrade upgrades the JSON of a state that a version of the schema wrote.
func (p *Protocol) Upgrade(typeName string, version int64, state []byte) (*Object, []*tfprotov6.Diagnostic) {
	return p.core.Upgrade(typeName, version, state)
}

// beginPlan begins a new walk for a second plan, unless plans of one walk may run at once.
func (p *Protocol) beginPlan() {
	p.t.Helper()
	if p.together {
		return
	}
	if p.planned {
		p.Walk()
	}
	p.planned = true
}

// Plan plans a configuration. prior is nil for a create, config is nil for a destroy.
func (p *Protocol) Plan(typeName string, config map[string]any, prior *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	p.beginPlan()
	return p.core.Plan(typeName, p.object(typeName, prior), p.value(typeName, config))
}

// PlanReplacement plans the replacement of prior as Terraform does after a changed attribute or
// with -replace: with two plans in one walk. It returns the plan of the successor.
func (p *Protocol) PlanReplacement(typeName string, config map[string]any, prior *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	p.beginPlan()
	c, diags := p.core.Change(typeName, prior, p.value(typeName, config), false, true)
	if diags.Failed() {
		return p.object(typeName, nil), diags
	}
	return c.After, diags
}

// Apply plans a configuration in a new walk and applies the plan. It returns the diagnostics
// of the apply, or after an error in the plan the diagnostics of the plan.
func (p *Protocol) Apply(ctx context.Context, typeName string, config map[string]any, prior *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	p.Walk().planned = true
	c, diags := p.core.Change(typeName, prior, p.value(typeName, config), false, false)
	if diags.Failed() {
		return p.object(typeName, nil), diags
	}
	if c.Action.Replaces() || c.Action == core.NoOp {
		p.t.Fatalf("the planned action is %q, which is not one apply", c.Action)
	}
	return p.ApplyPlan(ctx, typeName, config, prior, c.After)
}

// ApplyPlan applies the plan of a configuration.
func (p *Protocol) ApplyPlan(ctx context.Context, typeName string, config map[string]any, prior, plan *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	provider := *p.core
	provider.Context = ctx
	return provider.Apply(typeName, p.object(typeName, prior).State, p.value(typeName, config), plan)
}

// Differences returns the attributes of a plan that differ from a state, as in "name: state null, plan
// \"Jane\"". An attribute that the plan does not know differs only if it is unknown in the state too.
func Differences(state, plan tftypes.Value) (lines []string) {
	have, planned := core.Attributes(state), core.Attributes(plan)
	for _, name := range slices.Sorted(maps.Keys(planned)) {
		have, planned := have[name], planned[name]
		if !have.IsFullyKnown() || planned.IsFullyKnown() && !planned.Equal(have) {
			lines = append(lines, fmt.Sprintf("%s: state %s, plan %s", name, core.Shown(have), core.Shown(planned)))
		}
	}
	return lines
}

// Forgotten returns the Differences of a plan after an apply, each with the code that may have forgotten the
// attribute.
func Forgotten(typeName string, isNew bool, state, plan tftypes.Value) []string {
	kind := strings.TrimPrefix(typeName, "mailhost_")
	request := "update (expandUpdate, or Update)"
	if isNew {
		request = "create (expandCreate, or Create)"
	}
	lines := Differences(state, plan)
	for i, line := range lines {
		lines[i] = fmt.Sprintf("%s: %s: the %s in internal/service/%s does not send it, or the API does not return it", kind, line, request, strings.ReplaceAll(kind, "_", ""))
	}
	return lines
}

// Read refreshes an object.
func (p *Protocol) Read(typeName string, o *Object) (*Object, []*tfprotov6.Diagnostic) {
	return p.core.Read(typeName, o)
}

// Import imports an object by its import id, or by its identity if id is empty.
func (p *Protocol) Import(typeName, id string, identity map[string]any) (*Object, []*tfprotov6.Diagnostic) {
	return p.core.Import(typeName, id, core.NewValue(p.core.Schemas.Resource(typeName).Identity, identity))
}

// IdentityOf returns the attributes of an object's identity, or nil.
func (p *Protocol) IdentityOf(typeName string, o *Object) map[string]string {
	if o.Identity == nil {
		return nil
	}
	return core.Texts(core.Must(o.Identity.IdentityData.Unmarshal(p.core.Schemas.Resource(typeName).Identity)))
}

// ApplyReplacement replaces an object as Terraform does without create_before_destroy: it
// plans, destroys the object and then creates its successor. It returns the successor and the
// diagnostics of both applies. An error ends the test.
func (p *Protocol) ApplyReplacement(ctx context.Context, typeName string, config map[string]any, prior *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	plan, diags := p.Walk().PlanReplacement(typeName, config, prior)
	p.NoErrors(diags)
	_, all := p.ApplyPlan(ctx, typeName, nil, prior, &Object{State: p.Null(typeName), Private: plan.Private})
	p.NoErrors(all)
	o, diags := p.ApplyPlan(ctx, typeName, config, nil, plan)
	p.NoErrors(diags)
	return o, append(all, diags...)
}

// Destroy plans and applies the destruction of an object. It returns the diagnostics of the plan,
// followed by those of the apply.
func (p *Protocol) Destroy(ctx context.Context, typeName string, o *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	plan, all := p.Walk().Plan(typeName, nil, o)
	p.NoErrors(all)
	gone, diags := p.ApplyPlan(ctx, typeName, nil, o, plan)
	return gone, append(all, diags...)
}
