package service

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Action is an action. C is the model of its configuration.
type Action[C any] struct {
	connection
	// Name is the type without the provider's name.
	Name       string
	Definition schema.Schema
	// Validate, if set, checks a configuration, which may contain unknown values.
	Validate func(config C, diags *diag.Diagnostics)
	// Plan, if set, checks a plan, and announces its effect.
	Plan func(ctx context.Context, config C, diags *diag.Diagnostics)
	// Run runs the action.
	Run func(ctx context.Context, c *client.Client, config C, resp *action.InvokeResponse)
}

func (a *Action[C]) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + a.Name
}

func (a *Action[C]) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = a.Definition
}

func (a *Action[C]) Configure(_ context.Context, req action.ConfigureRequest, _ *action.ConfigureResponse) {
	a.connect(req.ProviderData)
}

func (a *Action[C]) ValidateConfig(ctx context.Context, req action.ValidateConfigRequest, resp *action.ValidateConfigResponse) {
	var config C
	if a.Validate == nil {
		return
	}
	if resp.Diagnostics.Append(req.Config.Get(ctx, &config)...); !resp.Diagnostics.HasError() {
		a.Validate(config, &resp.Diagnostics)
	}
}

func (a *Action[C]) ModifyPlan(ctx context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	var config C
	if a.Plan == nil {
		return
	}
	if resp.Diagnostics.Append(req.Config.Get(ctx, &config)...); !resp.Diagnostics.HasError() {
		a.Plan(ctx, config, &resp.Diagnostics)
	}
}

func (a *Action[C]) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var config C
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if c := a.Client(ctx, &resp.Diagnostics); !resp.Diagnostics.HasError() {
		a.Run(ctx, c, config, resp)
	}
}

// Progress reports the progress of an action, in whole sentences.
func Progress(resp *action.InvokeResponse, format string, args ...any) {
	resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
}
