package service

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
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
