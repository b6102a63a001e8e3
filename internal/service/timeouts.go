package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// CreateTimeout is the attribute timeouts of a resource whose create takes at
// most as long as standard where the configuration does not say.
func CreateTimeout(ctx context.Context, standard time.Duration) schema.Attribute {
	a := timeouts.Attributes(ctx, timeouts.Opts{
		Create: true,
		CreateDescription: fmt.Sprintf("How long a create takes at most, waiting until the object is ready included, such as `90s` or `1h`. Default: `%dm`. "+
			"What is not ready by then is kept, with a warning.", int(standard.Minutes())),
	}).(schema.SingleNestedAttribute)
	a.MarkdownDescription = "How long operations may take."
	return a
}

// NoTimeouts is the attribute of [CreateTimeout] where no configuration sets it.
func NoTimeouts() timeouts.Value {
	return timeouts.Value{Object: types.ObjectNull(map[string]attr.Type{"create": types.StringType})}
}

// timeoutError is an error of a create that has used up its timeout.
type timeoutError struct{ error }

// Unwrap returns the error of the create.
func (e timeoutError) Unwrap() error { return e.error }

// CreateError marks an error of a create as a matter of the attribute timeouts, if
// ctx, which is bounded by that, has ended. [AddError] then says to raise it.
func CreateError(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return timeoutError{err}
	}
	return err
}

// AddNotReady warns that something was created but is not ready yet. It is no
// error, for Terraform would take that as a reason to destroy and create again
// what may have been paid for.
func AddNotReady(ctx context.Context, diags *diag.Diagnostics, object, status string, err error) {
	reason := sentence(err.Error())
	if ctx.Err() != nil {
		reason = "The time for waiting is over."
	}
	diags.AddWarning(fmt.Sprintf("The %s is not ready yet", object),
		join(fmt.Sprintf("It was created, and its status is %s. %s", status, reason),
			"Run apply again, or `terraform apply -refresh-only`, to see it become ready. If it always takes longer, raise the resource's timeouts."))
}
