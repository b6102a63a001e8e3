package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// Resource is the base of a resource, with everything but Create. A kind that needs more has a
// method of its own. Pass the resource that embeds it to [Manage].
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

// ModifyPlan is for kinds whose plan needs nothing more than [Manage] does.
func (r *Resource[T, M]) ModifyPlan(context.Context, M, M, resource.ModifyPlanRequest, *resource.ModifyPlanResponse) {
}

// Models returns the plan and the state of a ModifyPlan; the one that is null has no values. ok is
// false after an error.
func (r *Resource[T, M]) Models(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) (plan, state M, ok bool) {
	if !resp.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(resp.Plan.Get(ctx, &plan)...)
	}
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	return plan, state, !resp.Diagnostics.HasError()
}

// SetCreated puts a created object with its identity into the state.
func (r *Resource[T, M]) SetCreated(ctx context.Context, resp *resource.CreateResponse, c *client.Client, created *M) {
	resp.Diagnostics.Append(resp.State.Set(ctx, created)...)
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, c.AccountID(), attribute.TextOf(resp.State.Raw, "id"))...)
}

// WillReplace reports whether an object that was created without its secret can be left to
// the next apply: in the state after an error it is tainted, so that the next plan replaces
// it. It completes the error, which is nil if nothing was lost.
func (r *Resource[T, M]) WillReplace(ctx context.Context, c *client.Client, id string, err error) bool {
	lost, ok := errors.AsType[*client.SecretLostError](err)
	if !ok || !c.Supports(ctx, r.DeleteOperation, id) {
		return false
	}
	lost.Next = "It is tainted in Terraform's state: run apply again, which deletes it and creates another one."
	return true
}

func (r *Resource[T, M]) Read(ctx context.Context, c *client.Client, state *M, req resource.ReadRequest, _ *resource.ReadResponse) error {
	v, err := r.Objects(c).Get(ctx, attribute.TextOf(req.State.Raw, "id"))
	if err == nil {
		r.SetModel(ctx, c.Domains.Get, state, v)
	}
	return err
}

// Update is for objects that the API can't change: it stores the attributes that it does not have.
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

// Base returns the resource itself, for [Manage].
func (r *Resource[T, M]) Base() *Resource[T, M] { return r }

func (r *Resource[T, M]) known(of attribute.Raw, accountID string) map[string]attr.Value {
	switch {
	case r.isScoped():
		return knownScope(of, accountID)
	case r.PlannedValues != nil:
		return r.PlannedValues(of, accountID)
	}
	return nil
}

// label names the object of a plan or a state.
func (r *Resource[T, M]) label(ctx context.Context, get func(ctx context.Context, target any) diag.Diagnostics) string {
	var m M
	get(ctx, &m) // an error is reported elsewhere
	return m.String()
}

// object identifies the object of a plan or a state in the walk.
func (r *Resource[T, M]) object(raw tftypes.Value) session.Object {
	o := session.Object{Type: r.typeName(), ID: attribute.TextOf(raw, "id"), IsValuable: r.IsValuable}
	if r.NaturalKeys != nil {
		o.Keys = r.NaturalKeys(attribute.RawOf(raw))
	}
	return o
}

// Identity is the resource identity of every resource: the object's id in its
// account.
type Identity struct {
	AccountID types.String `tfsdk:"account_id"`
	ID        types.String `tfsdk:"id"`
}

func (r *Resource[T, M]) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"account_id": identityschema.StringAttribute{OptionalForImport: true, Description: "UUID of the account; default: the provider's."},
			"id":         identityschema.StringAttribute{RequiredForImport: true, Description: "Id of the object."},
		},
	}
}

// setIdentity sets the identity of an object; accountID is "" if it is unknown. A Read calls it
// before the object may turn out to be gone, because a Read without an identity fails the whole
// plan. A UUID is in lower case, because Terraform refuses an identity that changes.
func setIdentity(ctx context.Context, identity *tfsdk.ResourceIdentity, accountID, id string) diag.Diagnostics {
	if identity == nil {
		return nil // the CLI does not support identities
	}
	if own, ok := canonicalUUID(id); ok {
		id = own
	}
	known := Identity{ID: types.StringValue(id)}
	if accountID != "" {
		known.AccountID = types.StringValue(accountID)
	}
	return identity.Set(ctx, known)
}

