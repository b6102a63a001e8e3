package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

// withTimeout returns a context for a create, with the deadline of the attribute timeouts.
func (d *Definition[T, M]) withTimeout(ctx context.Context, plan tfsdk.Plan, diags *diag.Diagnostics) (context.Context, context.CancelFunc) {
	if d.CreateTimeout == 0 {
		return ctx, func() {}
	}
	var configured timeouts.Value
	diags.Append(plan.GetAttribute(ctx, path.Root("timeouts"), &configured)...)
	return WithTimeout(ctx, configured.Create, d.CreateTimeout, diags)
}

// WithTimeout returns a context with the timeout that configured returns, by default standard.
func WithTimeout(ctx context.Context, configured func(context.Context, time.Duration) (time.Duration, diag.Diagnostics), standard time.Duration, diags *diag.Diagnostics) (context.Context, context.CancelFunc) {
	limit, problems := configured(ctx, standard)
	diags.Append(problems...)
	return context.WithTimeout(ctx, limit)
}

// AwaitReady waits until a new object can be read, as the next plan does, and its status differs from
// pending. It returns the object as last read, and warns with label as its name if it still can't be
// found or is pending.
func (d *Definition[T, M]) AwaitReady(ctx context.Context, c *client.Client, created *T, label, pending string, status func(*T) string, diags *diag.Diagnostics) *T {
	last, err := client.WaitFor(ctx, c,
		func(ctx context.Context) (*T, error) { return d.Objects(c).Get(ctx, idOf(created)) },
		func(v *T) (bool, error) { return status(v) != pending, nil })
	latest := cmp.Or(last, created)
	if err != nil && (status(latest) == pending || client.IsNotFound(err)) {
		WarnNotReady(ctx, diags, label, pending, err)
	}
	return latest
}

// WarnNotReady warns that an object exists but is not ready yet. After an error instead of a
// warning, Terraform would destroy the object and create another one, which may cost money too.
func WarnNotReady(ctx context.Context, diags *diag.Diagnostics, object, status string, err error) {
	if client.IsNotFound(err) {
		diags.AddWarning(fmt.Sprintf("The %s can't be found yet", object),
			report.Paragraphs("It was created and is in the state, but the API does not find it: "+err.Error()+".",
				"Do not apply a plan that creates it again. Wait until the service shows it, and plan again: the plan must be empty."))
		return
	}
	reason := report.Sentence(err.Error())
	if ctx.Err() != nil {
		reason = "The time for waiting is over."
	}
	diags.AddWarning(fmt.Sprintf("The %s is not ready yet", object),
		report.Paragraphs(fmt.Sprintf("It exists, and its status is %s. %s", status, reason),
			"Run apply again, or `terraform apply -refresh-only`, to see it become ready. If it always takes longer, raise the resource's timeouts."))
}

// SetCreated puts a created object with its identity into the state.
func (r *Resource[T, M]) SetCreated(ctx context.Context, resp *resource.CreateResponse, c *client.Client, created *M) {
	resp.Diagnostics.Append(resp.State.Set(ctx, created)...)
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, c.AccountID(), attribute.TextOf(resp.State.Raw, "id"))...)
}

// WillReplace reports whether err means that the secret of a created object was lost, and the next
// apply can replace the object: it is in the state and tainted after the error. It then adds the
// next step to err.
func (r *Resource[T, M]) WillReplace(ctx context.Context, c *client.Client, id string, err error) bool {
	lost, ok := errors.AsType[*client.SecretLostError](err)
	if !ok || !c.Supports(ctx, r.DeleteOperation, id) {
		return false
	}
	lost.Next = "It is tainted in Terraform's state: run apply again, which deletes it and creates another one."
	return true
}

// AddCreateError adds the error of a create. conflict returns the advice for a conflict. domain,
// if set, refers to a domain that must be active.
func AddCreateError(ctx context.Context, c *client.Client, diags *diag.Diagnostics, err error, object fmt.Stringer, domain string, fields report.Fields, conflict func() string) {
	summary := "Can't create the " + object.String()
	if !client.IsConflict(err) {
		report.Error(diags, report.WithTimeoutAdvice(ctx, err), summary, fields)
		return
	}
	next := ""
	if domain != "" {
		next = InactiveDomainAdvice(ctx, c, domain)
	}
	if next == "" {
		next = conflict()
	}
	report.ErrorWithAdvice(diags, err, summary, fields, next)
}
