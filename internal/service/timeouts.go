package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// createTimeout returns the attribute timeouts, with the default for a create.
func createTimeout(ctx context.Context, standard time.Duration) schema.Attribute {
	a := timeouts.Attributes(ctx, timeouts.Opts{
		Create: true,
		CreateDescription: fmt.Sprintf("How long a create may take, including the wait until the object is ready, such as `90s` or `1h`. Default: `%dm`. "+
			"An object that is not ready by then is kept, with a warning.", int(standard.Minutes())),
	}).(schema.SingleNestedAttribute)
	a.MarkdownDescription = "How long operations may take."
	return a
}

// withTimeout returns a context for a create, with the deadline of the attribute
// timeouts.
func (d *Definition[T, M]) withTimeout(ctx context.Context, plan tfsdk.Plan, diags *diag.Diagnostics) (context.Context, context.CancelFunc) {
	if d.CreateTimeout == 0 {
		return ctx, func() {}
	}
	var configured timeouts.Value
	diags.Append(plan.GetAttribute(ctx, path.Root("timeouts"), &configured)...)
	limit, problems := configured.Create(ctx, d.CreateTimeout)
	diags.Append(problems...)
	return context.WithTimeout(ctx, limit)
}

// AwaitReady waits until a new object is ready, and returns the object as last read, also
// with an error.
func AwaitReady[T any](ctx context.Context, c *client.Client, created *T, isReady func(*T) bool, read func(context.Context) (*T, error)) (*T, error) {
	if isReady(created) {
		return created, nil
	}
	last, err := client.WaitFor(ctx, c, read, func(v *T) (bool, error) { return isReady(v), nil })
	if last == nil {
		last = created
	}
	return last, err
}

// CreateError adds the advice to raise the timeout to an error of a create, if ctx,
// which has the deadline of the attribute timeouts, has expired.
func CreateError(ctx context.Context, err error) error {
	if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) || outcomeUnclear(err) {
		return err
	}
	return WithAdvice(err, "Run apply again: it continues from here. If it always takes this long, raise create in the resource's timeouts.")
}

// WarnNotReady warns that an object was created but is not ready yet. It is no
// error, because Terraform would destroy and create an object again that may have
// been paid for.
func WarnNotReady(ctx context.Context, diags *diag.Diagnostics, object, status string, err error) {
	reason := sentence(err.Error())
	if ctx.Err() != nil {
		reason = "The time for waiting is over."
	}
	diags.AddWarning(fmt.Sprintf("The %s is not ready yet", object),
		paragraphs(fmt.Sprintf("It was created, and its status is %s. %s", status, reason),
			"Run apply again, or `terraform apply -refresh-only`, to see it become ready. If it always takes longer, raise the resource's timeouts."))
}