// withTimeout returns a context for a create, with the deadline of the attribute timeouts.
func (d *Definition[T, M]) withTimeout(ctx context.Context, plan tfsdk.Plan, diags *diag.Diagnostics) (context.Context, context.CancelFunc) {
	if d.CreateTimeout == 0 {
		return ctx, func() {}
	}
	var configured timeouts.Value
	diags.Append(plan.GetAttribute(ctx, path.Root("timeouts"), &configured)...)
	return WithTimeout(ctx, configured.Create, d.CreateTimeout, diags)
}

// WithTimeout returns a context with the deadline of an operation, as configured returns it.
func WithTimeout(ctx context.Context, configured func(context.Context, time.Duration) (time.Duration, diag.Diagnostics), standard time.Duration, diags *diag.Diagnostics) (context.Context, context.CancelFunc) {
	limit, problems := configured(ctx, standard)
	diags.Append(problems...)
	return context.WithTimeout(ctx, limit)
}

// AwaitReady waits until the status of a new object, which label names, is no longer pending. It
// returns the object as last read, and warns if that is still pending.
func (d *Definition[T, M]) AwaitReady(ctx context.Context, c *client.Client, created *T, label, pending string, status func(*T) string, diags *diag.Diagnostics) *T {
	if status(created) != pending {
		return created
	}
	last, err := client.WaitFor(ctx, c,
		func(ctx context.Context) (*T, error) { return d.Objects(c).Get(ctx, idOf(created)) },
		func(v *T) (bool, error) { return status(v) != pending, nil })
	if err != nil {
		WarnNotReady(ctx, diags, label, pending, err)
	}
	return cmp.Or(last, created)
}

// WarnNotReady warns that an object exists but is not ready yet. After an error,
// Terraform would destroy it and create another one, which may have to be paid for too.
func WarnNotReady(ctx context.Context, diags *diag.Diagnostics, object, status string, err error) {
	reason := report.Sentence(err.Error())
	if ctx.Err() != nil {
		reason = "The time for waiting is over."
	}
	diags.AddWarning(fmt.Sprintf("The %s is not ready yet", object),
		report.Paragraphs(fmt.Sprintf("It exists, and its status is %s. %s", status, reason),
			"Run apply again, or `terraform apply -refresh-only`, to see it become ready. If it always takes longer, raise the resource's timeouts."))
}

// warnOrphan warns that the API can't delete an object, in the plan of its destroy and in the apply.
func (r *Resource[T, M]) warnOrphan(ctx context.Context, c *client.Client, raw tftypes.Value, state M, diags *diag.Diagnostics) {
	next := ". It can't be imported again, because this API can't read it either."
	if slices.ContainsFunc(api.Specs(), func(s api.Spec) bool {
		return s.Kind == r.DeleteOperation.Kind && s.Method == http.MethodGet && !s.Lifecycle()
	}) {
		next = "; to manage it again, import it."
	}
	diags.AddWarning(fmt.Sprintf("The %s will still exist", state), report.Paragraphs(
		"This API has no operation that deletes it, so it is only dropped from Terraform's state. Its id is "+attribute.TextOf(raw, "id")+".", r.Orphaned(ctx, c, state),
		"If you no longer need it, remove it in the service's own control panel"+next))
}

// Orphans reports whether a plan destroys or replaces the object, which the API can't delete. It
// can't know of a replacement by -replace: Terraform shows no warnings of the second plan, and the
// first one looks like a change.
func (r *Resource[T, M]) Orphans(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) bool {
	if r.Orphaned == nil || resp.Diagnostics.HasError() || !DestroysOrReplaces(resp) {
		return false
	}
	c := r.ClientForWarning(ctx)
	return c != nil && !c.Supports(ctx, r.DeleteOperation, attribute.TextOf(req.State.Raw, "id"))
}

// warnOrphaned warns in a plan about an object that it orphans.
func (r *Resource[T, M]) warnOrphaned(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state M
	if !r.Orphans(ctx, req, resp) {
		return
	}
	if resp.Diagnostics.Append(req.State.Get(ctx, &state)...); !resp.Diagnostics.HasError() {
		r.warnOrphan(ctx, r.ClientForWarning(ctx), req.State.Raw, state, &resp.Diagnostics)
	}
}
