package acctest

import (
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// Invoke validates, plans and invokes an action as Terraform does, as far as
// there is no error. It returns the messages of progress, and the diagnostics of
// all three.
func (p *Protocol) Invoke(typeName string, config map[string]any) (progress []string, diags []*tfprotov6.Diagnostic) {
	p.t.Helper()
	return p.InvokePlanned(typeName, config, config)
}

// InvokePlanned is [Protocol.Invoke] for a configuration of which less is known
// in the plan: Terraform asks neither for a validation nor for a plan again when
// the rest is.
func (p *Protocol) InvokePlanned(typeName string, planned, config map[string]any) (progress []string, diags []*tfprotov6.Diagnostic) {
	p.t.Helper()
	s, ok := p.schema.ActionSchemas[typeName]
	if !ok {
		p.t.Fatalf("the provider has no action %s", typeName)
	}
	early, asked := p.dynamic(p.value(s.Schema.ValueType(), planned)), p.dynamic(p.value(s.Schema.ValueType(), config))
	server, ok := p.server.(tfprotov6.ActionServer)
	if !ok {
		p.t.Fatal("the provider server has no actions")
	}
	valid, err := server.ValidateActionConfig(p.t.Context(), &tfprotov6.ValidateActionConfigRequest{ActionType: typeName, Config: early})
	must(p.t, err)
	if diags = valid.Diagnostics; hasError(diags) {
		return nil, diags
	}
	plan, err := server.PlanAction(p.t.Context(), &tfprotov6.PlanActionRequest{ActionType: typeName, Config: early})
	must(p.t, err)
	if diags = append(diags, plan.Diagnostics...); hasError(diags) {
		return nil, diags
	}
	stream, err := server.InvokeAction(p.t.Context(), &tfprotov6.InvokeActionRequest{ActionType: typeName, Config: asked})
	must(p.t, err)
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
