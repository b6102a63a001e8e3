package acctest

import (
	"maps"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// Open validates the configuration of an ephemeral resource and, if it is valid, opens the resource.
// It returns the diagnostics of both.
func (p *Protocol) Open(typeName string, config map[string]any) (*Object, []*tfprotov6.Diagnostic) {
	t := typeOf(p.core.Schemas.EphemeralResourceSchemas, typeName)
	configured := core.Dynamic(core.NewValue(t, config))
	valid := core.Must(p.core.Server.ValidateEphemeralResourceConfig(p.t.Context(), &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: typeName, Config: configured}))
	if Errors(valid.Diagnostics) > 0 {
		return nil, valid.Diagnostics
	}
	resp := core.Must(p.core.Server.OpenEphemeralResource(p.t.Context(), &tfprotov6.OpenEphemeralResourceRequest{TypeName: typeName, Config: configured}))
	return &Object{State: p.core.Decode(typeName, t, resp.Result), Private: resp.Private}, append(valid.Diagnostics, resp.Diagnostics...)
}

// Close closes an ephemeral resource that Open opened.
func (p *Protocol) Close(typeName string, o *Object) []*tfprotov6.Diagnostic {
	return core.Must(p.core.Server.CloseEphemeralResource(p.t.Context(), &tfprotov6.CloseEphemeralResourceRequest{TypeName: typeName, Private: o.Private})).Diagnostics
}

// Invoke validates, plans and invokes an action as Terraform does, up to the first
// error. It returns the progress messages and the diagnostics of all steps.
func (p *Protocol) Invoke(typeName string, config map[string]any) (progress []string, diags []*tfprotov6.Diagnostic) {
	return p.InvokePlanned(typeName, config, config)
}

// InvokePlanned is [Protocol.Invoke] with another configuration in the plan, which may contain
// unknown values. Like Terraform it does not validate or plan config.
func (p *Protocol) InvokePlanned(typeName string, planned, config map[string]any) (progress []string, diags []*tfprotov6.Diagnostic) {
	t := p.core.Schemas.ActionSchemas[typeName].Schema.ValueType()
	early, final := core.Dynamic(core.NewValue(t, planned)), core.Dynamic(core.NewValue(t, config))
	server := p.core.Server.(tfprotov6.ActionServer)
	valid := core.Must(server.ValidateActionConfig(p.t.Context(), &tfprotov6.ValidateActionConfigRequest{ActionType: typeName, Config: early}))
	if diags = valid.Diagnostics; Errors(diags) > 0 {
		return nil, diags
	}
	plan := core.Must(server.PlanAction(p.t.Context(), &tfprotov6.PlanActionRequest{ActionType: typeName, Config: early}))
	if diags = append(diags, plan.Diagnostics...); Errors(diags) > 0 {
		return nil, diags
	}
	stream := core.Must(server.InvokeAction(p.t.Context(), &tfprotov6.InvokeActionRequest{ActionType: typeName, Config: final}))
	for event := range stream.Events {
		switch e := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			progress = append(progress, e.Message)
		case tfprotov6.CompletedInvokeActionEventType:
			diags = append(diags, e.Diagnostics...)
		}
	}
	return progress, diags
}

// Unconfigured returns a provider without a configuration, to call functions.
func Unconfigured(t testing.TB) *Protocol {
	t.Helper()
	return newProtocol(t, provider.New("test")())
}

// Call calls a function of the provider. It passes a string, number, bool, []any or
// map[string]any to a dynamic parameter with the type of its literal in HCL.
func (p *Protocol) Call(name string, arguments ...any) (tftypes.Value, *tfprotov6.FunctionError) {
	f := p.core.Schemas.Functions[name]
	req := &tfprotov6.CallFunctionRequest{Name: name}
	for i, argument := range arguments {
		parameter := f.VariadicParameter
		if i < len(f.Parameters) {
			parameter = f.Parameters[i]
		}
		req.Arguments = append(req.Arguments, new(core.Must(tfprotov6.NewDynamicValue(parameter.Type, core.NewValue(parameter.Type, argument)))))
	}
	resp := core.Must(p.core.Server.CallFunction(p.t.Context(), req))
	if resp.Error != nil {
		return tftypes.Value{}, resp.Error
	}
	return core.Must(resp.Result.Unmarshal(f.Return.Type)), nil
}

// Functions returns the signatures of all functions by name.
func (p *Protocol) Functions() map[string]*tfprotov6.Function { return p.core.Schemas.Functions }

// ResourceSchemas returns the schemas of all resources by name, in a new map.
func (p *Protocol) ResourceSchemas() map[string]*tfprotov6.Schema {
	return maps.Clone(p.core.Schemas.ResourceSchemas)
}
