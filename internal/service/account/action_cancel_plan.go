package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

type cancellation struct {
	ConfirmAccountID  types.String `tfsdk:"confirm_account_id"`
	CancelAtPeriodEnd types.Bool   `tfsdk:"cancel_at_period_end"`
	CancelImmediately types.Bool   `tfsdk:"cancel_immediately"`
}

func NewCancelPlan() action.Action {
	return newAction[cancellation]("cancel_plan", schema.Schema{
		MarkdownDescription: "Cancels the plan of the account, at the end of the billing period or at once. " +
			"The plan warns about it, and an account that is cancelled already does not change. You can't undo the action: only the service itself can reverse a cancellation.",
		Attributes: map[string]schema.Attribute{
			confirmation: confirmationAttribute(),
			"cancel_at_period_end": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Whether the account stays active until the end of the paid period. Default: `true`, unless `cancel_immediately` is `true`. " +
					"Exactly one of the two can be `true`.",
			},
			"cancel_immediately": schema.BoolAttribute{Optional: true, MarkdownDescription: "Whether the account ends at once: it can then be read but not changed. Default: `false`."},
		},
	})
}

func (c cancellation) check(_ time.Time, diags *diag.Diagnostics) {
	if c.CancelAtPeriodEnd.IsUnknown() || c.CancelImmediately.IsUnknown() {
		return
	}
	if p := c.expand().CheckFlags(); p != nil {
		report.InvalidValue(diags, "cancel_at_period_end", errors.New(p.Msg))
	}
}

func (c cancellation) expand() api.CancelPlanBody {
	return api.CancelPlanBody{
		CancelAtPeriodEnd: c.CancelAtPeriodEnd.ValueBoolPointer(), CancelImmediately: c.CancelImmediately.ValueBoolPointer(),
	}
}

func (c cancellation) account() types.String { return c.ConfirmAccountID }

func (cancellation) verb() string { return "cancel" }

func (c cancellation) effect() string {
	switch {
	case c.CancelImmediately.IsUnknown():
		return "the plan is cancelled, at once or at the end of the billing period, which is not known yet"
	case c.expand().Immediately():
		return "the plan is cancelled at once, and from then on the account can be read but not changed"
	}
	return "the plan is cancelled at the end of the billing period"
}

// done describes an account cancelled as configured, and returns "" for another account.
func (c cancellation) done(a *api.Account) string {
	account, when := c.ConfirmAccountID.ValueString(), ""
	switch {
	case a == nil:
		return ""
	case a.CancelsAt != nil:
		when = " as of " + *a.CancelsAt
	}
	switch {
	case a.Status == vocab.AccountCancelled:
		return fmt.Sprintf("The account %s is cancelled%s.", account, when)
	case a.Status == vocab.AccountPendingCancellation && !c.expand().Immediately():
		return fmt.Sprintf("The plan of the account %s is cancelled%s, at the end of the billing period.", account, when)
	}
	return ""
}

func (c cancellation) send(ctx context.Context, cl *client.Client) (*api.BillingResult, error) {
	return cl.CancelPlan(ctx, c.expand())
}

func (c cancellation) rejection(r *api.BillingResult) string {
	if refused(r) && c.done(&api.Account{Status: api.Value(r.AccountStatus)}) == "" {
		return "The plan was not cancelled."
	}
	return ""
}
