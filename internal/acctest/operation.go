package acctest

import (
	"maps"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// Open validates the configuration of an ephemeral resource and opens it if it is
// valid. It returns the diagnostics of both.
func (p *Protocol) Open(typeName string, config map[string]any) (*Object, []*tfprotov6.Diagnostic) {
	t := typeOf(p.schema.EphemeralResourceSchemas, typeName)
	configured := p.dynamic(NewValue(t, config))
	valid := result(p.server.ValidateEphemeralResourceConfig(p.t.Context(), &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: typeName, Config: configured}))
	if Errors(valid.Diagnostics) > 0 {
		return nil, valid.Diagnostics
	}
	resp := result(p.server.OpenEphemeralResource(p.t.Context(), &tfprotov6.OpenEphemeralResourceRequest{TypeName: typeName, Config: configured}))
	return &Object{State: p.unmarshal(t, resp.Result), Private: resp.Private}, append(valid.Diagnostics, resp.Diagnostics...)
}

// Close closes an ephemeral resource that Open has opened.
func (p *Protocol) Close(typeName string, o *Object) []*tfprotov6.Diagnostic {
	return result(p.server.CloseEphemeralResource(p.t.Context(), &tfprotov6.CloseEphemeralResourceRequest{TypeName: typeName, Private: o.Private})).Diagnostics
}

// Invoke validates, plans and invokes an action as Terraform does, up to the first
// error. It returns the progress messages and the diagnostics of all steps.
func (p *Protocol) Invoke(typeName string, config map[string]any) (progress []string, diags []*tfprotov6.Diagnostic) {
	return p.InvokePlanned(typeName, config, config)
}

// InvokePlanned is [Protocol.Invoke] with a different configuration in the plan, which
// may have unknown values. Like Terraform it does not validate or plan config itself.
func (p *Protocol) InvokePlanned(typeName string, planned, config map[string]any) (progress []string, diags []*tfprotov6.Diagnostic) {
	t := p.schema.ActionSchemas[typeName].Schema.ValueType()
	early, final := p.dynamic(NewValue(t, planned)), p.dynamic(NewValue(t, config))
	server := p.server.(tfprotov6.ActionServer)
	valid := result(server.ValidateActionConfig(p.t.Context(), &tfprotov6.ValidateActionConfigRequest{ActionType: typeName, Config: early}))
	if diags = valid.Diagnostics; Errors(diags) > 0 {
		return nil, diags
	}
	plan := result(server.PlanAction(p.t.Context(), &tfprotov6.PlanActionRequest{ActionType: typeName, Config: early}))
	if diags = append(diags, plan.Diagnostics...); Errors(diags) > 0 {
		return nil, diags
	}
	stream := result(server.InvokeAction(p.t.Context(), &tfprotov6.InvokeActionRequest{ActionType: typeName, Config: final}))
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

// Unconfigured returns a provider without a configuration, which is enough to call
// functions.
func Unconfigured(t testing.TB) *Protocol {
	t.Helper()
	return &Protocol{t: t, server: provider.NewServer(provider.New("test")()), schema: schemas()}
}

// Call calls a function of the provider. For a dynamic parameter, a string, number,
// bool, []any or map[string]any gets the type of its literal in HCL.
func (p *Protocol) Call(name string, arguments ...any) (tftypes.Value, *tfprotov6.FunctionError) {
	f := p.schema.Functions[name]
	req := &tfprotov6.CallFunctionRequest{Name: name}
	for i, argument := range arguments {
		parameter := f.VariadicParameter
		if i < len(f.Parameters) {
			parameter = f.Parameters[i]
		}
		req.Arguments = append(req.Arguments, new(result(tfprotov6.NewDynamicValue(parameter.Type, NewValue(parameter.Type, argument)))))
	}
	resp := result(p.server.CallFunction(p.t.Context(), req))
	if resp.Error != nil {
		return tftypes.Value{}, resp.Error
	}
	return result(resp.Result.Unmarshal(f.Return.Type)), nil
}

// Functions returns the signatures of all functions by name.
func (p *Protocol) Functions() map[string]*tfprotov6.Function { return p.schema.Functions }

// ResourceSchemas returns the schemas of all resources by name, in a new map.
func (p *Protocol) ResourceSchemas() map[string]*tfprotov6.Schema {
	return maps.Clone(p.schema.ResourceSchemas)
}

// Literal converts a Go value to a value with the type of its literal in HCL.
func Literal(v any) tftypes.Value {
	switch v := v.(type) {
	case string:
		return tftypes.NewValue(tftypes.String, v)
	case bool:
		return tftypes.NewValue(tftypes.Bool, v)
	case int, float64:
		return tftypes.NewValue(tftypes.Number, v)
	case []any:
		t := tftypes.Tuple{ElementTypes: []tftypes.Type{}}
		items := []tftypes.Value{}
		for _, e := range v {
			item := Literal(e)
			t.ElementTypes, items = append(t.ElementTypes, item.Type()), append(items, item)
		}
		return tftypes.NewValue(t, items)
	case map[string]any:
		t := tftypes.Object{AttributeTypes: map[string]tftypes.Type{}}
		fields := map[string]tftypes.Value{}
		for name, e := range v {
			fields[name] = Literal(e)
			t.AttributeTypes[name] = fields[name].Type()
		}
		return tftypes.NewValue(t, fields)
	case tftypes.Value:
		return v
	}
	return tftypes.NewValue(tftypes.DynamicPseudoType, v) // nil, Unknown
}
