package service

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

// Resource is the base of a resource. It implements all methods except Create, and a kind that needs
// more overrides them. Pass the resource that embeds it to [Chain].
type Resource[T any, M fmt.Stringer] struct {
	connection
	*Definition[T, M]
}

func (r *Resource[T, M]) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.Name
}

func (r *Resource[T, M]) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: r.ResourceDescription, Attributes: r.resourceAttributes()}
}

func (r *Resource[T, M]) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.connect(req.ProviderData)
}

func (r *Resource[T, M]) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config M
	if r.Validate == nil {
		return
	}
	if resp.Diagnostics.Append(req.Config.Get(ctx, &config)...); !resp.Diagnostics.HasError() {
		r.Validate(ctx, config, &resp.Diagnostics)
	}
}

// ModifyPlan does nothing: [Chain] suffices for the plans of most kinds.
func (r *Resource[T, M]) ModifyPlan(context.Context, M, M, resource.ModifyPlanRequest, *resource.ModifyPlanResponse) {
}

// Models returns a plan and a state as models. The model of a null plan or state is empty.
func Models[M any](ctx context.Context, from tfsdk.Plan, prior tfsdk.State, diags *diag.Diagnostics) (plan, state M) {
	if !from.Raw.IsNull() {
		diags.Append(from.Get(ctx, &plan)...)
	}
	if !prior.Raw.IsNull() {
		diags.Append(prior.Get(ctx, &state)...)
	}
	return plan, state
}

// models is [Models] with labels that look up the names of domains.
func (r *Resource[T, M]) models(ctx context.Context, from tfsdk.Plan, prior tfsdk.State, diags *diag.Diagnostics) (plan, state M) {
	plan, state = Models[M](ctx, from, prior, diags)
	r.setNameOf(ctx, &plan)
	r.setNameOf(ctx, &state)
	return plan, state
}

// setNameOf lets the labels of a model look up the names of domains.
func (r *Resource[T, M]) setNameOf(ctx context.Context, m *M) {
	if d, ok := any(m).(interface{ setNameOf(func(string) string) }); ok {
		d.setNameOf(func(id string) string { return r.domainNameOf(ctx, id) })
	}
}

func (r *Resource[T, M]) Read(ctx context.Context, c *client.Client, state *M, req resource.ReadRequest, _ *resource.ReadResponse) error {
	v, err := r.Objects(c).Get(ctx, attribute.TextOf(req.State.Raw, "id"))
	if err == nil {
		r.SetModel(ctx, c.Domains.Get, state, v)
	}
	return err
}

// Update stores the plan without a request, for objects with changes only in attributes that the API lacks.
func (r *Resource[T, M]) Update(ctx context.Context, _ *client.Client, plan, _ M, _ resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *Resource[T, M]) Delete(ctx context.Context, c *client.Client, _ M, req resource.DeleteRequest, _ *resource.DeleteResponse) error {
	err := r.Objects(c).Delete(ctx, attribute.TextOf(req.State.Raw, "id"))
	if r.DeleteConflict != "" && client.IsConflict(err) {
		return report.WithAdvice(err, r.DeleteConflict)
	}
	return err
}

func (r *Resource[T, M]) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"account_id": identityschema.StringAttribute{OptionalForImport: true, Description: "UUID of the account; default: the provider's."},
			"id":         identityschema.StringAttribute{RequiredForImport: true, Description: "Id of the object."},
		},
	}
}

// base returns the resource itself, for [Chain].
func (r *Resource[T, M]) base() *Resource[T, M] { return r } //nolint:unused // Methods requires it
